"""The content of receipts: of a shard that was written, of a unit that was read."""

from typing import Any, ClassVar

import pydantic
from pydantic import Field

from pairweave.transforms.counts.histograms import are_bars
from pairweave.transforms.output.documents.parts import Counts, FileEntry, Number, RejectedRows
from pairweave.transforms.storage.json_files import JsonFile

_ADVICE = "was it edited? Repeat the command of the run to make it again"


class ShardReceipt(JsonFile):
    """Counts of a shard's rows, and its files.

    ``units`` and ``unit_reasons`` may be packed (`output.unit_counts`), and are checked there.
    """

    ADVICE: ClassVar[str] = _ADVICE

    plan: str
    shard: Number
    rows: Number
    kept: Number
    kept_by_corpus: Counts
    rejected: list[RejectedRows]
    units: Any
    unit_reasons: Any = Field(default_factory=list)
    counts: Counts
    histograms: dict[str, dict[str, list[Number]]]
    tag_shapes: Counts = Field(default_factory=dict)
    files: list[FileEntry] = Field(min_length=1, max_length=2)
    model: str | None = None
    translator: str | None = None

    @pydantic.field_validator("histograms")
    @classmethod
    def _check_bars(cls, value: dict[str, Any]) -> dict[str, Any]:
        if not are_bars(value):
            raise ValueError("expected known histograms with no more bars than they have")
        return value


class UnitReceipt(JsonFile):
    """Number of rows of a unit that were read, and notes on them."""

    ADVICE: ClassVar[str] = _ADVICE

    plan: str
    unit: Number
    rows: Number
    characters: Counts = Field(default_factory=dict)
    band_edge: list[Number] = Field(default=[0, 0, 0], min_length=3, max_length=3)
    exchanged_sides: list[Number] = Field(default=[0, 0], min_length=2, max_length=2)
    beads: str = ""
