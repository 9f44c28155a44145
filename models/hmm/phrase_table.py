"""Phrases and their translations, counted in the pairs that an aligner was fitted on.

Phrase pairs are those of Och, Tillmann and Ney (1999), weighted by relative frequency (Koehn, Och
and Marcu 2003, section 2): here by the geometric mean over both directions.
"""

import dataclasses
import functools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pairweave.models.hmm.hmm import HmmModel
from pairweave.models.hmm.hmm_vocabulary import cut
from pairweave.models.hmm.model_tables import unpack_table
from pairweave.transforms.arrow.flat_columns import fields_of
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels.hmm import phrase_table as kernel
from pairweave.transforms.kernels.text import words as word_kernels
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.phrase_extraction import PhraseConfig, extract_phrases
from pairweave.transforms.links.symmetrize import symmetrize

MAX_WORDS = 6
"""Longest phrase on either side (Hanneman and Dinu 2020, section 5.1: fragments of up to 6)."""

MIN_COUNT = 2
"""Minimum occurrences of a phrase pair: one seen only once may be an error of the aligner."""

MIN_WEIGHT = 0.3
"""Minimum weight of a phrase pair (with a lower minimum, fewer tags agreed with gold links)."""

MAX_CHOICES = 4
"""Maximum number of translations of a phrase."""

MAX_ENTRIES = 500_000
"""Maximum number of phrase pairs in a table; the commonest are kept: at most about 30 MB."""

MAX_PAIRS = 100_000
"""Number of pairs to count phrases in, the first by id; limits the time and memory needed."""

FILE = "phrases.arrow"
"""Name of the phrase table's file in a model's directory."""

_CHUNK_PAIRS = 8_192

_SCHEMA = pa.schema(
    [
        ("source", pa.list_(pa.field("item", pa.int32(), nullable=False))),
        ("target", pa.list_(pa.field("item", pa.int32(), nullable=False))),
        ("count", pa.int32()),
        ("weight", pa.float32()),
    ]
)


@dataclasses.dataclass(frozen=True)
class PhraseTable:
    """Phrases and their translations, as numbers of words in an aligner's vocabularies.

    Attributes:
        table: Phrase pairs; those of one source phrase are consecutive, best first. ``source`` and
            ``target`` are words, ``count`` is the number of times that they are a phrase pair, and
            ``weight`` the geometric mean of its shares in the source phrase's count and in the
            target phrase's count.
    """

    table: pa.Table

    def __len__(self) -> int:
        """Return the number of phrase pairs."""
        return int(self.table.num_rows)

    @functools.cached_property
    def targets(self) -> tuple[np.ndarray, np.ndarray]:
        """Return where the words of each target begin, int64, and their numbers, int32."""
        return _flat(self.table, "target")

    @functools.cached_property
    def choice_offsets(self) -> np.ndarray:
        """Return where the phrase pairs of each source phrase begin, int64 ``[phrase + 1]``."""
        offsets, words = _flat(self.table, "source")
        hashes = kernel.hash_runs(words, offsets[:-1], offsets[1:])
        changes = np.flatnonzero(hashes[1:] != hashes[:-1]) + 1
        return np.concatenate([[0], changes, [len(self)]])[len(self) == 0 :].astype(np.int64)

    def find(self, offsets: np.ndarray, numbers: np.ndarray) -> np.ndarray:
        """Return the number of each run of words among the source phrases, or -1, int64.

        Args:
            offsets: Where each run begins, int64 ``[run + 1]``.
            numbers: Words in the aligner's source vocabulary, int32; unknown words are below 0.
        """
        return kernel.find_runs(offsets, numbers, *self._sources)

    @functools.cached_property
    def _sources(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return a hash table of the source phrases, where each begins, and their words."""
        offsets, words = _flat(self.table, "source")
        firsts = self.choice_offsets[:-1]
        phrases = _runs(words, offsets[:-1][firsts], offsets[1:][firsts])
        starts = phrases.offsets.to_numpy().astype(np.int64)
        words = phrases.values.to_numpy()
        hashes = kernel.hash_runs(words, starts[:-1], starts[1:])
        size = 1 << (2 * len(hashes) + 1).bit_length()
        keys, ids = np.zeros(size, np.uint64), np.zeros(size, np.int32)
        if word_kernels.fill_table(keys, ids, hashes) >= 0:
            raise ConfigError(f"{FILE}: the phrase pairs of a source do not follow each other")
        return keys, ids, starts, words


class _Counted(NamedTuple):
    """The phrase pairs of some pairs: hashes of both sides, and the places of their words."""

    source: np.ndarray
    target: np.ndarray
    spans: np.ndarray


def build_phrase_table(model: HmmModel, table: pa.Table, threads: int = 1) -> PhraseTable:
    """Count the phrase pairs of the model's own links.

    Pairs of single words are left out, because the aligner's lexicon describes them better.

    Args:
        model: The fitted aligner.
        table: Pairs with tokens (`transforms.schemas.TOKENS`), sorted by id.
        threads: Number of threads; does not change the result.
    """
    table = table.slice(0, MAX_PAIRS)
    source, target = (_number(model, table, side) for side in ("source", "target"))
    with ThreadPoolExecutor(threads) as pool:
        links = pool.map(lambda chunk: _boxes(model, chunk), _chunks(table))
        parts = list(_count(links, source, target))
    hashes, others, spans = (
        np.concatenate([part[field] for part in parts], axis=-1) for field in range(3)
    )
    _, own = np.unique(hashes, return_inverse=True)
    partners, their = np.unique(others, return_inverse=True)
    _, firsts, counts = np.unique(
        own * len(partners) + their, return_index=True, return_counts=True
    )
    shares = [counts / np.bincount(side)[side[firsts]] for side in (own, their)]
    weights = np.sqrt(shares[0] * shares[1])
    sizes = (spans[1] - spans[0])[firsts], (spans[3] - spans[2])[firsts]
    fit = (counts >= MIN_COUNT) & (weights >= MIN_WEIGHT) & (np.maximum(*sizes) > 1)
    common = np.flatnonzero(fit)
    common = common[np.lexsort((others[firsts[common]], hashes[firsts[common]], -counts[common]))]
    kept = common[:MAX_ENTRIES]
    kept = kept[np.lexsort((others[firsts[kept]], -weights[kept], hashes[firsts[kept]]))]
    rank = np.arange(len(kept)) - np.searchsorted(hashes[firsts[kept]], hashes[firsts[kept]])
    kept = kept[rank < MAX_CHOICES]
    at = spans[:, firsts[kept]]
    columns = [
        _runs(source[1], at[0], at[1]),
        _runs(target[1], at[2], at[3]),
        pa.array(counts[kept], pa.int32()),
        pa.array(weights[kept], pa.float32()),
    ]
    return PhraseTable(pa.Table.from_arrays(columns, schema=_SCHEMA))


def pack(phrases: PhraseTable) -> bytes:
    """Return a table as an Arrow IPC file; the same table gives the same bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, _SCHEMA) as writer:
        writer.write_table(phrases.table.combine_chunks())
    return bytes(sink.getvalue().to_pybytes())


def unpack(data: bytes, model: HmmModel) -> PhraseTable:
    """Read what `pack` wrote.

    Args:
        data: The file.
        model: The aligner whose words it refers to by number.

    Raises:
        ConfigError: It is damaged, or names a word that the model does not have.
    """
    table = unpack_table(FILE, data, _SCHEMA)
    for side, vocabulary in (("source", model.parts.source), ("target", model.parts.target)):
        offsets, words = _flat(table, side)
        inside = len(words) == 0 or (words.min() >= 0 and words.max() < len(vocabulary))
        if not inside or (len(offsets) > 1 and np.diff(offsets).min() < 1):
            raise ConfigError(f"{FILE}: a {side} names no words of the model; fit it again")
    return PhraseTable(table)


def _flat(table: pa.Table, side: str) -> tuple[np.ndarray, np.ndarray]:
    column = table.column(side).combine_chunks()
    lists = column if isinstance(column, pa.ListArray) else column.chunk(0)
    offsets = lists.offsets.to_numpy().astype(np.int64)
    return offsets - offsets[0], lists.flatten().to_numpy()


def _number(model: HmmModel, table: pa.Table, side: str) -> tuple[np.ndarray, np.ndarray]:
    """Return where each pair's words on a side begin, int64, and their numbers, int32."""
    vocabulary = model.parts.source if side == "source" else model.parts.target
    numbers, sizes = [np.zeros(0, np.int32)], [np.zeros(1, np.int64)]
    for pair_offsets, letter_offsets, letters in cut(table, side):
        numbers.append(vocabulary.number(letter_offsets, letters))
        sizes.append(np.diff(pair_offsets))
    return np.cumsum(np.concatenate(sizes)), np.concatenate(numbers)


def _chunks(table: pa.Table) -> Iterator[pa.Table]:
    for first in range(0, table.num_rows, _CHUNK_PAIRS):
        yield table.slice(first, _CHUNK_PAIRS)


def _boxes(model: HmmModel, table: pa.Table) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return where each pair's phrase pairs begin, and the start and end of both their sides."""
    linked = symmetrize(model.align(table.combine_chunks()), SymmetrizeConfig())
    phrases = extract_phrases(linked, PhraseConfig(max_words=MAX_WORDS))
    offsets, fields = fields_of(phrases.column("phrases"))
    ends = ("source_start", "source_end", "target_start", "target_end")
    return offsets, [fields[name] for name in ends]


def _count(
    links: Iterator[tuple[np.ndarray, list[np.ndarray]]],
    source: tuple[np.ndarray, np.ndarray],
    target: tuple[np.ndarray, np.ndarray],
) -> Iterator[_Counted]:
    first = 0
    for offsets, boxes in links:
        pair = first + np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        first += len(offsets) - 1
        spans = np.stack(
            [
                side[0][pair] + box
                for side, box in zip((source, source, target, target), boxes, strict=True)
            ]
        )
        hashes = kernel.hash_runs(source[1], spans[0], spans[1])
        others = kernel.hash_runs(target[1], spans[2], spans[3])
        known = (hashes != 0) & (others != 0)
        yield _Counted(hashes[known], others[known], spans[:, known].astype(np.int32))


def _runs(numbers: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> pa.ListArray:
    """Return runs of words as lists."""
    sizes = ends - starts
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    inside = np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1])
    kind = _SCHEMA.field("source").type
    return pa.ListArray.from_arrays(
        pa.array(offsets.astype(np.int32)), pa.array(numbers[inside]), type=kind
    )
