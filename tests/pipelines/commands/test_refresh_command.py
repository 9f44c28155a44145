"""What a night tells monitoring: metrics and lineage of nights that commit nothing."""

import json
import os
import re
import shutil
import signal
import time

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from types import SimpleNamespace

from deltalake import DeltaTable

from pairweave.pipelines.commands.refresh import refresh_command
from pairweave.pipelines.process import monitoring
from pairweave.pipelines.refresh import refitting
from pairweave.pipelines.refresh.chain import records
from pairweave.pipelines.refresh.file_ledger import NightInputs
from tests.makers import nightly, odd_servers

HELP = 'corpora:\n- {corpus: help, input: "help/*.tsv"}\n'


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """Return a directory with a table of one night of ten pairs."""
    directory = tmp_path_factory.mktemp("night")
    nightly.write_help(directory, "one", range(10))
    nightly.write_config(directory, of=HELP)
    nightly.good_night(directory)
    return directory


@pytest.fixture
def directory(first, tmp_path):
    """Return a copy of the first night."""
    return shutil.copytree(first, tmp_path, dirs_exist_ok=True)


def gauges(directory, *names):
    """Return the values of metrics without labels."""
    text = (directory / "m.prom").read_text()
    result = dict(re.findall(r"^pairweave_refresh_(\w+) (\S+)$", text, re.M))
    return [float(result[name]) for name in names]


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


def test_a_night_with_outgrown_models_makes_all_rows_anew_and_its_record_says_why(
    directory, monkeypatch
):
    monkeypatch.setattr(refitting, "reasons", lambda *_, **__: ["the model was outgrown"])
    path = directory / "help/one.tsv"
    stamp = path.stat().st_mtime_ns
    nightly.write_help(directory, "one", reversed(range(10)))  # of equal size and time
    os.utime(path, ns=(stamp, stamp))
    out = nightly.good_night(directory)
    assert "models are fitted anew, and all rows made with them:\nthe model was outgrown" in out
    record = records.latest(str(directory / "table"))
    assert (record.night, record.operation) == (2, "refit")
    assert record.metrics["new"]["pairs"] == 10


def test_a_plan_says_how_long_it_takes_to_make_all_rows_anew(tmp_path):
    usual = nightly.record()
    # 600 pairs in ten seconds are 3,600 a minute.
    metrics = {**usual.metrics, "seconds": 10.0, "new": {**usual.metrics["new"], "read": 600}}
    files = [{"rows": 10_000}, {"rows": 800}]
    base = nightly.record(metrics=metrics, files=files)
    nothing = NightInputs({}, {}, (), (), (), (), (), ())
    options = SimpleNamespace(output=str(tmp_path))
    lines = refresh_command._plan(nothing, base, options, ["mix was 0, is now 1"], [])
    assert lines[-1] == (
        "--migrate would make all rows anew: 10,800 pairs to read, about 3 minutes at the speed of "
        "earlier nights"
    )


@pytest.mark.parametrize(
    ("option", "value"), [("engine", "prism"), ("workers", 3), ("attempts", 5)]
)
def test_where_a_night_runs_is_said_on_the_command_line_before_the_file(
    tmp_path, monkeypatch, option, value
):
    nightly.write_help(tmp_path, "one", range(3))
    nightly.write_config(tmp_path, of=HELP, more="engine: local\nattempts: 1\n")
    told = []
    monkeypatch.setattr(refresh_command, "run", lambda config, *_: told.append(config) or 0)
    nightly.good_night(tmp_path)
    nightly.good_night(tmp_path, f"--{option}", value)
    in_file, changed = (
        {name: config.values[name] for name in ("engine", "workers", "attempts")} for config in told
    )
    assert in_file == {"engine": "local", "workers": 1, "attempts": 1}
    assert changed == {**in_file, option: value}


@pytest.mark.parametrize("option", ["--launches", "--metrics", "--lineage"])
@pytest.mark.parametrize("name", ["help/one.tsv", "nightly.yaml", "away"])
def test_a_file_that_the_night_reads_is_no_place_for_what_it_writes(directory, option, name):
    (directory / "away").write_text("Nothing like it\n")
    before = (directory / name).read_bytes()
    status, _, errors = nightly.night(directory, option, name, "--takedown", "away")
    assert status == 2
    assert f"{name}: is named twice; give each file its own name" in errors
    assert (directory / name).read_bytes() == before


def test_a_file_that_only_the_job_reads_is_no_such_place_either(directory):
    (directory / "held_out").write_text("no such line\n")
    nightly.write_config(directory, of=HELP, more="exclude: held_out\n")
    status, _, errors = nightly.night(directory, "--metrics", "held_out", table="other")
    assert status == 2
    assert "held_out: is named twice" in errors
    assert (directory / "held_out").read_text() == "no such line\n"


def test_two_outputs_of_a_night_have_names_of_their_own(directory):
    words = ("--metrics", "night", "--lineage", directory / "night")
    status, _, errors = nightly.night(directory, *words)
    assert status == 2
    assert "night: is named twice" in errors
    assert not (directory / "night").exists()
