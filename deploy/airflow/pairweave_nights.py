"""What the DAGs of `pairweave refresh` share: when they run, the command of a night, its statuses.

It is in the folder of DAGs beside them, and has none itself.
"""

import os
import shlex
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from airflow.sdk.exceptions import AirflowFailException

NIGHTLY: dict[str, Any] = {
    "schedule": "0 2 * * *",
    "start_date": datetime(2026, 1, 1, tzinfo=UTC),
    "catchup": False,
    "max_active_runs": 1,
    "default_args": {"retries": 3, "retry_delay": timedelta(minutes=10)},
    "tags": ["pairweave"],
}
"""When a DAG runs, and how often a task is tried."""

NEEDS_A_PERSON = {2: "the configuration or an input file", 4: "a quality gate"}
"""Exit statuses after which another attempt would end the same way."""


def tables() -> str:
    """Return where the tables are."""
    return os.environ.get("PAIRWEAVE_TABLES", "tables")


def directory() -> Path:
    """Return the working directory of the command."""
    return Path(os.environ.get("PAIRWEAVE_DIRECTORY", "."))


def day_of(context: dict[str, Any]) -> str:
    """Return the day of a run of a DAG."""
    return str((context.get("logical_date") or context["run_after"]).strftime("%Y-%m-%d"))


def command(context: dict[str, Any]) -> list[str]:
    """Return the command line of a night."""
    conf = getattr(context["dag_run"], "conf", None) or {}
    given = f"{os.environ.get('PAIRWEAVE_OPTIONS', '')} {conf.get('options', '')}"
    base = [os.environ.get("PAIRWEAVE", "pairweave"), "refresh", "--config", "nightly.yaml"]
    metrics = f"metrics-{day_of(context)}.prom"
    return [*base, "--output", tables(), "--metrics", metrics, *shlex.split(given)]


def run_night(context: dict[str, Any], *more: str) -> None:
    """Run a night; fail without another attempt if a person is needed."""
    words = [*command(context), *more]
    status = subprocess.run(words, cwd=directory(), check=False).returncode
    if status in NEEDS_A_PERSON:
        raise AirflowFailException(f"status {status}: {NEEDS_A_PERSON[status]}; see RUNBOOK.md")
    if status:
        raise RuntimeError(f"status {status}: the next attempt continues this one")


def verify_tables() -> None:
    """Check every file of the tables by its hash."""
    words = [os.environ.get("PAIRWEAVE", "pairweave"), "refresh", "verify", tables()]
    subprocess.run(words, cwd=directory(), check=True)
