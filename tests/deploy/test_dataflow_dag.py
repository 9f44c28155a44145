"""The DAG of nights on Dataflow, with stand-ins for what it imports of Airflow."""

import importlib
import sys
from pathlib import Path
from types import ModuleType
from unittest import mock

import pytest

FOLDER = Path(__file__).parents[2] / "deploy" / "airflow"

OPERATOR = "airflow.providers.google.cloud.operators.dataflow"


@pytest.fixture
def dag(monkeypatch):
    """Return the module of the DAG, and the class of its operator, which records its arguments."""
    names = ["airflow", "airflow.sdk", "airflow.sdk.exceptions", OPERATOR]
    modules = {name: ModuleType(name) for name in names}
    operator = mock.MagicMock()
    modules[OPERATOR].DataflowStartFlexTemplateOperator = operator
    vars(modules["airflow.sdk"]).update(
        DAG=mock.MagicMock(), get_current_context=dict, task=mock.MagicMock()
    )
    modules["airflow.sdk.exceptions"].AirflowFailException = RuntimeError
    own = ("pairweave_refresh_dataflow", "pairweave_nights")
    with mock.patch.dict(sys.modules, modules):
        monkeypatch.syspath_prepend(str(FOLDER))
        yield importlib.import_module(own[0]), operator
        for name in own:
            del sys.modules[name]


def test_the_name_of_a_job_is_not_made_another_one_by_its_operator(dag):
    module, operator = dag
    given = operator.partial.call_args.kwargs
    assert given["append_job_name"] is False
    assert given["wait_until_finished"] is True
    launch = {"job": "align", "config": "c", "output": "gs://b/tables/_runs/0123456789ab/run"}
    assert module.body_of(launch)["launchParameter"]["jobName"] == "pairweave-align-0123456789ab"
