"""Links that come with the input: one digest of the output on every engine."""

import json

import pytest

from tests import corpora, runs
from tests.cluster.conftest import ready

PAIRS = 240
COMMON = (
    *("--source_lang", "en", "--target_lang", "de", "--tokens", "whitespace"),
    *("--aligner", "given", "--unit_rows", "50", "--shard_pairs", "40"),
)

pytestmark = pytest.mark.slow


def write_links(directory):
    """Write links for each line: crossing ones, none where a side is blank, one out of range."""
    sides = [(directory / f"corpus.{name}").read_bytes().splitlines() for name in ("en", "de")]
    lines = []
    for number, (source, target) in enumerate(zip(*sides, strict=True)):
        rows, columns = len(source.split()), len(target.split())
        links = [(row, (3 * row + number) % columns) for row in range(rows) if columns]
        lines.append(" ".join(f"{row}-{column}" for row, column in links))
    lines[1] = "0-99"
    (directory / "F.align").write_text("".join(f"{line}\n" for line in lines))


@pytest.fixture(scope="module", params=["align", "augment"])
def arguments(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("corpus")
    corpora.write_corpus(directory, PAIRS)
    write_links(directory)
    sides = ("--source_input", directory / "corpus.en", "--target_input", directory / "corpus.de")
    return (request.param, *COMMON, *sides, "--links", directory / "F.align")


@pytest.fixture(scope="module")
def expected(arguments, tmp_path_factory):
    """Return the digest of a run on one worker, which rejects the pair of the wrong link."""
    output = tmp_path_factory.mktemp("one") / "out"
    digest = runs.digest_of(arguments, output, "--workers", "1")
    manifest = json.loads((output / "_manifest.json").read_text())
    assert manifest["rejected"]["link_out_of_range"] == 1
    assert len(list((output / "data").glob("part-*"))) > 3
    return digest


def test_two_workers_write_the_same_bytes(arguments, expected, tmp_path):
    assert runs.digest_of(arguments, tmp_path / "out", "--workers", "2") == expected


@pytest.mark.flink
@pytest.mark.parametrize("engine", ["prism", "flink"])
def test_every_engine_writes_the_same_bytes(engine, arguments, expected, tmp_path):
    ready(engine)
    output = tmp_path / "out"
    assert runs.digest_of(arguments, output, "--engine", engine, "--workers", "2") == expected
