"""The type of a shard, and how it travels between Beam steps: as Arrow IPC streams, never pickled.

Importing this module registers its coder.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import apache_beam as beam
import numpy as np
import orjson
import pyarrow as pa
from apache_beam.coders import BytesCoder, Coder, TupleCoder, VarIntCoder

from pairweave.transforms.arrow.arrow_coder import TableCoder
from pairweave.transforms.links.aligner_agreement import Agreement
from pairweave.transforms.rejects import Reason, Reject, Stage
from pairweave.transforms.shards.merge import join_rejected, mark_rejected, pairs_of


@dataclasses.dataclass(frozen=True)
class Notes:
    """Notes of a step on a whole shard, for its receipt.

    Attributes:
        model: Digest of the model that aligned the shard; None if the plan or the run's files name
            the model.
        agreement: Counts of the links of two aligners; None if there is one aligner.
        counts: Counts of a step, besides those of the job's last one.
    """

    model: str | None = None
    agreement: Agreement | None = None
    counts: Mapping[str, int] = dataclasses.field(default_factory=dict)


NO_NOTES = Notes()


@dataclasses.dataclass(frozen=True)
class Shard:
    """A share of the corpus, which every step after the shuffle takes and returns.

    Attributes:
        number: The shard's number, from 0.
        kept: Its kept rows (`schemas.ROWS`), sorted by id and place.
        rejected: Its rejected rows (`schemas.ROWS`), in the same order.
        table: The working table of the steps: one row per kept row, in the same order.
        notes: Notes on the whole shard.
    """

    number: int
    kept: pa.Table
    rejected: pa.Table
    table: pa.Table
    notes: Notes = NO_NOTES

    @property
    def nbytes(self) -> int:
        """Return the bytes of all tables."""
        return sum(each.nbytes for each in (self.kept, self.rejected, self.table))

    def with_table(self, table: pa.Table) -> "Shard":
        """Return the shard with another working table."""
        return dataclasses.replace(self, table=table)

    def with_pairs(self) -> "Shard":
        """Return the shard whose working table is its kept pairs (`schemas.PAIRS`)."""
        return self.with_table(pairs_of(self.kept))

    def with_notes(self, **notes: object) -> "Shard":
        """Return the shard with some of its notes set."""
        return dataclasses.replace(self, notes=dataclasses.replace(self.notes, **notes))  # type: ignore[arg-type]

    def reject(
        self,
        marks: np.ndarray,
        stage: Stage,
        reason: Reason,
        details: list[str] | None = None,
    ) -> "Shard":
        """Move marked rows from the kept to the rejected; leave the working table unchanged.

        Args:
            marks: Booleans ``[kept row]``.
            stage: The step that rejects.
            reason: Its reason.
            details: A detail for each marked row.
        """
        if not marks.any():
            return self
        moved = mark_rejected(self.kept.filter(pa.array(marks)), stage, reason, details)
        return dataclasses.replace(
            self,
            kept=self.kept.filter(pa.array(~marks)),
            rejected=join_rejected(self.rejected, moved),
        )

    def reject_each(
        self, reasons: Sequence[tuple[Stage, Reason, np.ndarray, list[str]]]
    ) -> "Shard":
        """Move marked rows for several reasons; the working table stays as it is.

        Args:
            reasons: Stage, reason, booleans ``[kept row]`` and a detail for each marked row; no row
                is marked twice.
        """
        shard = self
        left = np.ones(self.kept.num_rows, np.bool_)
        for stage, reason, marks, details in reasons:
            shard = shard.reject(marks[left], stage, reason, details)
            left &= ~marks
        return shard

    def give_up(self, failures: Mapping[int, tuple[str, str]]) -> "Shard":
        """Move rows that an aligner cannot align from the kept to the rejected.

        Args:
            failures: Reason and detail, by kept row.
        """
        shard = self
        rows = np.arange(self.kept.num_rows)
        for reason in sorted({reason for reason, _ in failures.values()}):
            marks = np.array([failures.get(int(row), ("",))[0] == reason for row in rows])
            details = [failures[int(row)][1] for row in rows[marks]]
            shard = shard.reject(marks, Stage.ALIGN, Reject(reason), details)
            rows = rows[~marks]
        return shard


_FIELDS = TupleCoder([VarIntCoder(), TableCoder(), TableCoder(), TableCoder(), BytesCoder()])


class ShardCoder(Coder):
    """Encode a shard as its number, its three tables and its notes in JSON."""

    def encode(self, value: Shard) -> bytes:
        """Return the shard as bytes; large tables may be in a file shared by workers."""
        notes = orjson.dumps(value.notes)
        return _FIELDS.encode((value.number, value.kept, value.rejected, value.table, notes))

    def decode(self, encoded: bytes) -> Shard:
        """Return the shard in the bytes."""
        number, kept, rejected, table, notes = _FIELDS.decode(encoded)
        entries = orjson.loads(notes)
        links = entries["agreement"]
        agreement = None if links is None else Agreement(**links)
        shard_notes = Notes(entries["model"], agreement, entries["counts"])
        return Shard(number, kept, rejected, table, shard_notes)

    def is_deterministic(self) -> bool:
        """Return False: equal tables may differ in chunks, so a shard cannot be a key."""
        return False

    def to_type_hint(self) -> type:
        """Return the type that this coder encodes."""
        return Shard

    def estimate_size(self, value: Shard) -> int:
        """Return the bytes of the rows, without encoding them."""
        return value.nbytes

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


def register() -> None:
    """Make the coder Beam's choice for shards; further calls change nothing."""
    beam.coders.registry.register_coder(Shard, ShardCoder)


register()

Batches = beam.PCollection[pa.RecordBatch]
Shards = beam.PCollection[Shard]
