"""Plugins with several workers: each imports them, and bytes are those of one."""

import json

import pytest

from tests.makers import corpora, plugins, runs

pytestmark = pytest.mark.slow

LANGS = ("--source_lang", "en", "--target_lang", "de", "--shard_pairs", "20")
ALIGN = (
    *("align", "--input", "pairs.tsv", *LANGS, "--unit_rows", "25"),
    *("--filter", "{plugin_rules: {shouting: 0.6}}", "--aligner", "diagonal"),
)
FILTER = (
    *("filter", "--input", "*.txt", "--format", "blocks", *LANGS, "--scorer", "lengths"),
    *("--select_share", "0.5", "--plugin_rules", "{shouting: 0.6}"),
)
FITTED = ("align", "--input", "pairs.tsv", *LANGS, "--tokens", "characters")


PAIRS = 80


def write_pairs(directory):
    """Write pairs, of which 20 are in capitals, as a table and as blocks of lines."""
    pairs = [corpora.sentence(number) for number in range(60)]
    pairs += [(source.upper(), target) for source, target in pairs[:20]]
    lines = (f"{source}\t{target}\n" for source, target in pairs)
    (directory / "pairs.tsv").write_text("".join(lines))
    for number in range(4):
        blocks = (f"{source}\n{target}\n\n" for source, target in pairs[number::4])
        (directory / f"{number}.txt").write_text("".join(blocks))


@pytest.mark.parametrize("words", [ALIGN, FILTER, FITTED], ids=["align", "filter", "fitted"])
def test_two_workers_write_the_same_as_one(tmp_path, monkeypatch, words):
    site = plugins.install_example(tmp_path)
    write_pairs(tmp_path)
    more = ("--workers", 2, "--output", "two")
    runs.run_well(*words, *more, cwd=tmp_path, packages=[site])
    manifest = json.loads((tmp_path / "two" / "_manifest.json").read_text())
    assert manifest["rows"]["read"] == PAIRS
    assert manifest["rejected"].get("rule_shouting", 0) == (0 if words is FITTED else 20)
    plugins.use(monkeypatch, site)
    runs.run_well_here(*words, "--workers", 1, "--output", "one", cwd=tmp_path)
    plugins.forget()
    assert runs.tree_digest(tmp_path / "one") == runs.tree_digest(tmp_path / "two")
