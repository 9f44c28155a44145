"""The record of a night as JSON: each part with its fields, types and limits."""

import re
from typing import Annotated, Any

import orjson
import pydantic
from pydantic import ConfigDict, Field

from pairweave.pipelines.refresh.chain.hashed_reads import RESTORE
from pairweave.pipelines.refresh.chain.table_names import FILES, MAIN, PARTITIONS, PROVENANCE
from pairweave.pipelines.refresh.chain.table_names import REJECTS as REJECTED
from pairweave.transforms.storage.json_files import JsonFile

Count = Annotated[int, Field(ge=0)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
StatePath = Annotated[str, Field(pattern=r"^(_refresh/tombstones|_models)/[^\x00]+$")]

_DATA = re.compile(r"part-([0-9a-f]{24})\.parquet")
_TIME = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"


class StatePart(JsonFile):
    """A file of a table's state, or a part of one; an unknown field counts as damage."""

    model_config = ConfigDict(extra="forbid")

    ADVICE = RESTORE


class RemovedFile(StatePart):
    """A file that a night removes from a table."""

    path: str
    bytes: Count
    rows: Count
    partition: dict[str, str]

    @pydantic.field_validator("path")
    @classmethod
    def _is_data(cls, value: str) -> str:
        if not {"", ".", ".."}.isdisjoint(value.split("/")) or not _DATA.fullmatch(
            value.rpartition("/")[2]
        ):
            raise ValueError(
                "expected the name of a file of the table, such as part-<24 digits>.parquet"
            )
        return value


class AddedFile(RemovedFile):
    """A file that a night adds to a table; Delta's statistics are a string of JSON."""

    sha256: Sha256
    stats: str

    @pydantic.field_validator("stats")
    @classmethod
    def _is_statistics(cls, value: str) -> str:
        try:
            _Statistics.model_validate(orjson.loads(value))
        except ValueError as error:
            raise ValueError("expected Delta's statistics as JSON") from error
        return value

    @pydantic.model_validator(mode="after")
    def _is_named_after_content(self) -> "AddedFile":
        if not self.path.endswith(f"part-{self.sha256[:24]}.parquet"):
            raise ValueError("expected a name with the first 24 digits of sha256")
        return self


class _Statistics(StatePart):
    numRecords: Count  # noqa: N815 - Delta's name
    minValues: dict[str, str | int]  # noqa: N815
    maxValues: dict[str, str | int]  # noqa: N815
    nullCount: dict[str, int]  # noqa: N815


class TableChange(StatePart):
    """A night's change of a table; it has a schema if the table is new or replaced."""

    add: list[AddedFile]
    remove: list[RemovedFile]
    schema_hex: str | None = Field(None, alias="schema", pattern=r"^([0-9a-f]{2})+$")


class InputFile(StatePart):
    """An input file in the ledger; the stamp is its time, or its tag in a store."""

    role: str
    name: str
    bytes: Count
    stamp: str
    sha256: Sha256


class LedgerEntry(StatePart):
    """Files that are read together, as the ledger describes them.

    Attributes:
        key: Digest of what is read, 16 hexadecimal digits.
        corpus: Name of the corpus.
        source_lang: BCP 47.
        target_lang: BCP 47.
        licence: Licence of the corpus, if given.
        reading: Digest of how they are read.
        files: The files.
        rows: Rows read from them; 0 before they are read.
        gives_more: Whether they give scores, links or tags of the rows besides texts; None if that
            was not recorded.
    """

    key: str
    corpus: str
    source_lang: str
    target_lang: str
    licence: str | None
    reading: str
    files: list[InputFile] = Field(min_length=1)
    rows: Count
    gives_more: bool | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the files."""
        return tuple(file.name for file in self.files)

    @property
    def languages(self) -> tuple[str, str]:
        """Return source and target language."""
        return self.source_lang, self.target_lang


class FileCounts(StatePart):
    """Numbers of a night's input files, by their state."""

    all: Count
    new: Count
    changed: Count
    moved: Count
    gone: Count


class NewPairs(StatePart):
    """Numbers of the pairs that a night read, and their shares."""

    read: Count
    pairs: Count
    rejected: Count
    places: Count
    share: float
    reasons: dict[str, float]
    languages: dict[str, float] = Field(default_factory=dict)
    tags: float | None = None
    probability: float | None = None
    score: float | None = None
    likelihood: dict[str, float] = Field(default_factory=dict)
    findings: dict[str, Count] = Field(default_factory=dict)


class TablePairs(StatePart):
    """Numbers of the table's pairs before and after a night."""

    before: Count
    pairs: Count


class NightMetrics(StatePart):
    """The metrics of a night (`night_metrics.measure`)."""

    seconds: float
    files: FileCounts
    new: NewPairs
    removed: Count
    lost: Count
    table: TablePairs


class GateResult(StatePart):
    """The result of a quality gate."""

    gate: str
    value: float
    limit: float
    passed: bool


class Settings(StatePart):
    """The settings that a table's rows are made with (`night_config.settings_of`)."""

    job: str
    release: str
    options: dict[str, Any]


class RecordFile(StatePart):
    """The record of a night (`records.Record` describes its fields)."""

    format: int
    checksum: Sha256
    night: Annotated[int, Field(ge=1)]
    operation: str
    when: Annotated[str, Field(pattern=_TIME)]
    job: str
    settings: Settings
    models: dict[str, Annotated[str, Field(pattern=r"^_models/[^/]+/[^/]+-[0-9a-f]{16}$")]]
    files: list[LedgerEntry]
    tombstones: Annotated[str, Field(pattern=r"^[0-9a-f]{24}\.jsonl$")] | None
    tables: dict[str, TableChange]
    versions: dict[str, Count]
    metrics: NightMetrics
    gates: list[GateResult] = Field(default_factory=list)
    accepted: str | None = None
    fitted: dict[str, Count] = Field(default_factory=dict)
    previous: Sha256 | None = None
    sealed: Sha256 | None = None
    state: dict[StatePath, Sha256] = Field(default_factory=dict)
    live: dict[str, Sha256] = Field(default_factory=dict)

    @pydantic.model_validator(mode="after")
    def _fits_together(self) -> "RecordFile":
        if self.job not in MAIN:
            raise ValueError(f"expected job to be one of {', '.join(MAIN)}")
        known = {MAIN[self.job], PROVENANCE, REJECTED, FILES}
        for name in (*self.versions, *self.tables):
            if name not in known:
                raise ValueError(
                    f"expected versions and tables of {', '.join(sorted(known))} alone"
                )
        if not self.tables.keys() <= self.versions.keys():
            raise ValueError("expected a version of each table that the night changes")
        for name, change in self.tables.items():
            for entry in (*change.add, *change.remove):
                folders = [f"{c}={entry.partition.get(c)}" for c in PARTITIONS[name]]
                if (
                    set(entry.partition) != set(PARTITIONS[name])
                    or folders != entry.path.split("/")[:-1]
                ):
                    raise ValueError(
                        f"tables.{name}: expected files in the directories of their partition"
                    )
        self._check_links()
        return self

    def _check_links(self) -> None:
        if self.live.keys() != self.versions.keys():
            raise ValueError("expected in live the digest of each table")
        if (self.previous is None) != (self.night == 1):
            raise ValueError(
                "expected previous, the SHA-256 of the record before, in every night but the first"
            )
        listed = {f"{place}/about.json" for place in self.models.values()}
        if self.tombstones is not None:
            listed.add(f"_refresh/tombstones/{self.tombstones}")
        if self.state.keys() != listed:
            raise ValueError("expected in state the SHA-256 of the tombstones and of each model")
