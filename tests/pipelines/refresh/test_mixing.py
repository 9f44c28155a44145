"""A version without pairs can be exported: a trainer must forget what it had."""

import json

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from tests.makers import nightly, runs

HELP = 'corpora:\n- {corpus: help, input: "help/*.tsv"}\n'


def test_a_version_without_pairs_is_exported_as_no_shards(tmp_path):
    nightly.write_help(tmp_path, "one", range(3))
    nightly.write_config(tmp_path, of=HELP)
    nightly.good_night(tmp_path)
    ids = sorted(json.loads(row)["id"] for row in nightly.rows(tmp_path / "table"))
    nightly.write_help(tmp_path, "one", ())
    nightly.good_night(tmp_path, "--accept", "all withdrawn")
    words = ("refresh", "export", "table", "--since", 1, "--output", "out")
    assert "has no pairs" in runs.run_well_here(*words, cwd=tmp_path)
    assert runs.rows_of(tmp_path / "out") == []
    assert (tmp_path / "out/removed.txt").read_text().split() == ids
