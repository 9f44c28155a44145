"""Jobs with external aligners, from the command line."""

import json

import pyarrow.parquet as pq
import pytest

from tests import check_tagged
from tests.makers import corpora, fake_programs, runs
from tests.makers.fake_programs import write_program, write_python

PAIRS = 150


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus and programs."""
    directory = tmp_path_factory.mktemp("external")
    corpora.write_corpus(directory, PAIRS)
    write_program(directory / "bin" / "fast_align", fake_programs.FAST_ALIGN)
    write_program(directory / "bin" / "eflomal-align", fake_programs.EFLOMAL)
    package = fake_programs.simalign_package(45)
    write_python(directory / "py", "simalign", package, beside=("torch", "transformers"))
    (directory / "encoder").mkdir()
    return directory


def command(job, output, *more, program="fast_align", path="bin/fast_align", workers=1):
    return (
        *(job, "--source_input", "corpus.en", "--target_input", "corpus.de"),
        *("--source_lang", "en", "--target_lang", "de", "--shard_pairs", "50"),
        *("--aligner", "external", "--program", program, "--program_path", path),
        *("--workers", workers, "--output", output, *more),
    )


def rows_of(output):
    return [
        row
        for path in sorted(output.glob("data/part-*"))
        for row in pq.read_table(path).to_pylist()
    ]


@pytest.fixture(scope="module")
def aligned(directory):
    """Return the output of `align` by a program that learned in the run."""
    runs.run_well_here(*command("align", "aligned"), cwd=directory)
    return directory / "aligned"


def test_a_program_learns_once_and_aligns_every_shard(aligned):
    manifest = json.loads((aligned / "_manifest.json").read_text())
    assert manifest["shards"] == 4
    names = [entry["name"] for entry in manifest["files"]]
    assert "models/fast_align/forward.params" in names
    about = json.loads((aligned / "models" / "fast_align" / "about.json").read_text())
    assert about["program"] == "fast_align"
    assert about["pairs"] == manifest["rows"]["kept"] == len(rows_of(aligned))
    for row in rows_of(aligned):
        size = min(len(row["source_tokens"]), len(row["target_tokens"]))
        links = {(link["source"], link["target"]) for link in row["links"]}
        assert {(0, 0)} <= links <= {(token, token) for token in range(size)}


def test_the_plan_names_the_program_and_no_path(directory, aligned):
    text = (aligned / "_plan.json").read_text()
    assert str(directory) not in text
    assert "bin/fast_align" not in text
    settings = json.loads(text)["configuration"]
    assert settings["program"] == "fast_align"
    assert settings["program_version"].startswith("sha256")
    assert not {"decode", "layer", "program_path", "second_aligner"} & settings.keys()
    assert "program:fast_align|" in json.loads(text)["signature"]


@pytest.mark.slow
def test_two_workers_write_the_same_bytes(directory, aligned):
    runs.run_well(*command("align", "two", workers=2), cwd=directory)
    assert runs.tree_digests(directory / "two") == runs.tree_digests(aligned)


def test_what_was_learned_aligns_another_run_alike(directory, aligned):
    model = ("--model", "aligned/models/fast_align")
    runs.run_well_here(*command("align", "again", *model), cwd=directory)
    assert rows_of(directory / "again") == rows_of(aligned)
    assert not (directory / "again" / "models").exists()
    settings = json.loads((directory / "again" / "_plan.json").read_text())["configuration"]
    assert len(settings["model"]) == 64


def test_a_run_again_finds_what_was_learned(directory, aligned):
    before = runs.tree_digests(aligned)
    (aligned / "_manifest.json").unlink()
    receipts = sorted((aligned / "_receipts").glob("shard-*"))
    receipts[0].unlink()
    learned = (aligned / "models" / "fast_align" / "about.json").stat().st_mtime_ns
    runs.run_well_here(*command("align", "aligned"), cwd=directory)
    assert runs.tree_digests(aligned) == before
    assert (aligned / "models" / "fast_align" / "about.json").stat().st_mtime_ns == learned


def test_tags_are_injected_along_a_programs_links(directory):
    runs.run_well_here(*command("augment", "tagged"), cwd=directory)
    rows = rows_of(directory / "tagged")
    assert any(row["kind"] == "tagged" for row in rows)
    for row in rows:
        check_tagged.check_row(row, check_tagged.Counter(), crossing=False)


def test_pairs_that_a_program_cannot_take_are_rejected(directory):
    more = ("--model", "encoder", "--max_ratio", "inf")
    arguments = command("align", "sim", *more, program="simalign", path="py/python")
    runs.run_well_here(*arguments, cwd=directory)
    manifest = json.loads((directory / "sim" / "_manifest.json").read_text())
    assert manifest["rejected"]["too_long_for_encoder"] > 0
    assert manifest["rows"]["kept"] > 0
    assert manifest["rows"]["read"] == manifest["rows"]["kept"] + manifest["rows"]["rejected"]
    rejects = [
        row
        for path in (directory / "sim" / "rejects").glob("*.parquet")
        for row in pq.read_table(path).to_pylist()
        if row["stage"] == "align"
    ]
    assert len({row["detail"] for row in rejects}) > 1
    for row in rejects:
        longest = max(len(row[side].replace(" ", "")) for side in ("source", "target"))
        assert row["detail"] == f"{longest} pieces; the encoder's limit is 45"
    for row in rows_of(directory / "sim"):
        assert max(len(row[side].replace(" ", "")) for side in ("source", "target")) <= 45


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--program", "eflomal", "--program_path", "bin/eflomal-align"), "takes no seed"),
        (("--program", "giza"), "shard by shard"),
        (("--layer", "3"), "--program fast_align does not take --layer"),
        (
            ("--program", "simalign", "--model", "m", "--fit_pairs", "9"),
            "--program simalign does not take --fit_pairs",
        ),
        (("--decode", "viterbi"), "does not take --decode; leave it out, or give --aligner hmm"),
        (("--tokens", "pieces"), "has none"),
        (("--tokens", "sentencepiece"), "a model is trained only for --aligner hmm"),
        (("--model", "encoder"), "contains no model of fast_align"),
        (("--program_path", "bin/no_such_program"), "no such executable program"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_written(directory, more, message):
    status, _, errors = runs.run_here(*command("align", "nothing", *more), cwd=directory)
    assert status == 2
    assert message in errors
    assert not (directory / "nothing").exists()


def test_other_aligners_know_no_program(directory):
    arguments = ("align", "--source_input", "corpus.en", "--target_input", "corpus.de")
    arguments += ("--output", "nothing", "--program", "fast_align")
    status, _, errors = runs.run_here(*arguments, cwd=directory)
    assert status == 2
    assert "--aligner hmm does not take --program; leave it out, or give --aligner ext" in errors


def test_a_failing_program_fails_the_run_with_its_own_words(directory):
    code = "import sys; sys.exit('params: no room left')"
    path = write_program(directory / "broken" / "fast_align", code)
    arguments = command("align", "broken/out", "--attempts", "1", path=path)
    status, _, errors = runs.run_here(*arguments, cwd=directory)
    assert status == 1
    assert "fast_align failed with status 1: params: no room left" in errors
    assert not (directory / "broken" / "out" / "_manifest.json").exists()
