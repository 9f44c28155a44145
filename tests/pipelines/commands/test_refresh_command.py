"""What a night tells monitoring: metrics and lineage of nights that commit nothing."""

import json
import os
import re
import signal
import time

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from deltalake import DeltaTable

from pairweave.pipelines.commands.refresh import refresh_command
from pairweave.pipelines.process import monitoring
from tests.makers import nightly, odd_servers

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


def events_of(directory):
    lines = (directory / "events.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def stop(*_arguments, **_options):
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(5)


def end(*_arguments, **_options):
    """Ask for a stop, and end like a runner that took it for an error of a step."""
    try:
        stop()
    except SystemExit as error:
        raise RuntimeError("a step failed") from error


@pytest.mark.parametrize("ending", [stop, end])
def test_a_night_that_a_signal_ends_is_a_failure_in_its_lineage(directory, monkeypatch, ending):
    nightly.write_help(directory, "two", range(10, 13))
    monkeypatch.setattr(refresh_command, "_work", ending)
    if ending is stop:
        assert nightly.night(directory, "--lineage", "events.jsonl")[0] == 143
    else:
        with pytest.raises(RuntimeError):
            nightly.night(directory, "--lineage", "events.jsonl")
    first, last = events_of(directory)
    assert (first["eventType"], last["eventType"]) == ("START", "FAIL")
    assert first["run"]["runId"] == last["run"]["runId"]
    said = last["run"]["facets"]["errorMessage"]["message"]
    assert said == (
        "ended by SIGTERM; run the same command again to continue"
        if ending is stop
        else "a step failed"
    )


@pytest.mark.parametrize("ending", [stop, end])
def test_a_server_that_does_not_answer_delays_no_stop(directory, monkeypatch, ending):
    nightly.write_help(directory, "two", range(10, 13))
    asked = []

    def noting(*_arguments, **_options):
        asked.append(time.monotonic())
        ending()

    monkeypatch.setattr(refresh_command, "_work", noting)
    monkeypatch.setattr(monitoring, "SECONDS", 3.0)
    with odd_servers.answering(odd_servers.HANGS) as (port, requests):
        address = f"http://127.0.0.1:{port}/"
        monkeypatch.setattr(refresh_command.Lineage, "emit", only_at_the_end)
        if ending is stop:
            assert nightly.night(directory, "--lineage", address)[0] == 143
        else:
            with pytest.raises(RuntimeError):
                nightly.night(directory, "--lineage", address)
        assert time.monotonic() - asked[0] < 2
    assert b'"eventType":"FAIL"' in requests[0]


EMIT = refresh_command.Lineage.emit


def only_at_the_end(self, kind, *arguments, **options):
    if kind != "START":
        EMIT(self, kind, *arguments, **options)


def test_a_stop_after_the_commit_is_no_failure_of_the_night(directory, monkeypatch):
    nightly.write_help(directory, "two", range(10, 13))
    monkeypatch.setattr(refresh_command, "_write_metrics", stop)
    assert nightly.night(directory, "--lineage", "events.jsonl")[0] == 143
    assert [event["eventType"] for event in events_of(directory)] == ["START", "COMPLETE"]
    assert events_of(directory)[1]["outputs"]
