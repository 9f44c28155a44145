"""What `refresh export` writes, and where: versions by their nights, outside of all tables."""

import json

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands.refresh import table_commands
from pairweave.pipelines.refresh.chain import records
from pairweave.pipelines.refresh.upkeep.mixing import Mixture, export
from pairweave.transforms.errors import ConfigError
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


def test_no_version_is_exported_into_a_table(tmp_path):
    records.create(str(tmp_path / "table"), nightly.record())
    for output in ("table", "table/out"):
        place = str(tmp_path / output)
        with pytest.raises(ConfigError, match=f"^--output {place}: is .*the table of refresh"):
            export(str(tmp_path / "table"), place, Mixture({}, 1.0, 1), 100, None)


@pytest.mark.parametrize("option", ["night", "since"])
def test_nights_are_numbered_from_one(option):
    model = table_commands.RUNS["export"].model("refresh export")
    values = {"table": "table", "output": "out"}
    assert getattr(flags.validate(model, {**values, option: 1}, "export"), option) == 1
    with pytest.raises(ConfigError, match=f"{option}: input should be greater than or equal to 1"):
        flags.validate(model, {**values, option: 0}, "export")
