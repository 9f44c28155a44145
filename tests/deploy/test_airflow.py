"""The DAG of Airflow, imported and run by an Airflow of its own.

``PAIRWEAVE_AIRFLOW`` names the Python of an environment with Airflow 3, which does not fit into
that of the tests.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from tests.makers import nightly, runs

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "deploy" / "airflow"

LISTED = """
import json, sys
from airflow.dag_processing.dagbag import DagBag
bag = DagBag(sys.argv[1])
print(json.dumps({"errors": {k: str(v) for k, v in bag.import_errors.items()},
    "tasks": {name: sorted(dag.task_ids) for name, dag in bag.dags.items()},
    "after": {name: sorted(dag.get_task("refresh").downstream_task_ids)
              for name, dag in bag.dags.items()}}))
"""

RUN = """
import datetime, sys, types
sys.path.insert(0, sys.argv[1])
import pairweave_refresh
from airflow.sdk.exceptions import AirflowFailException
run = types.SimpleNamespace(conf={"options": sys.argv[2]})
day = datetime.datetime(2026, 11, 20, tzinfo=datetime.timezone.utc)
try:
    pairweave_refresh.run_night({"dag_run": run, "logical_date": day})
except AirflowFailException as error:
    print("failed for good:", error)
except RuntimeError as error:
    print("another attempt:", error)
else:
    print("done")
"""


@pytest.fixture(scope="module")
def python():
    """Return the Python with Airflow, or skip."""
    path = os.environ.get("PAIRWEAVE_AIRFLOW")
    if path is None:
        pytest.skip("PAIRWEAVE_AIRFLOW names no Python with Airflow 3")
    return path


def run(python, code, home, *words, **variables):
    """Run code with Airflow; return what it prints last."""
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        **variables,
    }
    done = subprocess.run(
        [python, "-c", code, *map(str, words)], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.splitlines()[-1]


def test_airflow_imports_the_dag(python, tmp_path):
    found = json.loads(run(python, LISTED, tmp_path, FOLDER))
    assert found["errors"] == {}
    assert found["tasks"] == {"pairweave_refresh": ["refresh", "verify"]}
    assert found["after"] == {"pairweave_refresh": ["verify"]}


def test_a_night_of_the_dag_is_done_again_without_a_change_or_fails_for_good(python, tmp_path):
    directory = tmp_path / "corpora"
    directory.mkdir()
    nightly.write_help(directory, "one", range(20))
    of = 'corpora:\n- {corpus: help, input: "help/*.tsv"}\n'
    nightly.write_config(directory, of=of)
    wrapper = tmp_path / "pairweave"
    wrapper.write_text(
        f'#!/bin/sh\nPYTHONPATH={runs.ROOT} exec {sys.executable} -m pairweave.pipelines.cli "$@"\n'
    )
    wrapper.chmod(0o755)
    variables = {"PAIRWEAVE": str(wrapper), "PAIRWEAVE_DIRECTORY": str(directory)}

    def night(options=""):
        return run(python, RUN, tmp_path / "home", FOLDER, options, **variables)

    assert night() == "done"
    assert night() == "done"
    assert nightly.rows(directory / "tables")
    assert (directory / "metrics-2026-11-20.prom").is_file()
    nightly.write_help(directory, "one", range(2))
    assert night().startswith("failed for good: status 4: a quality gate")
    assert night("--accept 'agreed with the supplier'") == "done"
    nightly.write_config(directory, of=of, more="max_tokens: 20\n")
    assert night().startswith("failed for good: status 2: the configuration")
