"""The interface of word aligners (tokens in, directed links out) and their references."""

from typing import Protocol, Self

import pyarrow as pa

from pairweave.models.model_store import ModelReference
from pairweave.transforms import schemas
from pairweave.transforms.arrow import flat_columns
from pairweave.transforms.errors import WorkerError

MAX_TOKENS = 32_767
"""Links hold token numbers in 16 bits."""

NOTHING = ""
"""The digest recorded when an aligner was to be fitted but no pair passed the screen."""

GivenUp = dict[int, tuple[str, str]]
"""Reason and detail of the pairs that an aligner cannot align, by row."""

Aligned = tuple[pa.Table, GivenUp]
"""LINKED rows, and the pairs that were given up, which have no row."""


class Aligner(Protocol):
    """Aligns the tokens of sentence pairs.

    An implementation must be weak-referenceable, and its links for a pair may depend only on the
    pair and the model.
    """

    @property
    def digest(self) -> str:
        """Return the hex SHA-256 of everything that determines the links."""
        ...

    def align(self, table: pa.Table) -> pa.Table:
        """Turn TOKENS rows into LINKED rows, in the same order.

        Args:
            table: Pairs with token offsets (`transforms.schemas.TOKENS`).

        Returns:
            The same rows with ``forward`` and ``reverse`` links and their probabilities
            (`transforms.schemas.LINKED`).
        """
        ...


class LoadedAligner(Protocol):
    """An aligner that a process has loaded for a job."""

    def align_or_reject(self, table: pa.Table) -> Aligned:
        """Turn TOKENS rows into LINKED rows; give up the rows that the aligner cannot align."""
        ...

    def with_soft_links(self, least: float) -> "LoadedAligner":
        """Return an aligner that makes every link with at least this probability, if possible."""
        ...


def align_all(aligner: LoadedAligner, table: pa.Table) -> pa.Table:
    """Turn all TOKENS rows into LINKED rows; those that the aligner gives up have no links."""
    linked, given_up = aligner.align_or_reject(table)
    if not given_up:
        return linked
    rows = iter(linked.to_pylist())
    whole = [
        {**row, "forward": [], "reverse": []} if number in given_up else next(rows)
        for number, row in enumerate(table.to_pylist())
    ]
    return pa.Table.from_pylist(whole, schema=schemas.LINKED)


class AlignerReference(ModelReference):
    """The aligner of a job, as sent to workers."""


class LoadableReference(AlignerReference):
    """A reference to an aligner that needs only the tokens of pairs."""

    def load(self) -> LoadedAligner:
        """Return the aligner, which a process loads once.

        Raises:
            ConfigError: The aligner cannot be loaded, or is not the planned one.
        """
        raise NotImplementedError


class AlignsEveryPair:
    """Methods of an aligner that aligns every pair and has no soft links."""

    def align_or_reject(self: Aligner, table: pa.Table) -> Aligned:
        """Turn all TOKENS rows into LINKED rows."""
        return self.align(table), {}

    def with_soft_links(self, least: float) -> LoadedAligner:  # noqa: ARG002 - it has no other links
        """Return the aligner itself."""
        return self


class NeedsNoModel(AlignsEveryPair, LoadableReference):
    """An aligner that is its own reference: nothing has to be loaded."""

    def load(self) -> Self:
        """Return the aligner itself."""
        return self


def require_countable(table: pa.Table) -> None:
    """Check that links can number the tokens of every pair.

    Raises:
        WorkerError: A side has too many tokens; names the pair.
    """
    for name in ("source_tokens", "target_tokens"):
        sizes = flat_columns.lengths_of(table.column(name))
        if len(sizes) and sizes.max() > MAX_TOKENS:
            raise WorkerError(
                f"pair {table.column('id')[int(sizes.argmax())]}: {name} has {sizes.max()} tokens, "
                f"links can number {MAX_TOKENS}; screen such pairs out"
            )
