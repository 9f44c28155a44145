"""The content of a run's ``_plan.json``."""

from typing import Annotated, Any, ClassVar, Self

import pydantic
from pydantic import Field

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output.documents.parts import (
    FORMAT,
    CorpusFacts,
    InputFacts,
    Look,
    Name,
    Number,
    Settings,
)
from pairweave.transforms.storage.json_files import JsonFile, read_checked


class PlannedUnit(JsonFile):
    """A part of an input file, which one worker reads."""

    index: Number
    file: str
    line: Number
    rows: Number
    aligned: bool = False
    unbounded: bool = False


class PlanDocument(JsonFile):
    """Everything that determines the bytes of a run."""

    ADVICE: ClassVar[str] = "was it edited? Give another --output to run the job again"

    format: Annotated[int, Field(ge=1)] = 1
    job: Name
    version: str
    signature: str
    configuration: Settings
    corpora: list[CorpusFacts]
    inputs: list[InputFacts]
    units: list[PlannedUnit]
    notices: list[str]
    rows: Number
    shards: Annotated[int, Field(ge=1)]
    models: list[str]
    writes_rows: bool = True
    look: Look | None = None

    @pydantic.model_validator(mode="after")
    def _check_units(self) -> Self:
        if [unit.index for unit in self.units] != list(range(len(self.units))):
            raise ValueError("units: expected the numbers from 0 on as their index")
        return self


def read_plan(path: str) -> dict[str, Any]:
    """Read and check ``_plan.json``.

    Raises:
        ConfigError: It is damaged; names the field.
    """
    return read_checked(path, PlanDocument)


def check_format(document: dict[str, Any], path: str, advice: str) -> None:
    """Check that a plan or a manifest was written in the format of this version.

    Args:
        document: The plan or manifest.
        path: Its path, or its run's directory, for the message.
        advice: What to do with a run of another version.

    Raises:
        ConfigError: It was written in another format.
    """
    form = document.get("format", 1)
    if form != FORMAT:
        # Its number may be the same as this version's, so the message also says which is older.
        other = "an earlier" if form < FORMAT else "a later"
        raise ConfigError(
            f"{path}: format: expected {FORMAT}, found {form}: {other} pairweave "
            f"({document['version']}) wrote this run, and its counters have another form; {advice}"
        )
