"""What a night tells monitoring: metrics and lineage of nights that commit nothing."""

import json
import re

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from deltalake import DeltaTable

from tests.makers import nightly

HELP = 'corpora:\n- {corpus: help, input: "help/*.tsv"}\n'


@pytest.fixture
def directory(tmp_path):
    """Return a directory with a table of one night of ten pairs."""
    nightly.write_help(tmp_path, "one", range(10))
    nightly.write_config(tmp_path, of=HELP)
    nightly.good_night(tmp_path)
    return tmp_path


def gauges(directory, *names):
    """Return the values of metrics without labels."""
    text = (directory / "m.prom").read_text()
    found = dict(re.findall(r"^pairweave_refresh_(\w+) (\S+)$", text, re.M))
    return [float(found[name]) for name in names]


def test_the_metrics_of_a_refused_night_are_those_of_the_table_that_stays(directory):
    names = ("committed", "night", "pairs")
    nightly.write_help(directory, "two", range(10, 13))
    nightly.write_config(directory, of=HELP, more="gates: {min_pairs: 20}\n")
    assert nightly.night(directory, "--metrics", "m.prom")[0] == 4
    assert gauges(directory, *names) == [0, 1, 10]
    nightly.good_night(directory, "--metrics", "m.prom", "--accept", "few will do")
    assert gauges(directory, *names) == [1, 2, 13]
    nightly.good_night(directory, "--metrics", "m.prom")
    assert gauges(directory, *names) == [0, 2, 13]


def test_a_night_that_ends_with_an_error_is_a_failure_in_its_lineage(directory):
    DeltaTable(str(directory / "table/tagged")).delete("kind = 'plain'")
    nightly.write_help(directory, "two", range(10, 13))
    status, _, errors = nightly.night(directory, "--lineage", "events.jsonl")
    assert status == 2
    events = [json.loads(line) for line in (directory / "events.jsonl").read_text().splitlines()]
    assert [event["eventType"] for event in events] == ["START", "FAIL"]
    said = events[1]["run"]["facets"]["errorMessage"]["message"]
    assert "another program has written to it" in said
    assert said in errors
