"""Plugins on every engine: workers import them, and bytes are the same."""

import json

import pytest

from tests.makers import corpora, plugins, runs

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus and the installed example."""
    directory = tmp_path_factory.mktemp("plugins")
    plugins.install_example(directory)
    pairs = [corpora.sentence(number) for number in range(60)]
    pairs += [(source.upper(), target) for source, target in pairs[:20]]
    lines = (f"{source}\t{target}\t1\n" for source, target in pairs)
    (directory / "pairs.tsv").write_text("".join(lines))
    return directory


def digest_of(directory, output, *more, workers=2):
    words = ("--input", "pairs.tsv", "--source_lang", "en", "--target_lang", "de")
    words += ("--filter", "{plugin_rules: {shouting: 0.6}}", "--aligner", "diagonal")
    words += ("--shard_pairs", "20", "--unit_rows", "25", "--workers", workers)
    words += ("--output", output, *more)
    runs.run_well("align", *words, cwd=directory, packages=[directory / "site"])
    manifest = json.loads((directory / output / "_manifest.json").read_text())
    assert manifest["rejected"]["rule_shouting"] == 20
    return runs.tree_digest(directory / output)


@pytest.fixture(scope="module")
def expected(directory):
    """Return the digest of a run on one worker."""
    return digest_of(directory, "expected", workers=1)


def test_two_workers_write_the_same(directory, expected):
    assert digest_of(directory, "local") == expected


@pytest.mark.usefixtures("prism")
def test_prism_writes_the_same(directory, expected):
    assert digest_of(directory, "prism", "--engine", "prism") == expected


@pytest.mark.flink
@pytest.mark.usefixtures("flink")
def test_flink_writes_the_same(directory, expected):
    assert digest_of(directory, "flink", "--engine", "flink") == expected
