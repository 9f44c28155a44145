"""A DAG of Airflow 3 that runs `pairweave refresh` every night.

Settings are environment variables of the workers, or fields of the run's configuration (``conf``):

- ``PAIRWEAVE``: the command, by default ``pairweave``;
- ``PAIRWEAVE_DIRECTORY``: working directory, with ``nightly.yaml`` and the tables;
- ``PAIRWEAVE_TABLES``: the tables, by default ``tables``; a directory, or at gs://, s3:// or az://;
- ``PAIRWEAVE_OPTIONS``: further options, such as ``--engine flink --flink_master HOST:8081``.

A night takes all files that are there, whatever its logical date, so a night that is run again
commits nothing new, and a back-fill is a run with more files. One run at a time; the logical date
is in the name of the metrics file. ``{"options": "--accept 'agreed with the supplier'"}`` as
``conf`` accepts a failed gate for one run.
"""

from datetime import timedelta

from airflow.sdk import DAG, get_current_context, task
from pairweave_nights import NIGHTLY, run_night, verify_tables

with DAG(dag_id="pairweave_refresh", **NIGHTLY):

    @task(execution_timeout=timedelta(hours=8))
    def refresh() -> None:
        """Run the night of this DAG run."""
        run_night(dict(get_current_context()))

    @task
    def verify() -> None:
        """Check every file of the tables by its hash."""
        verify_tables()

    refresh() >> verify()
