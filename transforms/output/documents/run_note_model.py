"""The content of ``_run.json``: what differs between runs with the same output."""

from typing import Any, ClassVar, Self

import pydantic

from pairweave.transforms.output.documents.parts import Number
from pairweave.transforms.storage.json_files import JsonFile, read_checked


class StepTime(JsonFile):
    """The time that a step took, summed over all workers."""

    seconds: float
    rows: Number | None = None
    rows_per_second: float | None = None

    @pydantic.model_validator(mode="after")
    def _check_speed(self) -> Self:
        if (self.rows is None) != (self.rows_per_second is None):
            raise ValueError("expected rows and rows_per_second together, or neither")
        return self


class SentTo(JsonFile):
    """A job on a service that a command left behind."""

    id: str
    project: str
    region: str


class Machine(JsonFile):
    """The machine that the command ran on."""

    cores: Number | None
    platform: str


class RunNote(JsonFile):
    """Times, engine and packages of the last run."""

    ADVICE: ClassVar[str] = "was it edited? It may be deleted: no other file of the run needs it"

    started: str
    seconds: float | None
    pairs_per_second: float | None
    engine: str
    workers: Number | None
    attempts: Number
    shards_reused: Number
    machine: Machine
    python: str
    packages: dict[str, str]
    steps: dict[str, StepTime] | None = None
    dataflow_job: SentTo | None = None


def read_run_note(path: str) -> dict[str, Any]:
    """Read and check ``_run.json``.

    Raises:
        ConfigError: It is damaged; names the field.
    """
    return read_checked(path, RunNote)
