"""A DAG of Airflow 3 that runs `pairweave refresh` every night.

Settings are environment variables of the workers, or fields of the run's configuration (``conf``):

- ``PAIRWEAVE``: the command, by default ``pairweave``;
- ``PAIRWEAVE_DIRECTORY``: working directory, with ``nightly.yaml`` and the tables;
- ``PAIRWEAVE_OPTIONS``: further options, such as ``--engine flink --flink_master HOST:8081``.

A night takes all files that are there, whatever its logical date, so a night that is run again
commits nothing new, and a back-fill is a run with more files. One run at a time; the logical date
is in the name of the metrics file. ``{"options": "--accept 'agreed with the supplier'"}`` as
``conf`` accepts a failed gate for one run.
"""

import os
import shlex
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, get_current_context, task
from airflow.sdk.exceptions import AirflowFailException

NEEDS_A_PERSON = {2: "the configuration or an input file", 4: "a quality gate"}
"""Exit statuses after which another attempt would end the same way."""


def command(context: dict[str, Any]) -> list[str]:
    """Return the command line of a night."""
    conf = getattr(context["dag_run"], "conf", None) or {}
    day = (context.get("logical_date") or context["run_after"]).strftime("%Y-%m-%d")
    given = f"{os.environ.get('PAIRWEAVE_OPTIONS', '')} {conf.get('options', '')}"
    base = [os.environ.get("PAIRWEAVE", "pairweave"), "refresh", "--config", "nightly.yaml"]
    return [*base, "--output", "tables", "--metrics", f"metrics-{day}.prom", *shlex.split(given)]


def run_night(context: dict[str, Any]) -> None:
    """Run a night; fail without another attempt if a person is needed."""
    directory = Path(os.environ.get("PAIRWEAVE_DIRECTORY", "."))
    status = subprocess.run(command(context), cwd=directory, check=False).returncode
    if status in NEEDS_A_PERSON:
        raise AirflowFailException(f"status {status}: {NEEDS_A_PERSON[status]}; see RUNBOOK.md")
    if status:
        raise RuntimeError(f"status {status}: the next attempt continues this one")


with DAG(
    dag_id="pairweave_refresh",
    schedule="0 2 * * *",
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 3, "retry_delay": timedelta(minutes=10)},
    tags=["pairweave"],
):

    @task(execution_timeout=timedelta(hours=8))
    def refresh() -> None:
        """Run the night of this DAG run."""
        run_night(dict(get_current_context()))

    @task
    def verify() -> None:
        """Check every file of the tables by its hash."""
        directory = Path(os.environ.get("PAIRWEAVE_DIRECTORY", "."))
        words = [os.environ.get("PAIRWEAVE", "pairweave"), "refresh", "verify", "tables"]
        subprocess.run(words, cwd=directory, check=True)

    refresh() >> verify()
