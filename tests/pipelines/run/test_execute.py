"""A run shows in its directory that it is being worked on."""

import types

import pytest

from pairweave.pipelines.run import execute
from pairweave.pipelines.run.attempts import retry
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
