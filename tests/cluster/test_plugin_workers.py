"""Plugins with several workers: each imports them, and bytes are those of one."""

import json

import pytest

from tests.makers import corpora, plugins, runs

pytestmark = pytest.mark.slow

WORDS = (
    *("align", "--input", "pairs.tsv", "--source_lang", "en", "--target_lang", "de"),
    *("--filter", "{plugin_rules: {shouting: 0.6}}", "--aligner", "diagonal"),
    *("--shard_pairs", "20", "--unit_rows", "25"),
)


def test_two_workers_write_the_same_as_one(tmp_path, monkeypatch):
    site = plugins.install_example(tmp_path)
    pairs = [corpora.sentence(number) for number in range(60)]
    pairs += [(source.upper(), target) for source, target in pairs[:20]]
    lines = (f"{source}\t{target}\n" for source, target in pairs)
    (tmp_path / "pairs.tsv").write_text("".join(lines))
    more = ("--workers", 2, "--output", "two")
    runs.run_well(*WORDS, *more, cwd=tmp_path, packages=[site])
    manifest = json.loads((tmp_path / "two" / "_manifest.json").read_text())
    assert manifest["rejected"]["rule_shouting"] == 20
    plugins.use(monkeypatch, site)
    runs.run_well_here(*WORDS, "--workers", 1, "--output", "one", cwd=tmp_path)
    plugins.forget()
    assert runs.tree_digest(tmp_path / "one") == runs.tree_digest(tmp_path / "two")
