"""The product of two word aligners: a fitted hmm and a neural encoder.

Both give a probability for each link of a pair, from different evidence. The hmm uses translations
and word order in the text that it was fitted on, the encoder uses the meaning of words in their
context. Where one of them errs, the other is seldom sure of the same link.
"""

import dataclasses
import hashlib
import json
from typing import Protocol

import pyarrow as pa

from pairweave.models.aligner import Aligned, LoadableReference, LoadedAligner
from pairweave.models.encoder.hosting.encoder_reference import EncoderReference
from pairweave.models.hmm.hmm import HmmModel
from pairweave.models.hmm.hmm_reference import HmmReference, load
from pairweave.transforms import schemas
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.links.product import MIN_POSTERIOR, multiply_posteriors

VERSION = 1
"""Increased when the same members give different links."""

THRESHOLD = 0.5
"""Minimum pooled posterior of a link: it is more likely than not (0.4 to 0.6 are equally good)."""


class _Encoder(Protocol):
    """An encoder with its head, which leaves out the pairs that it cannot align."""

    def align_or_reject(self, table: pa.Table) -> Aligned: ...


class ProductAligner:
    """A fitted hmm and an encoder; implements `models.aligner.Aligner`."""

    def __init__(
        self, hmm: HmmModel, encoder: _Encoder, digest: str, threshold: float = THRESHOLD
    ) -> None:
        """Set both members.

        Args:
            hmm: The hmm, with any threshold.
            encoder: The encoder; its head has the threshold by which it refuses links.
            digest: The digest of both (`digest_of`).
            threshold: Minimum pooled posterior of a link.
        """
        self._hmm = hmm.with_threshold(MIN_POSTERIOR)
        self._encoder = encoder
        self._digest = digest
        self._threshold = threshold

    @property
    def digest(self) -> str:
        """Return the hex SHA-256 of everything that determines the links."""
        return self._digest

    def align(self, table: pa.Table) -> pa.Table:
        """Turn TOKENS rows into LINKED rows, in the same order.

        Raises:
            WorkerError: A side has more tokens than links can number, or the encoder cannot align
                a pair (`align_or_reject` leaves it out); names the pair.
        """
        linked, given_up = self.align_or_reject(table)
        for row, (reason, detail) in given_up.items():
            raise WorkerError(f"pair {table['id'][row]}: {reason}: {detail}")
        return linked

    def align_or_reject(self, table: pa.Table) -> Aligned:
        """Turn TOKENS rows into LINKED rows; give up the rows that the encoder cannot align."""
        by_encoder, given_up = self._encoder.align_or_reject(table)
        by_hmm = self._hmm.align(by_encoder.select(schemas.TOKENS.names))
        return multiply_posteriors(by_hmm, by_encoder, self._threshold), given_up

    def with_soft_links(self, least: float) -> LoadedAligner:
        """Return the same product with every link of at least this pooled posterior."""
        return ProductAligner(self._hmm, self._encoder, self._digest, least)


@dataclasses.dataclass(frozen=True)
class ProductReference(LoadableReference):
    """A reference to both members, which is sent to workers.

    Attributes:
        hmm: The fitted hmm.
        encoder: The encoder, which is not watched.
    """

    hmm: HmmReference
    encoder: EncoderReference

    @property
    def digest(self) -> str:
        """Return the hex SHA-256 of everything that determines the links."""
        return digest_of(self.hmm.digest, str(self.encoder.digest))

    def load(self) -> LoadedAligner:
        """Return the product; a process loads each member once.

        Raises:
            ConfigError: A member cannot be loaded, or is not the planned one.
            WorkerError: The encoder fails on every pair.
        """
        return ProductAligner(load(self.hmm).model, self.encoder.load(), self.digest)

    def with_threads(self, threads: int) -> "ProductReference":
        """Return a reference whose encoder processes a number of batches at once."""
        return dataclasses.replace(self, encoder=self.encoder.with_threads(threads))


def digest_of(hmm: str, encoder: str) -> str:
    """Return the hex SHA-256 of the digests of both members."""
    named = {"aligner": "product", "version": VERSION, "hmm": hmm, "encoder": encoder}
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()
