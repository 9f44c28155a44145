"""The content of a run's ``_manifest.json``."""

from typing import Annotated, Any, ClassVar, Literal, Self

import pydantic
from pydantic import Field

from pairweave.transforms.output.documents.parts import (
    CorpusFacts,
    Counts,
    FileEntry,
    InputFacts,
    Look,
    Name,
    Number,
    Settings,
)
from pairweave.transforms.storage.json_files import JsonFile, read_checked


class KeptRows(JsonFile):
    """Numbers of pairs that the run read, kept and rejected."""

    read: Number
    kept: Number
    rejected: Number


class CorpusRows(CorpusFacts):
    """A corpus, with the numbers of its kept and rejected rows."""

    kept: Number
    rejected: Counts


class HistogramBars(JsonFile):
    """Number of values in each bar of a histogram, by group."""

    unit: str
    by: Literal["corpus", "method", "all"]
    edges: list[float]
    counts: dict[str, list[Number]]

    @pydantic.model_validator(mode="after")
    def _check_bars(self) -> Self:
        if any(len(bars) != len(self.edges) + 1 for bars in self.counts.values()):
            raise ValueError("expected one bar more than edges in each of counts")
        if any(one >= other for one, other in zip(self.edges, self.edges[1:], strict=False)):
            raise ValueError("expected edges that ascend")
        return self


class Golden(JsonFile):
    """The distances of examples from a golden set."""

    histograms: dict[str, Counts]
    distances: dict[str, dict[str, float | None]]


class DrawnShapes(JsonFile):
    """The profile from which tags were drawn, and the tags that were drawn."""

    counts: Counts
    drawn: Counts
    distance: dict[str, float]
    names: dict[str, Counts]


class Manifest(JsonFile):
    """The description of a finished run: its settings, input, rows and files.

    The sums are checked too: a manifest whose numbers do not agree was changed by hand or damaged.
    """

    ADVICE: ClassVar[str] = "was it edited? Repeat the command of the run to write it again"

    format: Annotated[int, Field(ge=1)] = 1
    job: Name
    version: str
    signature: str
    plan_sha256: str
    configuration: Settings
    corpora: dict[str, CorpusRows]
    inputs: list[InputFacts]
    notices: list[str]
    rows: KeptRows
    rejected: Counts
    counts: Counts
    histograms: dict[str, HistogramBars] = Field(default_factory=dict)
    shards: Annotated[int, Field(ge=1)]
    files: list[FileEntry]
    golden: Golden | None = None
    tag_profile: DrawnShapes | None = None
    look: Look | None = None
    aligned_by: dict[str, list[Number]] | None = None

    @pydantic.model_validator(mode="after")
    def _check_sums(self) -> Self:
        rows, corpora = self.rows, self.corpora.values()
        if rows.read != rows.kept + rows.rejected:
            raise ValueError(
                f"rows: {rows.read} read are not {rows.kept} kept and {rows.rejected} rejected"
            )
        for field, summed, total in (
            ("rejected", sum(self.rejected.values()), rows.rejected),
            ("corpora.*.kept", sum(each.kept for each in corpora), rows.kept),
            (
                "corpora.*.rejected",
                sum(sum(each.rejected.values()) for each in corpora),
                rows.rejected,
            ),
        ):
            if summed != total:
                raise ValueError(f"{field}: expected {total} in all, as rows says, found {summed}")
        rejects = [entry.rows or 0 for entry in self.files if entry.name.startswith("rejects/")]
        if sum(rejects) != rows.rejected:
            raise ValueError(
                f"files: expected {rows.rejected} rows in all in rejects/, found {sum(rejects)}"
            )
        names = [entry.name for entry in self.files]
        twice = {name for name in names if names.count(name) > 1} if _repeats(names) else set()
        if twice:
            raise ValueError(f"files: lists {min(twice)} twice")
        if self.format > 1 and any(
            name not in self.corpora
            for histogram in self.histograms.values()
            if histogram.by == "corpus"
            for name in histogram.counts
        ):
            raise ValueError("histograms: name a corpus that is not in corpora")
        return self


def _repeats(names: list[str]) -> bool:
    return len(set(names)) < len(names)


class TrainingRows(JsonFile):
    """Numbers of pairs that a training used and rejected."""

    read: Number
    trained: Number
    rejected: Number
    not_drawn: Number


class TrainingManifest(JsonFile):
    """The description of a finished run of ``finetune``, which has no shards."""

    ADVICE: ClassVar[str] = Manifest.ADVICE

    format: Annotated[int, Field(ge=1)] = 1
    job: Name
    version: str
    signature: str
    plan_sha256: str
    configuration: Settings
    inputs: list[InputFacts]
    notices: list[str]
    rows: TrainingRows
    rejected: Counts
    counts: Counts
    files: list[FileEntry]


def read_manifest(path: str) -> dict[str, Any]:
    """Read and check ``_manifest.json`` of any job.

    Raises:
        ConfigError: It is damaged; names the field.
    """
    return read_checked(path, lambda manifest: _KINDS.get(str(manifest.get("job")), Manifest))


_KINDS: dict[str, type[JsonFile]] = {"finetune": TrainingManifest}
