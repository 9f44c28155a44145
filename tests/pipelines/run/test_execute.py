"""A run shows in its directory that it is being worked on."""

import contextlib
import types

import pytest

from pairweave.pipelines.run import execute, retry
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.storage import files


@pytest.mark.parametrize("fails", [False, True])
def test_a_launched_run_has_a_mark_until_it_ends(tmp_path, monkeypatch, fails):
    seen = []

    def resume(*_):
        seen.extend(files.list_below(str(tmp_path)))
        if fails:
            raise WorkerError("failed on every attempt")
        return retry.Outcome(1)

    monkeypatch.setattr(execute, "check_start", lambda *_: None)
    monkeypatch.setattr(execute, "resume", resume)
    monkeypatch.setattr(execute, "note_run", lambda *_: None)
    document = {"job": "align", "models": []}
    run = types.SimpleNamespace(
        options=types.SimpleNamespace(output=str(tmp_path)), document=document
    )
    try:
        execute.execute(run, None, (), {})
    except WorkerError:
        assert fails
    plan, mark = seen
    assert plan == "_plan.json"
    assert mark.startswith("_receipts/begun-run-")
    assert files.list_below(str(tmp_path)) == ["_plan.json"]


@pytest.mark.parametrize("sent", [None, "2026-11-23_job"])
def test_a_job_that_goes_on_elsewhere_is_not_finished_and_its_id_is_printed(
    tmp_path, monkeypatch, capsys, sent
):
    outcome = retry.Outcome(1, None if sent is None else types.SimpleNamespace(id=sent))
    noted = []
    monkeypatch.setattr(execute, "check_start", lambda *_: None)
    monkeypatch.setattr(execute, "resume", lambda *_: outcome)
    monkeypatch.setattr(execute, "note_run", lambda *words: noted.append(words[3:6]))
    run = types.SimpleNamespace(
        options=types.SimpleNamespace(output=str(tmp_path)), document={"job": "align", "models": []}
    )
    assert execute.execute(run, None, (), {}) is (sent is None)
    assert capsys.readouterr().out == ("" if sent is None else f"{sent}\n")
    assert noted == [(1, 0, outcome.sent)]


@pytest.mark.parametrize(("engine", "asked"), [("local", ["a model"]), ("dataflow", [])])
def test_the_machine_must_be_able_to_align_only_where_the_workers_are(monkeypatch, engine, asked):
    monkeypatch.setattr(execute.engines, "beam_options", lambda *_: contextlib.nullcontext())
    seen = []
    aligner = types.SimpleNamespace(check_machine=seen.append)
    execute.check_start(
        types.SimpleNamespace(engine_and_workers=(engine, 1), model="a model", aligner=aligner), ()
    )
    assert seen == asked
