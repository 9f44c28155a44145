"""Parts that several JSON files of a run share."""

from typing import Annotated, Any

from pydantic import Field

from pairweave.transforms.storage.json_files import JsonFile

FORMAT = 2
"""Version of plans, receipts and manifests. The first version, which the files do not state, used
sentences as names of counters."""

Number = Annotated[int, Field(ge=0)]
Name = Annotated[str, Field(min_length=1)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Counts = dict[str, Number]
Settings = dict[str, Any]


class FileEntry(JsonFile):
    """A file of the run."""

    name: str
    bytes: Number
    sha256: Digest
    rows: Number | None = None


class InputFacts(JsonFile):
    """A file that the run read."""

    name: str
    corpus: str
    role: str
    format: str
    rows: Number
    bytes: Number
    sha256: str


class CorpusFacts(JsonFile):
    """A corpus that the run read."""

    name: str
    source_lang: str
    target_lang: str
    licence: str | None


class LookFinding(JsonFile):
    """A fact about the input that its owner should know."""

    kind: Name
    file: str
    first_line: Number
    last_line: Number
    count: Number
    evidence: str
    option: str
    curve: list[int | None] = Field(default_factory=list)


class Look(JsonFile):
    """The result of a job's look at its input before the work."""

    pairs: Number
    findings: list[LookFinding]


class RejectedRows(JsonFile):
    """Number of rows of a corpus that a step rejected for a reason."""

    corpus: str
    stage: str
    reason: str
    rows: Number
