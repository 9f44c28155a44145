"""OpusTrainer, run on an export as it is; it lies with the other peers (`make bench`)."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.makers import corpora, runs

TRAINER = runs.ROOT / ".peers" / "bin" / "opustrainer-train"
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


@pytest.mark.parametrize("words", ["whitespace", "moses"])
def test_its_tags_modifier_runs_on_an_export_and_skips_no_line(run, tmp_path, words):
    more = ("--alignment", words, "--shuffle", "true", "--output", tmp_path)
    runs.run_well_here("export", run, "--format", "opustrainer", *more)
    data = tmp_path / "tagged.opustrainer.tsv"
    lines = data.read_text().splitlines()
    detokenize = {"whitespace": {}, "moses": {"src": "moses:en", "trg": "moses:de"}}[words]
    settings = [f"  custom_detok_{side}: '{name}'" for side, name in detokenize.items()]
    config = tmp_path / "config.yml"
    config.write_text(
        f"datasets:\n  tagged: {data}\nstages: [start]\nstart:\n- tagged 1.0\n- until tagged 1\n"
        "modifiers:\n- Tags: 0.5\n" + "".join(f"{line}\n" for line in settings) + "seed: 1\n"
        f"num_fields: 3\ntrainer: tee {tmp_path / 'fed'}\n"
    )
    done = subprocess.run(
        [TRAINER, "--config", config, "--sync", "--temporary-directory", tmp_path],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "Skipping" not in done.stderr
    # It fills its last batch from the next epoch.
    fed = Path(tmp_path / "fed").read_text().splitlines()[: len(lines)]
    assert len(fed) == len(lines)
    assert sum("__source__" in line for line in fed) > 0.9 * len(lines)
    # What the modifier hints at is never a tag, and no tag is lost.
    tags = sorted(sorted(TAG.findall(line.partition("\t")[0])) for line in lines)
    assert sorted(sorted(TAG.findall(line.partition("\t")[0])) for line in fed) == tags
