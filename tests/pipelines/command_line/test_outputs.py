"""No command writes among the files of a run."""

import pytest

from pairweave.pipelines.command_line import outputs
from pairweave.transforms.errors import ConfigError
from tests.makers import corpora, finished_runs, runs

LANGS = ("--source_lang", "en", "--target_lang", "de")


@pytest.fixture
def directory(tmp_path):
    corpora.write_corpus(tmp_path, 20)
    (tmp_path / "tagged.en").write_text('<g id="1">a</g> b\n')
    finished_runs.write_run(str(tmp_path / "run"))
    return tmp_path


JOB = ("filter", "--source_input", "corpus.en", "--target_input", "corpus.de", *LANGS)
ENCODE = ("tags", "encode", "--input", "tagged.en", "--syntax", "xliff", "--table", "table")


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (JOB, "run/data"),
        (JOB, "run/data/mine"),
        (JOB, "link/rejects"),
        (JOB, "run/_receipts/mine"),
        (ENCODE, "run/data/tagged.txt"),
        (ENCODE, "run/README.md"),
        (("init", "corpus.en", "corpus.de"), "run/data/pairweave.yaml"),
    ],
)
def test_no_command_writes_among_the_files_of_a_run(directory, words, place):
    (directory / "link").symlink_to("run")
    before = runs.tree_digests(directory / "run")
    status, _, errors = runs.run_here(*words, "--output", place, cwd=directory)
    assert status == 2, errors
    assert f"--output {place}: is inside the run {directory / 'run'}, which must stay" in errors
    assert runs.tree_digests(directory / "run") == before


def test_what_a_run_does_not_name_may_be_written_beside_its_files(directory):
    runs.run_well_here(*ENCODE, "--output", "run/tagged.txt", cwd=directory)
    assert (directory / "run" / "tagged.txt").read_text() == "<a_0>a</a_0> b\n"
    runs.run_well_here(*ENCODE, "--output", "data/tagged.txt", cwd=_folder(directory))


VOCABULARY = ("tags", "vocabulary", "--representation", "indexed", "--max_tags", "3")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((*VOCABULARY, "--sentencepiece", "corpus.en", "--output_model", "./corpus.en"), "en"),
        ((*VOCABULARY, "--train", "corpus.en", "--output_model", "m", "--output", "m"), "m"),
        (("evaluate", "tags", "corpus.en", "corpus.de", "--lines", "corpus.de"), "de"),
    ],
)
def test_no_command_writes_over_a_file_that_it_reads_or_writes(directory, words, named):
    before = runs.tree_digests(directory)
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert status == 2
    assert f"{named}: is named twice; give each file its own name" in errors
    assert runs.tree_digests(directory) == before


def _folder(directory):
    """Return a directory with a folder of the name of a run's, and no run."""
    (directory / "data").mkdir()
    return directory


@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ("s3://bucket/run/data", True),
        ("s3://bucket/run/data/new", True),
        ("s3://bucket/run", False),
        ("s3://bucket/other/data", False),
    ],
)
def test_an_output_in_a_store_is_compared_with_the_runs_there(monkeypatch, path, refused):
    monkeypatch.setattr(
        outputs.files, "exists", lambda asked: asked == "s3://bucket/run/_plan.json"
    )
    if not refused:
        outputs.require_outside_runs("output", path)
        return
    with pytest.raises(ConfigError, match="is inside the run s3://bucket/run, which"):
        outputs.require_outside_runs("output", path)
