"""The words of a table as numbers: folding, counting and looking up."""

import dataclasses
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.arrow.flat_columns import fields_of, texts_of
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels.hmm.model1 import Spellings
from pairweave.transforms.kernels.hmm.sides import Side
from pairweave.transforms.kernels.text import words as kernels
from pairweave.transforms.kernels.text.utf8 import FlatTexts

ROWS = 65_536
"""Number of rows whose letters are in memory at once."""

_WHOLE = 1 << 30

Cut = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Tokens of one side of some pairs, from `cut`."""


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """Known words of one side, the commonest first, and their stems.

    Attributes:
        words: Folded words, string.
        counts: How often each occurred, int64.
        letter_offsets: Where each word's letters begin, int64 ``[word + 1]``.
        letters: Folded code points, int32.
        stems: Stem of each word, int32, numbered in order of appearance.
        word_table: Hashes and numbers of the words.
        stem_table: Hashes and numbers of the stems.
        stem_count: Number of stems.
    """

    words: pa.Array
    counts: np.ndarray
    letter_offsets: np.ndarray
    letters: np.ndarray
    stems: np.ndarray
    word_table: tuple[np.ndarray, np.ndarray]
    stem_table: tuple[np.ndarray, np.ndarray]
    stem_count: int

    def __len__(self) -> int:
        """Return the number of words."""
        return len(self.counts)

    @property
    def spellings(self) -> Spellings:
        """Return the letters of the words as they are written."""
        return Spellings(self.letter_offsets, self.letters)

    def number(self, letter_offsets: np.ndarray, letters: np.ndarray) -> np.ndarray:
        """Return the number of each token; see `transforms.kernels.text.words.look_up`."""
        return kernels.look_up(letter_offsets, letters, *self.word_table, *self.stem_table)

    def side(self, pair_offsets: np.ndarray, offsets: np.ndarray, letters: np.ndarray) -> Side:
        """Return one side of some pairs in the form for kernels."""
        return Side(pair_offsets, self.number(offsets, letters), offsets, letters)


def cut(table: pa.Table, side: str) -> Iterator[Cut]:
    """Yield the folded tokens of a table's ``source`` or ``target``, in batches of rows.

    Yields:
        Where each pair's tokens begin, int64 ``[pair + 1]``; where each token's letters begin,
        int64 ``[token + 1]``; and the letters, int32.
    """
    for batch in table.select([side, f"{side}_tokens"]).to_batches(max_chunksize=ROWS):
        yield _folded(texts_of(batch.column(0)), *fields_of(batch.column(1)))


def cut_pairs(table: pa.Table) -> Iterator[tuple[Cut, Cut]]:
    """Yield the folded tokens of sources and targets as `cut` does, in batches of the same rows."""
    names = ["source", "source_tokens", "target", "target_tokens"]
    for batch in table.select(names).to_batches(max_chunksize=ROWS):
        source, target = [
            (texts_of(batch.column(place)), *fields_of(batch.column(place + 1))) for place in (0, 2)
        ]
        yield _folded(*source), _folded(*target)


def _folded(flat: FlatTexts, offsets: np.ndarray, spans: dict[str, np.ndarray]) -> Cut:
    tokens = slice(offsets[0], offsets[-1])
    pair_offsets = offsets - offsets[0]
    starts, ends = spans["start"][tokens], spans["end"][tokens]
    return pair_offsets, *kernels.fold_tokens(*flat, pair_offsets, starts, ends, *kernels.folding())


def build_vocabulary(words: pa.Array, counts: np.ndarray) -> Vocabulary:
    """Make the look-up tables of distinct words.

    Raises:
        ConfigError: Two words have the same hash, or a word occurs twice.
    """
    offsets = np.zeros(len(words) + 1, dtype=np.int64)
    np.cumsum(np.asarray(pc.utf8_length(words)), out=offsets[1:])
    letters = np.frombuffer("".join(words.to_pylist()).encode("utf-32-le"), dtype=np.int32).copy()
    hashes = kernels.hash_tokens(offsets, letters, _WHOLE)
    word_table = _empty_table(len(words))
    twice = kernels.fill_table(*word_table, hashes)
    if twice >= 0:
        raise ConfigError(f"the word {words[twice].as_py()!r} is twice in the vocabulary")
    stem_hashes = kernels.hash_tokens(offsets, letters, kernels.STEM_LETTERS)
    stems, _, _ = kernels.count_distinct(stem_hashes)
    stem_table = _empty_table(len(stems))
    kernels.fill_table(*stem_table, stems)
    numbers = kernels.numbers_of(stem_hashes, *stem_table)
    return Vocabulary(words, counts, offsets, letters, numbers, word_table, stem_table, len(stems))


def collect_vocabulary(table: pa.Table, side: str, most: int) -> Vocabulary:
    """Count the words of one side and keep the ``most`` commonest; hashes break ties."""
    hashes = [np.empty(0, dtype=np.uint64)]
    counts = [np.empty(0, dtype=np.int64)]
    texts = [pa.array([], pa.string())]
    for _, offsets, letters in cut(table, side):
        distinct_hashes, times, firsts = kernels.count_distinct(
            kernels.hash_tokens(offsets, letters, _WHOLE)
        )
        hashes.append(distinct_hashes)
        counts.append(times)
        text = letters.tobytes().decode("utf-32-le")
        ends = zip(offsets[firsts].tolist(), offsets[firsts + 1].tolist(), strict=True)
        texts.append(pa.array([text[start:end] for start, end in ends], pa.string()))
    distinct, first, inverse = np.unique(
        np.concatenate(hashes), return_index=True, return_inverse=True
    )
    totals = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(totals, inverse, np.concatenate(counts))
    order = np.lexsort((distinct, -totals))[:most]
    words = pa.chunked_array(texts, pa.string()).take(pa.array(first[order]))
    return build_vocabulary(pa.concat_arrays(words.chunks), totals[order])


def _empty_table(items: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an empty open-addressing table that is at most half full with ``items``."""
    size = 1 << (2 * items + 1).bit_length()
    return np.zeros(size, dtype=np.uint64), np.zeros(size, dtype=np.int32)
