"""The same command started twice at once with one output directory."""

import time

import pytest

from tests.makers import corpora, runs

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def arguments(tmp_path_factory):
    directory = tmp_path_factory.mktemp("corpus")
    corpora.write_corpus(directory, 400)
    sides = ("--source_input", directory / "corpus.en", "--target_input", directory / "corpus.de")
    common = ("--source_lang", "en", "--target_lang", "de", "--unit_rows", 50, "--shard_pairs", 10)
    return ("augment", *common, *sides)


@pytest.fixture(scope="module")
def expected(arguments, tmp_path_factory):
    return runs.digest_of(arguments, tmp_path_factory.mktemp("one") / "out")


@pytest.mark.parametrize(("workers", "seconds"), [(1, 0.0), (2, 0.5), (2, 2.0)])
def test_both_end_well_with_the_bytes_of_one(arguments, expected, tmp_path, seconds, workers):
    words = (*arguments, "--output", tmp_path / "out", "--workers", workers)
    first = runs.start(*words)
    time.sleep(seconds)
    second = runs.start(*words)
    for process in (first, second):
        _, errors = process.communicate(timeout=runs.SECONDS)
        assert process.returncode == 0, errors[-3000:]
        assert "attempt" not in errors
    assert runs.tree_digest(tmp_path / "out") == expected
