"""Words of a table as numbers: folding, counting and looking up."""

import dataclasses
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from transforms.errors import ConfigError
from transforms.kernels import words as kernels

WHOLE = 1 << 30
"""More letters than a word has: hashes the whole word."""


@dataclasses.dataclass(frozen=True)
class Side:
    """The folded tokens of one side of some pairs.

    Attributes:
        pair_offsets: Where each pair's tokens begin, int64 ``[pair + 1]``.
        letter_offsets: Where each token's letters begin, int64 ``[token + 1]``.
        letters: Folded code points, int32.
    """

    pair_offsets: np.ndarray
    letter_offsets: np.ndarray
    letters: np.ndarray


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """Known words of one side, the commonest first.

    Attributes:
        words: Folded words, string.
        counts: How often each occurred, int64.
        keys: Open-addressing table of hashes, uint64.
        ids: Word of each slot, int32.
    """

    words: pa.Array
    counts: np.ndarray
    keys: np.ndarray
    ids: np.ndarray

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.counts)

    def find(self, side: Side) -> np.ndarray:
        """Return the word of each token, int32; -1 for an unseen one."""
        hashes = kernels.hash_tokens(side.letter_offsets, side.letters, WHOLE)
        return kernels.look_up(hashes, self.keys, self.ids)


def cut(table: pa.Table, side: str, rows: int = 65_536) -> Iterator[Side]:
    """Yield the folded tokens of a table's ``source`` or ``target``, some rows at a time."""
    fold_offsets, fold_points = kernels.folding()
    columns = table.select([side, f"{side}_tokens"])
    for batch in columns.to_batches(max_chunksize=rows):
        text, tokens = batch.columns
        raw = text.buffers()
        offsets = np.frombuffer(raw[1], dtype=np.int32)[text.offset :][: len(text) + 1]
        data = np.frombuffer(raw[2], dtype=np.uint8) if raw[2] else np.empty(0, dtype=np.uint8)
        pair_offsets = np.asarray(tokens.offsets, dtype=np.int64)
        spans = tokens.flatten()
        letter_offsets, letters = kernels.fold_tokens(
            data,
            offsets,
            pair_offsets - pair_offsets[0],
            np.asarray(spans.field("start")),
            np.asarray(spans.field("end")),
            fold_offsets,
            fold_points,
        )
        yield Side(pair_offsets - pair_offsets[0], letter_offsets, letters)


def build_vocabulary(words: pa.Array, counts: np.ndarray) -> Vocabulary:
    """Make the look-up table of distinct words.

    Raises:
        ConfigError: Two words have one hash, or one word is there twice.
    """
    lengths = np.asarray(pc.utf8_length(words), dtype=np.int64)
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
    letters = np.frombuffer("".join(words.to_pylist()).encode("utf-32-le"), dtype=np.int32)
    hashes = kernels.hash_tokens(offsets, letters, WHOLE)
    size = 1 << max(2 * len(words), 2).bit_length()
    keys = np.zeros(size, dtype=np.uint64)
    ids = np.zeros(size, dtype=np.int32)
    twice = kernels.fill_table(keys, ids, hashes)
    if twice >= 0:
        raise ConfigError(f"the word {words[twice].as_py()!r} is twice in the vocabulary")
    return Vocabulary(words, counts, keys, ids)


def collect_vocabulary(table: pa.Table, side: str, most: int) -> Vocabulary:
    """Count the words of one side and keep the ``most`` commonest; ties go by hash."""
    hashes, counts, texts = [], [], []
    for part in cut(table, side):
        found, times, firsts = kernels.count_distinct(
            kernels.hash_tokens(part.letter_offsets, part.letters, WHOLE)
        )
        hashes.append(found)
        counts.append(times)
        text = part.letters.astype("<u4").tobytes().decode("utf-32-le")
        begins = part.letter_offsets[firsts].tolist()
        ends = part.letter_offsets[firsts + 1].tolist()
        texts.append(pa.array([text[a:b] for a, b in zip(begins, ends, strict=True)], pa.string()))
    if not hashes:
        return build_vocabulary(pa.array([], pa.string()), np.empty(0, dtype=np.int64))
    distinct, first, inverse = np.unique(
        np.concatenate(hashes), return_index=True, return_inverse=True
    )
    totals = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(totals, inverse, np.concatenate(counts))
    order = np.lexsort((distinct, -totals))[:most]
    words = pa.chunked_array(texts, pa.string()).take(pa.array(first[order]))
    return build_vocabulary(words.combine_chunks(), totals[order])
