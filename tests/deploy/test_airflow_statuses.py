"""What the DAGs of `refresh` make of an exit status, with a stand-in for Airflow."""

import importlib.util
import subprocess
import sys
import types
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pairweave.pipelines.commands.refresh.refresh_command import GATE_FAILED

NIGHTS = Path(__file__).parents[2] / "deploy" / "airflow" / "pairweave_nights.py"


class AirflowFailException(Exception):  # noqa: N818 - its name in Airflow
    """A failure after which Airflow tries no more."""


@pytest.fixture
def nights(monkeypatch):
    """Return the module that the DAGs share."""
    for name in ("airflow", "airflow.sdk", "airflow.sdk.exceptions"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    sys.modules["airflow.sdk.exceptions"].AirflowFailException = AirflowFailException
    spec = importlib.util.spec_from_file_location("pairweave_nights", NIGHTS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("status", "error", "message"),
    [
        (1, RuntimeError, "status 1: the next attempt continues this one"),
        (2, AirflowFailException, "status 2: the configuration or an input file; see RUNBOOK.md"),
        (3, RuntimeError, "status 3: the next attempt continues this one"),
        (GATE_FAILED, AirflowFailException, "status 4: a quality gate; see RUNBOOK.md"),
    ],
)
def test_a_night_is_tried_again_unless_a_person_is_needed(
    nights, monkeypatch, status, error, message
):
    words = []

    def run(command, **_):
        words.extend(command)
        return types.SimpleNamespace(returncode=status)

    monkeypatch.setattr(subprocess, "run", run)
    context = {"logical_date": datetime(2026, 11, 20, tzinfo=UTC)}
    context["dag_run"] = types.SimpleNamespace(conf={"options": "--accept 'a holiday'"})
    with pytest.raises(error, match=message):
        nights.run_night(context, "--prepared_only")
    assert words[:2] == ["pairweave", "refresh"]
    assert words[-3:] == ["--accept", "a holiday", "--prepared_only"]
    status = 0
    nights.run_night(context)
