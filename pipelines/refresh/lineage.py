"""OpenLineage events: the input files of a night, the tables that it changes, and its outcome."""

import importlib.metadata
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

import orjson

from pairweave.pipelines.process import interrupt, monitoring, terminal
from pairweave.pipelines.process.log import utc
from pairweave.pipelines.refresh.chain.records import Json, Record
from pairweave.transforms.storage import files

SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
_VERSION_FACET = (
    "https://openlineage.io/spec/facets/1-0-1/DatasetVersionDatasetFacet.json"
    "#/$defs/DatasetVersionDatasetFacet"
)
OPTION = "--lineage"


class Lineage:
    """Writes the events of one run to a file or a server."""

    def __init__(self, place: str | None, table: str) -> None:
        """Set where events go.

        Args:
            place: A file or a URL; None for no events.
            table: Directory of all tables.

        Raises:
            ConfigError: The place is a URL to which no event can be sent.
        """
        if place is not None:
            monitoring.check_place(OPTION, place)
        self._place, self._table = place, table
        name = f"{files.absolute(table)} {time.time_ns()}"
        self._run = str(uuid.uuid5(uuid.NAMESPACE_URL, name))

    def emit(
        self, kind: str, inputs: Sequence[str] = (), record: Record | None = None, error: str = ""
    ) -> None:
        """Write an event; if it cannot be written or sent, warn.

        While the command is being stopped, a server has only `monitoring.STOPPING_SECONDS` to
        accept it.

        Args:
            kind: ``START``, ``COMPLETE`` or ``FAIL``.
            inputs: Names of the new input files.
            record: The committed night, if there is one.
            error: Why the run failed.
        """
        if self._place is None:
            return
        event = orjson.dumps(self._event(kind, inputs, record, error))
        if monitoring.is_url(self._place):
            headers = {"Content-Type": "application/json"}
            seconds = monitoring.STOPPING_SECONDS if interrupt.is_stopping() else None
            monitoring.send(OPTION, self._place, event, headers, "POST", seconds=seconds)
            return
        try:
            with Path(self._place).open("ab") as file:
                file.write(event + b"\n")
        except OSError as error:
            terminal.warn(f"{OPTION} {self._place}: the event was not written: {error.strerror}")

    def _event(self, kind: str, inputs: Sequence[str], record: Record | None, error: str) -> Json:
        producer = f"urn:pairweave:{importlib.metadata.version('pairweave')}"
        facets: Json = {}
        if error:
            facets["errorMessage"] = {
                "_producer": producer,
                "_schemaURL": "https://openlineage.io/spec/facets/1-0-1/ErrorMessageRunFacet.json"
                "#/$defs/ErrorMessageRunFacet",
                "message": error,
                "programmingLanguage": "Python",
            }
        return {
            "eventType": kind,
            "eventTime": utc(),
            "producer": producer,
            "schemaURL": SCHEMA,
            "run": {"runId": self._run, "facets": facets},
            "job": {"namespace": "pairweave", "name": f"refresh {Path(self._table).name}"},
            "inputs": [{"namespace": "file", "name": name} for name in inputs],
            "outputs": _outputs(self._table, record, producer),
        }


def _outputs(table: str, record: Record | None, producer: str) -> list[Json]:
    if record is None:
        return []
    facet = {"_producer": producer, "_schemaURL": _VERSION_FACET}
    return [
        {
            "namespace": "file",
            "name": files.join(files.absolute(table), name),
            "facets": {"version": {**facet, "datasetVersion": str(record.versions[name])}},
        }
        for name in sorted(record.tables)
    ]
