"""Measures how usual the order of words is, by the target text that an aligner was fitted on.

An interpolated trigram model of word classes (`transforms.kernels.hmm.word_order`) with absolute
discounting by 1 (Ney, Essen and Kneser 1994): a count of 1 contributes nothing, so a pair that the
model was fitted on does not vouch for itself. An unusual order shows as a low probability of a
class given its context, relative to that of the class alone, which vocabulary and domain hardly
change.
"""

import dataclasses
import functools

import numpy as np
import pyarrow as pa

from pairweave.models.hmm.hmm_vocabulary import Vocabulary, cut
from pairweave.models.hmm.model_tables import unpack_table
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels.hmm import word_order as kernel
from pairweave.transforms.kernels.hmm.sides import Side
from pairweave.transforms.kernels.text.words import fill_table

MAX_TOKENS = 5_000_000
"""Number of tokens to count, of the first pairs by id; limits the time and memory needed."""

FILE = "word_order.arrow"
"""Name of the file in a model's directory."""

_SCHEMA = pa.schema([("key", pa.uint64()), ("value", pa.float32())])


@dataclasses.dataclass(frozen=True)
class WordOrder:
    """A trigram model of the target side.

    Attributes:
        keys: Hashes of classes, n-grams and contexts, ascending, uint64.
        values: Their probabilities, discounted shares and remaining masses, float32.
    """

    keys: np.ndarray
    values: np.ndarray

    @functools.cached_property
    def _table(self) -> kernel.Table:
        size = 1 << (2 * len(self.keys) + 1).bit_length()
        keys, ids = np.zeros(size, np.uint64), np.zeros(size, np.int32)
        fill_table(keys, ids, self.keys)
        values = self.values.view()
        values.flags.writeable = False  # the same type for Numba, whether counted or read
        return kernel.Table(keys, ids, values)

    def roughness(self, side: Side) -> np.ndarray:
        """Return how unusual the order of the words of each text is, float32 ``[text]``.

        0 for the most usual; see `transforms.kernels.hmm.word_order.roughness`.
        """
        return kernel.roughness(side, self._table)


def build_word_order(vocabulary: Vocabulary, table: pa.Table) -> WordOrder:
    """Count the classes of the target words of pairs.

    Args:
        vocabulary: The aligner's target words.
        table: Pairs with tokens (`transforms.schemas.TOKENS`), sorted by id.
    """
    keys_of_blocks, left = [_keys(vocabulary.side(*_NOTHING))], MAX_TOKENS
    for pair_offsets, offsets, letters in cut(table, "target"):
        pairs = int(np.searchsorted(pair_offsets, left, side="right")) - 1
        kept = pair_offsets[: pairs + 1]
        left -= int(kept[-1])
        keys_of_blocks.append(
            _keys(vocabulary.side(kept, offsets[: kept[-1] + 1], letters[: offsets[kept[-1]]]))
        )
        if pairs < len(pair_offsets) - 1:
            break
    single, double, triple, after_one, after_two = np.concatenate(keys_of_blocks, axis=1)
    parts = [_singles(single), _longer(double, after_one), _longer(triple, after_two)]
    keys, values = (np.concatenate([part[item] for part in parts]) for item in range(2))
    keys, firsts = np.unique(keys, return_index=True)
    return WordOrder(keys, values[firsts].astype(np.float32))


_NOTHING = (np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int32))


def _keys(side: Side) -> np.ndarray:
    return np.stack(kernel.grams(side))


def _singles(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability of each class, and of classes seen once or never."""
    known, counts = np.unique(keys, return_counts=True)
    total = len(keys) + 1
    often = counts > 1
    unseen = np.array([kernel.unseen_key()], np.uint64)
    return np.append(known[often], unseen), np.append(counts[often] / total, 1 / total)


def _longer(keys: np.ndarray, contexts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the discounted share of each n-gram, and the remaining mass of each context."""
    known, firsts, counts = np.unique(keys, return_index=True, return_counts=True)
    before, places = np.unique(contexts[firsts], return_inverse=True)
    totals = np.bincount(places, counts, minlength=len(before)) + 1
    left = (np.bincount(places, minlength=len(before)) + 1) / totals
    often = counts > 1
    return (
        np.concatenate([known[often], before[left < 1]]),
        np.concatenate([(counts[often] - 1) / totals[places[often]], left[left < 1]]),
    )


def pack(order: WordOrder) -> bytes:
    """Return a model as an Arrow IPC file; the same model gives the same bytes."""
    sink = pa.BufferOutputStream()
    columns = [pa.array(order.keys), pa.array(order.values)]
    with pa.ipc.new_file(sink, _SCHEMA) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=_SCHEMA))
    return bytes(sink.getvalue().to_pybytes())


def unpack(data: bytes) -> WordOrder:
    """Read what `pack` wrote.

    Raises:
        ConfigError: It is damaged.
    """
    table = unpack_table(FILE, data, _SCHEMA)
    keys, values = (table.column(name).to_numpy() for name in _SCHEMA.names)
    if not np.all(keys[1:] > keys[:-1]) or kernel.unseen_key() not in keys:
        raise ConfigError(f"{FILE}: its keys are not whole and in order; fit the model again")
    if not np.all((values > 0) & (values <= 1)):
        raise ConfigError(f"{FILE}: a value is not in (0, 1]; fit the model again")
    return WordOrder(keys, values)
