"""One digest of the whole output: on every engine, with any workers, after any death."""

import json

import pytest

from tests import corpora, runs, suggesting
from tests.cluster.conftest import ready

COMMON = ("--source_lang", "en", "--target_lang", "de", "--shard_pairs", "100")
ARGUMENTS = {
    "augment": ("augment", *COMMON, "--unit_rows", "150", "--variants", "2"),
    "suggest": ("suggest", *COMMON, "--unit_rows", "150", "--variants", "2", "--aligner", "hmm"),
    "suggest_ter": (
        *("suggest", *COMMON, "--unit_rows", "150", "--variants", "2", "--aligner", "ter"),
        "--deletions",
    ),
}
PAIRS = 1_200
SHARDS = 13

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=sorted(ARGUMENTS))
def job(request):
    return request.param


@pytest.fixture(scope="module")
def arguments(job, tmp_path_factory):
    directory = tmp_path_factory.mktemp("corpus")
    sides = ("--source_input", directory / "corpus.en", "--target_input", directory / "corpus.de")
    if job.startswith("suggest"):
        suggesting.write_triples(directory, PAIRS)
        sides += ("--translation_input", directory / "corpus.mt")
    else:
        corpora.write_corpus(directory, PAIRS)
    return (*ARGUMENTS[job], *sides)


@pytest.fixture(scope="module")
def expected(arguments, tmp_path_factory):
    return runs.digest_of(arguments, tmp_path_factory.mktemp("one") / "out", "--workers", "1")


def test_the_digest_is_the_published_one(job, expected, golden_file):
    assert expected == golden_file(f"{job}.sha256", expected)


def test_two_workers_write_the_same_bytes(arguments, expected, tmp_path):
    assert runs.digest_of(arguments, tmp_path / "out", "--workers", "2") == expected


@pytest.mark.flink
@pytest.mark.parametrize("engine", ["prism", "flink"])
def test_every_engine_writes_the_same_bytes(engine, arguments, expected, tmp_path):
    ready(engine)
    output = tmp_path / "out"
    assert runs.digest_of(arguments, output, "--engine", engine, "--workers", "2") == expected


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(
    ("moment", "pattern", "count"),
    [
        ("while reading", "_receipts/unit-*.json", 1),
        ("before the first shard", "models/hmm/about.json", 1),
        ("between shards", "_receipts/shard-*.json", SHARDS // 2),
    ],
)
def test_a_killed_run_that_is_repeated_writes_the_same_bytes(
    moment, pattern, count, workers, job, arguments, expected, tmp_path
):
    if job == "suggest_ter" and pattern.startswith("models/"):
        pytest.skip("edits need no model, so none is fitted before the first shard")
    output = tmp_path / "out"
    command = (*arguments, "--output", output, "--workers", workers)
    killed = runs.kill_when(pattern, output, *command, count=count)
    assert killed, f"the run was over before it could be killed {moment}"
    assert not (output / "_manifest.json").exists()
    done = len(list((output / "_receipts").glob("shard-*.json")))
    runs.run_well(*command)
    assert runs.tree_digest(output) == expected
    assert json.loads((output / "_run.json").read_text())["shards_reused"] >= min(done, count)


def test_a_killed_worker_is_made_good_by_the_next_attempt(arguments, expected, tmp_path):
    output = tmp_path / "out"
    command = (*arguments, "--output", output, "--workers", "2", "--attempts", "2")
    process = runs.start(*command)
    runs.kill_a_worker_when(process, "_receipts/shard-*.json", output)
    _, errors = process.communicate(timeout=runs.SECONDS)
    assert process.returncode == 0, errors[-2000:]
    assert "attempt 1 failed" in errors
    assert runs.tree_digest(output) == expected
