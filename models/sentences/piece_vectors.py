"""The vectors of the pieces of a document's sentences, within a limit of memory.

A side is encoded in blocks of sentences that depend only on its text. So a block that is encoded
again, because there was no room for its vectors, gets the same vectors.
"""

import collections
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import torch

from pairweave.models.sentences.sentence_encoder import EncodedPieces, text_blocks
from pairweave.transforms.kernels.sentences.beads import Told

Tensor: TypeAlias = torch.Tensor
Encode: TypeAlias = Callable[[Sequence[str]], EncodedPieces]
"""Encodes the pieces of some texts; the same texts always get the same vectors."""

BLOCK_CHARACTERS = 1 << 16
"""Amount of text that is encoded together: about 25 MB of vectors of 384 numbers in fp32."""

HELD_BYTES = 1 << 30
"""Number of bytes for the vectors of both sides, not counting those in use: 700,000 pieces with
vectors of 384 numbers, about 14,000 sentences per side. Other vectors are encoded again when
needed."""


class Held:
    """A cache of the vectors of blocks, up to a limit of memory."""

    def __init__(self, limit: int = HELD_BYTES) -> None:
        """Start with an empty cache.

        Args:
            limit: Maximum number of bytes, besides the blocks in use.
        """
        self._limit = limit
        self._size = 0
        self._blocks: collections.OrderedDict[tuple[int, int], Tensor] = collections.OrderedDict()

    def block(self, key: tuple[int, int], encode: Callable[[], Tensor]) -> Tensor:
        """Return the vectors of a block; encode it if they are not in the cache.

        Args:
            key: Number of the side and of the block.
            encode: Encodes the block.
        """
        if key not in self._blocks:
            self._blocks[key] = encode()
            self._size += self._blocks[key].nbytes
        self._blocks.move_to_end(key)
        return self._blocks[key]

    def make_room(self, used: int) -> None:
        """Drop the least recently used blocks until the limit is met.

        Args:
            used: Number of the most recently used blocks, which are kept.
        """
        while self._size > self._limit and len(self._blocks) > used:
            self._size -= self._blocks.popitem(last=False)[1].nbytes


class Side(NamedTuple):
    """The data of a side that has been encoded.

    Attributes:
        ends: Pieces before each position, int64 ``[sentence + 1]``.
        ids: Vocabulary numbers, int64 ``[piece]``.
        sums: Sum of the vectors of each sentence's pieces, float32 ``[sentence, hidden]``.
    """

    ends: np.ndarray
    ids: np.ndarray
    sums: np.ndarray


class PieceVectors:
    """The pieces of one side of a document, with their vectors."""

    def __init__(
        self,
        number: int,
        texts: Sequence[str],
        encode: Encode,
        held: Held,
        report: Told | None = None,
    ) -> None:
        """Encode the side once.

        Args:
            number: Number of the side, 0 or 1.
            texts: Its sentences.
            encode: Encodes the pieces of some of them.
            held: The cache of the vectors of both sides.
            report: Called after each encoded block; counts sentences.

        Raises:
            WorkerError: The encoder returned a value that is not finite.
        """
        self._number, self._texts, self._encode, self._held = number, texts, encode, held
        self._blocks = list(text_blocks(texts, BLOCK_CHARACTERS))
        self._starts = np.array([first for first, _ in self._blocks], np.int64)
        lengths, ids, sums = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], []
        for block, (first, last) in enumerate(self._blocks):
            encoded = encode(texts[first:last])
            lengths.append(encoded.lengths)
            ids.append(encoded.ids)
            sums.append(encoded.sums())
            vectors = encoded.vectors
            held.block((number, block), functools.partial(_units, vectors))
            held.make_room(1)
            if report is not None:
                report(last, len(texts))
        ends = np.append(0, np.cumsum(np.concatenate(lengths)))
        hidden = np.concatenate(sums) if sums else np.zeros((0, 1), np.float32)
        self.side = Side(ends, np.concatenate(ids), hidden)

    def between(self, first: int, last: int) -> list[Tensor]:
        """Return the unit vectors of the pieces of sentences ``first`` to before ``last``.

        Returns:
            Vectors ``[piece, hidden]``, in consecutive parts.
        """
        if last <= first:
            return []
        begin, end = (int(np.searchsorted(self._starts, at, "right")) for at in (first, last - 1))
        parts = []
        for block in range(begin - 1, end):
            vectors = self._held.block((self._number, block), functools.partial(self._again, block))
            base = self.side.ends[self._blocks[block][0]]
            bounds = (max(first, self._blocks[block][0]), min(last, self._blocks[block][1]))
            start, stop = (int(self.side.ends[at] - base) for at in bounds)
            parts.append(vectors[start:stop])
        self._held.make_room(len(parts))
        return parts

    def some(self, sentences: np.ndarray) -> tuple[np.ndarray, Tensor]:
        """Return the pieces of some sentences, and their unit vectors.

        Args:
            sentences: Numbers of the sentences, ascending, at least one.
        """
        pieces = [
            np.arange(self.side.ends[sentence], self.side.ends[sentence + 1])
            for sentence in sentences
        ]
        parts = [part for one in sentences for part in self.between(int(one), int(one) + 1)]
        return np.concatenate(pieces), torch.cat([part.clone() for part in parts])

    def _again(self, block: int) -> Tensor:
        first, last = self._blocks[block]
        return _units(self._encode(self._texts[first:last]).vectors)


def _units(vectors: Tensor) -> Tensor:
    return vectors / vectors.norm(dim=1, keepdim=True).clamp_min(1e-9)


def similarities(
    ours: Sequence[Tensor], theirs: Sequence[Tensor], most: int
) -> Iterator[np.ndarray]:
    """Yield the cosines of pieces with all pieces of others.

    Args:
        ours: Unit vectors ``[piece, hidden]``, in consecutive parts.
        theirs: Unit vectors of the others, in the same form.
        most: Maximum number of cosines at a time, except for those of one piece.

    Yields:
        Those of some consecutive pieces, float32 ``[piece, other piece]``.
    """
    places = sum(len(part) for part in theirs)
    step = max(most // max(places, 1), 1)
    for part in ours:
        for first in range(0, len(part), step):
            some = part[first : first + step]
            cosines = [(some @ other.T).float().cpu().numpy() for other in theirs]
            yield np.ascontiguousarray(np.concatenate(cosines, axis=1))
