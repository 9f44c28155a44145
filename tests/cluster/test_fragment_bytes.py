"""Fragments that are found translated: one digest of the output on every engine."""

import pytest

from tests import corpora, runs
from tests.cluster.conftest import ready

ARGUMENTS = (
    *("augment", "--method", "fragment", "--mix", "0.5", "--source_lang", "en"),
    *("--target_lang", "de", "--shard_pairs", "100", "--unit_rows", "150"),
)
PAIRS = 600

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def arguments(tmp_path_factory):
    directory = tmp_path_factory.mktemp("corpus")
    corpora.write_corpus(directory, PAIRS)
    sides = ("--source_input", directory / "corpus.en", "--target_input", directory / "corpus.de")
    return (*ARGUMENTS, *sides)


@pytest.fixture(scope="module")
def expected(arguments, tmp_path_factory):
    return runs.digest_of(arguments, tmp_path_factory.mktemp("one") / "out", "--workers", "1")


def test_two_workers_write_the_same_bytes(arguments, expected, tmp_path):
    assert runs.digest_of(arguments, tmp_path / "out", "--workers", "2") == expected


@pytest.mark.flink
@pytest.mark.parametrize("engine", ["prism", "flink"])
def test_every_engine_writes_the_same_bytes(engine, arguments, expected, tmp_path):
    ready(engine)
    output = tmp_path / "out"
    assert runs.digest_of(arguments, output, "--engine", engine, "--workers", "2") == expected
