"""What every word aligner offers: tokens in, directed links out."""

from typing import Protocol

import pyarrow as pa

from pairweave.transforms.arrow import flat_lists
from pairweave.transforms.errors import WorkerError

MAX_TOKENS = 32_767
"""Links number tokens in 16 bits."""


class Aligner(Protocol):
    """Aligns the tokens of sentence pairs.

    An implementation must be weak-referenceable, and its links for a pair may depend on nothing
    but the pair and the model.
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


def require_countable(table: pa.Table) -> None:
    """Check that links can number the tokens of every pair.

    Raises:
        WorkerError: A side has too many; names the pair.
    """
    for name in ("source_tokens", "target_tokens"):
        sizes = flat_lists.lengths_of(table.column(name))
        if len(sizes) and sizes.max() > MAX_TOKENS:
            raise WorkerError(
                f"pair {table.column('id')[int(sizes.argmax())]}: {name} has {sizes.max()} tokens, "
                f"links can number {MAX_TOKENS}; screen such pairs out"
            )
