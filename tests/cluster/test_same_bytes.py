"""One digest of the whole output: on every engine, with any workers, after any death."""

import pytest

from pipelines import engines
from tests import corpora, runs

GOLDEN = None

ARGUMENTS = (
    *("augment", "--source_lang", "en", "--target_lang", "de"),
    *("--shard_pairs", "100", "--unit_rows", "150", "--variants", "2"),
)
PAIRS = 1_200


@pytest.fixture(scope="module")
def arguments(tmp_path_factory):
    directory = tmp_path_factory.mktemp("corpus")
    corpora.write_corpus(directory, PAIRS)
    sides = ("--source_input", directory / "corpus.en", "--target_input", directory / "corpus.de")
    return (*ARGUMENTS, *sides)


def digest_of(arguments, output, *more):
    runs.run_well(*arguments, "--output", output, *more)
    return runs.tree_digest(output)


@pytest.fixture(scope="module")
def expected(arguments, tmp_path_factory):
    return digest_of(arguments, tmp_path_factory.mktemp("one") / "out", "--workers", "1")
