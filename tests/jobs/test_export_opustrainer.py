"""OpusTrainer, run on an export as it is; it lies with the other peers (`make bench`)."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.benchmarks.peers import PYTHON
from tests.makers import corpora, runs

TRAINER = PYTHON.parent / "opustrainer-train"
TAG = re.compile(r"</?a_[0-9]>")

pytestmark = pytest.mark.skipif(not TRAINER.exists(), reason="no OpusTrainer in .peers")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("opus")
    corpora.write_corpus(directory, 400)
    arguments = ("--source_input", "corpus.en", "--target_input", "corpus.de", "--workers", "1")
    languages = ("--source_lang", "en", "--target_lang", "de")
    more = ("--keep_links", "true", "--output", "run")
    runs.run_well_here("augment", *arguments, *languages, *more, cwd=directory)
    return directory / "run"


def fed_lines(directory, run, alignment, settings):
    """Export a run, and return the lines and what the trainer is fed of them."""
    more = ("--alignment", alignment, "--shuffle", "true", "--output", directory)
    runs.run_well_here("export", run, "--format", "opustrainer", "--kinds", "tagged", *more)
    data = directory / "tagged.opustrainer.tsv"
    config = directory / "config.yml"
    config.write_text(
        f"datasets:\n  tagged: {data}\nstages: [start]\nstart:\n- tagged 1.0\n- until tagged 1\n"
        "modifiers:\n" + "".join(f"{line}\n" for line in settings) + "seed: 1\n"
        f"num_fields: 3\ntrainer: tee {directory / 'fed'}\n"
    )
    done = subprocess.run(
        [TRAINER, "--config", config, "--sync", "--temporary-directory", directory],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "Skipping" not in done.stderr
    return data.read_text().splitlines(), Path(directory / "fed").read_text().splitlines()


def tags_of(line):
    return TAG.findall(line.partition("\t")[0])


@pytest.mark.parametrize("words", ["whitespace", "moses"])
def test_its_tags_modifier_runs_on_an_export_and_skips_no_line(run, tmp_path, words):
    detokenize = {"whitespace": {}, "moses": {"src": "moses:en", "trg": "moses:de"}}[words]
    settings = [f"  custom_detok_{side}: '{name}'" for side, name in detokenize.items()]
    lines, fed = fed_lines(tmp_path, run, words, ["- Tags: 0.5", *settings])
    # It fills its last batch from the next epoch.
    fed = fed[: len(lines)]
    assert len(fed) == len(lines)
    assert sum("__source__" in line for line in fed) > 0.9 * len(lines)
    # What the modifier hints at is never a tag, and no tag is lost.
    assert sorted(map(sorted, map(tags_of, fed))) == sorted(map(sorted, map(tags_of, lines)))


def test_other_modifiers_leave_tags_as_they_are(run, tmp_path):
    modifiers = ["- TitleCase: 1.0", "- RemoveEndPunct: 1.0"]
    lines, fed = fed_lines(tmp_path, run, "whitespace", modifiers)
    fed = fed[: len(lines)]
    assert sorted(map(tags_of, fed)) == sorted(map(tags_of, lines))


def test_modifiers_that_the_manual_warns_of_change_tags(run, tmp_path):
    changed = {}
    for name, share in (("UpperCase", 1.0), ("Merge", 1.0), ("Prefix", 0.9)):
        directory = tmp_path / name
        directory.mkdir()
        changed[name] = fed_lines(directory, run, "whitespace", [f"- {name}: {share}"])[1]
    assert not any(map(tags_of, changed["UpperCase"]))
    assert any("<A_0>" in line for line in changed["UpperCase"])
    assert any(tags_of(line).count("<a_0>") > 1 for line in changed["Merge"])
    assert any(len(tags_of(line)) % 2 for line in changed["Prefix"])
