"""A DAG of Airflow 3 whose nights run on Dataflow, each job started by its Flex Template.

It needs ``apache-airflow-providers-google``, tables at gs://, and the templates of
deploy/dataflow/README.md. ``prepare`` finds what is new and writes which jobs it takes
(``refresh --launches``), one for each pair of languages; ``launch`` starts each and waits for it;
``refresh`` commits the night from their runs (``--prepared_only``), and starts none on the machine
of Airflow: files that came after ``prepare`` are left for the next night. If it says that a job is
still to be started, such as after a change of a file, clear ``prepare``. A night without new files
starts no job.

Settings are those of ``pairweave_refresh``, and

- ``PAIRWEAVE_TABLES``: the tables, such as ``gs://bucket/tables``;
- ``PAIRWEAVE_TEMPLATES``: the folder of the templates, such as ``gs://bucket/templates``;
- ``PAIRWEAVE_IMAGE``: the image of workers, of the release that ``PAIRWEAVE`` is;
- ``PAIRWEAVE_TEMP``: a folder for temporary files of Dataflow, such as ``gs://bucket/temp``;
- ``PAIRWEAVE_PROJECT``, ``PAIRWEAVE_REGION``: where the jobs run.
"""

import json
import os
from datetime import timedelta
from typing import Any

from airflow.providers.google.cloud.operators.dataflow import DataflowStartFlexTemplateOperator
from airflow.sdk import DAG, get_current_context, task
from pairweave_nights import NIGHTLY, day_of, directory, run_night, verify_tables


def body_of(launch: dict[str, str]) -> dict[str, Any]:
    """Return the request that starts a job, as ``refresh --launches`` describes it.

    Its name is that of its run, so the service refuses a second one while the first is active.
    """
    run = launch["output"].rstrip("/").rsplit("/", 2)[1]
    temporary = os.environ.get("PAIRWEAVE_TEMP", "")
    templates = os.environ.get("PAIRWEAVE_TEMPLATES", "")
    return {
        "launchParameter": {
            "jobName": f"pairweave-{launch['job']}-{run}",
            "containerSpecGcsPath": f"{templates}/{launch['job']}.json",
            "parameters": {**launch, "sdk_container_image": os.environ.get("PAIRWEAVE_IMAGE", "")},
            "environment": {"tempLocation": temporary, "stagingLocation": f"{temporary}/staging"},
        }
    }


def prepare_night(context: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the requests that start the jobs of a night."""
    name = f"launches-{day_of(context)}.json"
    run_night(context, "--launches", name)
    return [body_of(launch) for launch in json.loads((directory() / name).read_text())]


with DAG(dag_id="pairweave_refresh_dataflow", **NIGHTLY):

    @task
    def prepare() -> list[dict[str, Any]]:
        """Find what is new, and which jobs it takes."""
        return prepare_night(dict(get_current_context()))

    @task(trigger_rule="none_failed")
    def refresh() -> None:
        """Commit the night."""
        run_night(dict(get_current_context()), "--prepared_only")

    @task
    def verify() -> None:
        """Check every file of the tables by its hash."""
        verify_tables()

    launch = DataflowStartFlexTemplateOperator.partial(
        task_id="launch",
        project_id=os.environ.get("PAIRWEAVE_PROJECT", ""),
        location=os.environ.get("PAIRWEAVE_REGION", "europe-west4"),
        append_job_name=False,  # or a second start would have another name, and not be refused
        wait_until_finished=True,
        execution_timeout=timedelta(hours=8),
    ).expand(body=prepare())
    launch >> refresh() >> verify()
