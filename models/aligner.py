"""What every word aligner offers: tokens in, directed links out."""

from typing import Protocol

import pyarrow as pa


class Aligner(Protocol):
    """Aligns the tokens of sentence pairs.

    An implementation must be weak-referenceable, and its links for a pair may depend on nothing
    but the pair and the model.
    """

    @property
    def digest(self) -> str:
        """Return the hex SHA-256 of all that decides the links."""
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
