"""The job `fit`, and runs without pairs to fit on."""

import dataclasses
import json
import shutil

import pyarrow.parquet as pq
import pytest

from pairweave.models.hmm import hmm_reference
from pairweave.pipelines.job_options.pair_options import FitOptions
from pairweave.pipelines.jobs import fit
from pairweave.transforms.errors import ConfigError
from tests.makers import corpora, runs

SIDES = ("--source_input", "corpus.en", "--target_input", "corpus.de")
ENDS = (("source_input", "en"), ("target_input", "de"))
LANGS = ("--source_lang", "en", "--target_lang", "de", "--workers", "1")
SMALL = ("--shard_pairs", "100", "--unit_rows", "70")
REASONS = {
    *("invalid_utf8", "control_char", "length_ratio", "duplicate"),
    *("empty_source", "empty_target", "long_token"),
}


FIT = ("fit", *SIDES, *LANGS, *SMALL, "--output", "model")
BAD = ("--source_input", "bad.en", "--target_input", "bad.de")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Return a directory with a corpus, what was fitted on it, and what was printed."""
    directory = tmp_path_factory.mktemp("fit")
    corpora.write_corpus(directory, 160)
    (directory / "bad.en").write_text("one two three four five\n\nx\n")
    (directory / "bad.de").write_text("eins\nzwei\n\n")
    return directory, runs.run_well_here(*FIT, cwd=directory)


@pytest.fixture
def directory(finished, tmp_path):
    """Return a copy of that directory."""
    return shutil.copytree(finished[0], tmp_path / "copy")


def manifest_of(output):
    return json.loads((output / "_manifest.json").read_text())


def test_every_pair_is_fitted_on_or_rejected_with_a_reason(finished):
    directory, printed = finished
    manifest = manifest_of(directory / "model")
    rows = manifest["rows"]
    assert rows["read"] == len((directory / "corpus.en").read_bytes().split(b"\n")) - 1
    assert rows["read"] == rows["kept"] + rows["rejected"]
    assert rows["fitted"] == rows["kept"]
    assert manifest["rejected"] == dict.fromkeys(REASONS, 1)
    assert manifest["corpora"]["corpus.en"]["rejected"] == manifest["rejected"]
    assert "duplicate 1" in printed
    rejects = [
        row
        for path in sorted((directory / "model" / "rejects").iterdir())
        for row in pq.read_table(path).to_pylist()
    ]
    assert {row["reason"] for row in rejects} == REASONS
    (duplicate,) = (row for row in rejects if row["reason"] == "duplicate")
    assert duplicate["source"] == corpora.sentence(4)[0]
    assert not list((directory / "model").glob("data/part-*"))
    listed = {entry["name"] for entry in manifest["files"]}
    assert {"about.json", "rejects/part-00000-of-00002.parquet"} <= listed
    assert hmm_reference.find_whole(str(directory / "model")) is not None


def test_the_model_is_the_one_that_a_run_fits_for_itself(directory):
    for job in ("fit", "align"):
        limits = ("--max_ratio", "2", "--max_tokens", "50", "--max_token_chars", "60")
        arguments = (job, *SIDES, *LANGS, *SMALL, *limits, "--fit_pairs", "80", "--output", job)
        runs.run_well_here(*arguments, cwd=directory)
    rows = manifest_of(directory / "fit")["rows"]
    assert 40 < rows["fitted"] < 120 < rows["kept"]
    inside = directory / "align" / "models" / "hmm"
    for path in inside.iterdir():
        assert path.read_bytes() == (directory / "fit" / path.name).read_bytes(), path.name


@pytest.mark.parametrize(
    "lost",
    [
        "about.json",
        "rejects/part-00001-of-00002.parquet",
        "_receipts/shard-00000-of-00002.json",
        "_receipts/unit-00001.json",
        "_manifest.json",
    ],
)
def test_what_is_lost_is_made_again_with_the_same_bytes(directory, lost):
    before = runs.tree_digests(directory / "model")
    noted = (directory / "model" / "_run.json").read_bytes()
    (directory / "model" / lost).unlink()
    runs.run_well_here(*FIT, cwd=directory)
    assert runs.tree_digests(directory / "model") == before
    # A command that found everything done says nothing of the run that did it.
    same = (directory / "model" / "_run.json").read_bytes() == noted
    assert same == (lost == "_manifest.json")


def test_another_job_without_rows_runs_and_finishes_what_is_lost(directory):
    name = "learn"  # no loop knows it, nor `fit`
    job = dataclasses.replace(fit.JOB, name=name)
    sides = {side: (str(directory / f"corpus.{end}"),) for side, end in ENDS}
    langs = {"source_lang": "en", "target_lang": "de"}
    output = directory / name
    options = FitOptions(**sides, **langs, shard_pairs=100, workers=1, output=str(output))
    assert job.start(options) == 0
    before = runs.tree_digests(output)
    assert manifest_of(output)["job"] == name
    assert not (output / "data").exists()
    (output / "_manifest.json").unlink()
    (output / "rejects" / "part-00000-of-00002.parquet").unlink()
    assert job.start(options) == 0
    assert runs.tree_digests(output) == before
    (output / "_plan.json").unlink()
    (output / "_manifest.json").unlink()
    (output / "README.md").write_text("mine\n")
    with pytest.raises(ConfigError, match=r"already has about.json"):
        job.start(options)


def test_a_model_that_does_not_say_its_pairs_is_named(directory):
    path = directory / "model" / "about.json"
    about = json.loads(path.read_text())
    del about["pairs"]
    path.write_text(json.dumps(about))
    with pytest.raises(ConfigError, match=r"about.json: does not say how many pairs"):
        fit.commit(str(directory / "model"))
    status, _, errors = runs.run_here(*FIT, cwd=directory)
    assert status == 2
    assert "Delete it and repeat the command" in errors
    path.unlink()
    runs.run_well_here(*FIT, cwd=directory)


@pytest.mark.slow
def test_nothing_to_fit_on_is_one_line_and_the_rejects_are_there(directory):
    # In a process of its own: what Beam logs is to be seen.
    arguments = ("fit", *BAD, *LANGS, "--output", "none")
    status, _, errors = runs.run(*arguments, cwd=directory)
    assert status == 2
    assert "Traceback" not in errors
    (line,) = (line for line in errors.splitlines() if "pairweave: " in line)
    assert line.startswith("pairweave: there is nothing to fit the aligner on")
    assert line.endswith("none/rejects")
    table = pq.read_table(directory / "none" / "rejects" / "part-00000-of-00001.parquet")
    assert table.num_rows == 3
    assert not (directory / "none" / "about.json").exists()
    assert not (directory / "none" / "_manifest.json").exists()


@pytest.mark.parametrize("job", ["augment", "filter", "fit", "try"])
def test_empty_files_are_named_as_the_reason_for_nothing_to_fit(directory, job):
    for name in ("none.en", "none.de"):
        (directory / name).write_bytes(b"")
    output = () if job == "try" else ("--output", "of_none")
    words = ("--source_input", "none.en", "--target_input", "none.de", *LANGS[:4], *output)
    status, _, errors = runs.run_here(job, *words, cwd=directory)
    assert status == 2
    begin = "nothing to try" if job == "try" else "there is nothing to fit the aligner on"
    assert errors.splitlines()[-1] == (
        f"pairweave: {begin}: none.en and none.de have no pair (0 rows); give files with pairs"
    )


@pytest.mark.parametrize(
    ("job", "more"),
    [
        ("align", ()),
        ("augment", ("--tokens", "sentencepiece")),
        ("augment", ("--method", "fragment")),
        ("augment", ("--draw", "confident")),
    ],
)
def test_an_empty_run_that_is_allowed_needs_no_model(directory, job, more):
    limits = ("--max_ratio", "1.5", *more)
    arguments = (job, *BAD, *LANGS, *limits, "--output", "out")
    status, _, errors = runs.run_here(*arguments, cwd=directory)
    assert (status, "nothing to fit" in errors) == (2, True)
    links = ("--pharaoh", "links.txt") if job == "align" else ()
    arguments = (*arguments[:-1], "empty", "--allow_empty", *links)
    runs.run_well_here(*arguments, cwd=directory)
    manifest = manifest_of(directory / "empty")
    assert manifest["rows"] == {"read": 3, "kept": 0, "rejected": 3}
    assert not (directory / "empty" / "models").exists()
    assert pq.read_table(directory / "empty" / "data" / "part-00000-of-00001.parquet").num_rows == 0
    before = runs.tree_digests(directory / "empty")
    runs.run_well_here(*arguments, cwd=directory)
    assert runs.tree_digests(directory / "empty") == before
    if links:
        assert (directory / "links.txt").read_text() == "\n\n\n"


def test_pairs_that_the_sample_missed_are_not_lost_for_want_of_a_model(directory):
    # One pair passes the screen, and the draw of about one in ten thousand leaves it out.
    (directory / "one.tsv").write_text("the house\tdas Haus\n" + "\tleer\n" * 9_999)
    arguments = ("align", "--input", "one.tsv", *LANGS, "--fit_pairs", "1", "--output", "out")
    status, _, errors = runs.run_here(*arguments, "--allow_empty", cwd=directory)
    assert status == 2
    assert "or the sample of --fit_pairs contains none of those that did" in errors
    assert not (directory / "out" / "_manifest.json").exists()


def test_a_model_of_other_languages_is_told_at_the_start_and_at_the_end(directory):
    command = ("align", *SIDES, "--model", "model", "--workers", "1", "--shard_pairs", "400")
    langs = ("--source_lang", "en", "--target_lang")
    status, said, errors = runs.run_here(*command, *langs, "fr", "--output", "other", cwd=directory)
    assert status == 0
    text = "options: --model was fitted with target_lang de, but the pairs have fr"
    assert f"warning: {text}" in errors
    assert f"notice: {text}" in said
    assert text in runs.text_of_page(directory / "other" / "report.html")
    status, said, errors = runs.run_here(
        *command, *langs, "de-AT", "--output", "same", cwd=directory
    )
    assert status == 0
    assert "was fitted with" not in said + errors
