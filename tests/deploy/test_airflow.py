"""The DAG of Airflow, imported and run by an Airflow of its own.

``PAIRWEAVE_AIRFLOW`` names the Python of an environment with Airflow 3 and its provider google,
which do not fit into that of the tests.
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
sys.path.insert(0, sys.argv[1])  # as for the folder of DAGs
bag = DagBag(sys.argv[1])
print(json.dumps({"errors": {k: str(v) for k, v in bag.import_errors.items()},
    "tasks": {name: sorted(dag.task_ids) for name, dag in bag.dags.items()},
    "before": {name: {task.task_id: sorted(task.upstream_task_ids) for task in dag.tasks}
               for name, dag in bag.dags.items()},
    "named": bag.dags["pairweave_refresh_dataflow"].get_task("launch")
        .partial_kwargs["append_job_name"]}))
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


PREPARED = """
import datetime, json, sys, types
sys.path.insert(0, sys.argv[1])
import pairweave_refresh_dataflow
run = types.SimpleNamespace(conf={})
day = datetime.datetime(2026, 11, 20, tzinfo=datetime.timezone.utc)
print(json.dumps(pairweave_refresh_dataflow.prepare_night({"dag_run": run, "logical_date": day})))
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


def program(directory):
    """Write the command as a program, and return its path."""
    path = directory / "pairweave"
    path.write_text(
        f'#!/bin/sh\nPYTHONPATH={runs.ROOT} exec {sys.executable} -m pairweave.pipelines.cli "$@"\n'
    )
    path.chmod(0o755)
    return str(path)


def test_the_jobs_of_a_night_are_requests_that_their_templates_take(python, tmp_path):
    templates = pytest.importorskip("google.cloud.dataflow_v1beta3.types.templates")
    from google.protobuf import json_format

    nightly.write_help(tmp_path, "one", range(20))
    nightly.write_config(tmp_path, of='corpora:\n- {corpus: help, input: "help/*.tsv"}\n')
    variables = {
        "PAIRWEAVE": program(tmp_path),
        "PAIRWEAVE_DIRECTORY": str(tmp_path),
        "PAIRWEAVE_TEMPLATES": "gs://bucket/templates",
        "PAIRWEAVE_TEMP": "gs://bucket/temp",
        "PAIRWEAVE_IMAGE": "images/pairweave:1",
    }
    (body,) = json.loads(run(python, PREPARED, tmp_path / "home", FOLDER, **variables))
    launch = body["launchParameter"]
    json_format.ParseDict(launch, templates.LaunchFlexTemplateParameter.pb()())
    assert launch["containerSpecGcsPath"] == "gs://bucket/templates/augment.json"
    given = launch["parameters"]
    assert given["job"] == "augment"
    options = (tmp_path / given["config"]).read_text()
    assert '"known_pairs"' in options
    assert given["output"].startswith("tables/_runs/")
    assert given["output"].split("/")[2] in launch["jobName"]
    assert not (tmp_path / "tables" / "tagged").exists()


def test_airflow_imports_the_dag(python, tmp_path):
    actual = json.loads(run(python, LISTED, tmp_path, FOLDER))
    assert actual["errors"] == {}
    assert actual["named"] is False
    assert actual["tasks"] == {
        "pairweave_refresh": ["refresh", "verify"],
        "pairweave_refresh_dataflow": ["launch", "prepare", "refresh", "verify"],
    }
    assert actual["before"] == {
        "pairweave_refresh": {"refresh": [], "verify": ["refresh"]},
        "pairweave_refresh_dataflow": {
            "launch": ["prepare"],
            "prepare": [],
            "refresh": ["launch"],
            "verify": ["refresh"],
        },
    }


def test_a_night_of_the_dag_is_done_again_without_a_change_or_fails_for_good(python, tmp_path):
    directory = tmp_path / "corpora"
    directory.mkdir()
    nightly.write_help(directory, "one", range(20))
    of = 'corpora:\n- {corpus: help, input: "help/*.tsv"}\n'
    nightly.write_config(directory, of=of)
    variables = {"PAIRWEAVE": program(tmp_path), "PAIRWEAVE_DIRECTORY": str(directory)}

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
