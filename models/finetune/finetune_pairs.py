"""Pairs to train on: cut into pieces, in random order, joined and masked."""

import dataclasses
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import xxhash

from pairweave.models.encoder.batching import cut_batches
from pairweave.models.encoder.encoder import Encoder
from pairweave.models.encoder.pieces import TOO_LONG_FOR_ENCODER, Tokens, cut_pieces, tokens_of
from pairweave.models.finetune.finetune_config import FinetuneConfig
from pairweave.transforms import ids, schemas
from pairweave.transforms.arrow import flat_columns
from pairweave.transforms.kernels.sampling import STEP_NEGATIVE, STEP_TRAINING_ORDER
from pairweave.transforms.kernels.training_draws import draw_each, mask_pieces
from pairweave.transforms.screen import ScreenReject

_CHUNK_PAIRS = 8192
_WINDOW_UPDATES = 64
"""Updates in one window; pairs of similar length within it are grouped."""

_NO_PIECES = {"source": str(ScreenReject.EMPTY_SOURCE), "target": str(ScreenReject.EMPTY_TARGET)}


@dataclasses.dataclass(frozen=True, slots=True)
class Texts:
    """One side of all pairs.

    Attributes:
        offsets: Offsets of the texts' pieces, int64 ``[pair + 1]``.
        ids: Vocabulary numbers, int32 ``[piece]``.
        words: The first token that each piece overlaps, counted within the text; -1 if none,
            int32 ``[piece]``.
    """

    offsets: np.ndarray
    ids: np.ndarray
    words: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """Return the number of pieces of each text, int64 ``[pair]``."""
        return np.diff(self.offsets)

    def take(self, pairs: np.ndarray) -> "Texts":
        """Return the texts of the given pairs, in their order."""
        places, offsets = _places(self.offsets, pairs)
        return Texts(offsets, self.ids[places], self.words[places])


@dataclasses.dataclass(frozen=True, slots=True)
class TrainingPairs:
    """Pairs that can be trained on.

    Attributes:
        keys: Keys for the pairs' draws, uint64 ``[pair]``.
        source: The source side.
        target: The target side.
    """

    keys: np.ndarray
    source: Texts
    target: Texts

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.keys)

    @property
    def digest(self) -> str:
        """Return a hash of all pieces and words."""
        state = xxhash.xxh3_128(self.keys.tobytes())
        for side in (self.source, self.target):
            for values in (side.offsets, side.ids, side.words):
                state.update(values.tobytes())
        return state.hexdigest()


@dataclasses.dataclass(frozen=True, slots=True)
class Rows:
    """Sequences for the encoder, without the special pieces at both ends.

    Attributes:
        offsets: Offsets of the sequences' pieces, int64 ``[row + 1]``.
        ids: Input pieces, masked ones replaced, int64 ``[piece]``.
        labels: The original of each masked piece, -1 for others, int64 ``[piece]``.
        answers: For parallel sentence identification: 1 if the sides are translations ``[row]``.
    """

    offsets: np.ndarray
    ids: np.ndarray
    labels: np.ndarray
    answers: np.ndarray

    @property
    def lengths(self) -> np.ndarray:
        """Return the number of pieces of each row."""
        return np.diff(self.offsets)


def prepare_pairs(
    table: pa.Table, encoder: Encoder, config: FinetuneConfig
) -> tuple[TrainingPairs, dict[int, tuple[str, str]]]:
    """Cut pairs into pieces.

    Args:
        table: Pairs with token offsets (`transforms.schemas.TOKENS`).
        encoder: Supplies the tokenizer and the length limit.
        config: Sets the maximum length of a side.

    Returns:
        The pairs; and the reason and detail of each rejected pair, by row of ``table``.
    """
    schemas.require(table, schemas.TOKENS)
    limit = longest_side(encoder, config)
    rejected: dict[int, tuple[str, str]] = {}
    sides = {}
    for side in ("source", "target"):
        sides[side] = _cut_side(table, side, encoder)
        for row in np.flatnonzero(sides[side].lengths == 0).tolist():
            rejected.setdefault(row, (_NO_PIECES[side], "the encoder's tokenizer finds no piece"))
        for row in np.flatnonzero(sides[side].lengths > limit).tolist():
            detail = f"{side} has {sides[side].lengths[row]} pieces > {limit}"
            rejected.setdefault(row, (TOO_LONG_FOR_ENCODER, detail))
    kept = np.delete(np.arange(table.num_rows), sorted(rejected))
    keys = ids.pair_keys(table.column("id"))[kept]
    pairs = TrainingPairs(keys, sides["source"].take(kept), sides["target"].take(kept))
    return pairs, dict(sorted(rejected.items()))


def longest_side(encoder: Encoder, config: FinetuneConfig) -> int:
    """Return the maximum pieces of a side, so that two sides together fit the encoder."""
    special = len(encoder.prefix) + len(encoder.suffix)
    return min(config.max_pieces, (encoder.limit - special) // 2)


def _cut_side(table: pa.Table, side: str, encoder: Encoder) -> Texts:
    """Cut one side of all pairs, in chunks because a tokenizer's result is large."""
    offsets, pieces, words = [np.zeros(1, dtype=np.int64)], [], []
    for start in range(0, table.num_rows, _CHUNK_PAIRS):
        chunk = table.slice(start, _CHUNK_PAIRS).combine_chunks()
        cut = cut_pieces(encoder.tokenizer, chunk.column(side).to_pylist())
        token_offsets, fields = flat_columns.fields_of(chunk.column(f"{side}_tokens"))
        token_offsets = np.asarray(token_offsets, dtype=np.int64)
        tokens = Tokens(token_offsets, fields["start"], fields["end"])
        first, last = tokens_of(cut, tokens)
        offsets.append(cut.offsets[1:] + offsets[-1][-1])
        pieces.append(cut.ids.astype(np.int32))
        words.append(np.where(last > first, first, -1).astype(np.int32))
    nothing = np.zeros(0, dtype=np.int32)
    return Texts(
        np.concatenate(offsets),
        np.concatenate([nothing, *pieces]),
        np.concatenate([nothing, *words]),
    )


def updates_of_epoch(pairs: TrainingPairs, config: FinetuneConfig, epoch: int) -> list[np.ndarray]:
    """Return the pairs of each update of an epoch, int64 arrays.

    Pairs are shuffled; within windows of 64 updates, pairs of similar length are grouped into
    updates; then the updates are shuffled.
    """
    seed, size = np.uint64(config.seed), config.batch_pairs
    order = np.argsort(draw_each(seed, pairs.keys, STEP_TRAINING_ORDER, np.uint64(epoch)))
    lengths = pairs.source.lengths + pairs.target.lengths
    updates = []
    for start in range(0, len(order), size * _WINDOW_UPDATES):
        window = order[start : start + size * _WINDOW_UPDATES]
        window = window[np.argsort(lengths[window], kind="stable")]
        updates += [window[first : first + size] for first in range(0, len(window), size)]
    places = np.arange(len(updates), dtype=np.uint64)
    drawn = draw_each(seed, places, STEP_TRAINING_ORDER, np.uint64(epoch + (1 << 32)))
    return [updates[place] for place in np.argsort(drawn, kind="stable")]


class RowMaker:
    """Makes the rows of an update for each objective; draws depend only on the pairs."""

    def __init__(
        self, pairs: TrainingPairs, encoder: Encoder, config: FinetuneConfig, mask: int | None
    ) -> None:
        """Keep the data that rows are made from.

        Args:
            pairs: All pairs.
            encoder: Supplies the special pieces.
            config: Supplies the seed and the share of masked pieces.
            mask: The mask piece, None if no language model is trained.
        """
        self._pairs = pairs
        self._seed = np.uint64(config.seed)
        self._share = config.mask_share
        self._mask = -1 if mask is None else mask
        between = [encoder.suffix, encoder.prefix]
        self._between = np.concatenate(between).astype(np.int64)
        special = {encoder.padding, self._mask, *encoder.prefix.tolist(), *encoder.suffix.tolist()}
        vocabulary = np.arange(encoder.tokenizer.get_vocab_size())
        self._others = np.setdiff1d(vocabulary, sorted(special))

    def masked_sides(self, chosen: np.ndarray, epoch: int) -> Iterator[Rows]:
        """Yield the rows of masked language modelling: the sources, then the targets."""
        for step, side in enumerate((self._pairs.source, self._pairs.target)):
            texts = side.take(chosen)
            hidden, labels = self._hide(texts, chosen, epoch, step)
            yield Rows(texts.offsets, hidden, labels, np.zeros(len(chosen), dtype=np.int64))

    def masked_pairs(self, chosen: np.ndarray, epoch: int) -> Iterator[Rows]:
        """Yield the rows of translation language modelling.

        There are four groups: both orders of the sides, each with one side masked and then the
        other. All masked pieces of a row are in one language.
        """
        sides = self._pairs.source.take(chosen), self._pairs.target.take(chosen)
        plain = [side.ids.astype(np.int64) for side in sides]
        nothing = [np.full(len(side.ids), -1, dtype=np.int64) for side in sides]
        for first in (0, 1):
            for masked in (0, 1):
                step = 2 + 2 * first + masked
                seen, labels = list(plain), list(nothing)
                seen[masked], labels[masked] = self._hide(sides[masked], chosen, epoch, step)
                second = 1 - first
                offsets, (joined, wanted) = self._join(
                    (sides[first].offsets, sides[second].offsets),
                    ((seen[first], seen[second]), (labels[first], labels[second])),
                )
                yield Rows(offsets, joined, wanted, np.zeros(len(chosen), dtype=np.int64))

    def parallel_or_not(self, chosen: np.ndarray, epoch: int) -> Iterator[Rows]:
        """Yield the rows of parallel sentence identification: translations, then negatives.

        A negative has one side of its pair and the other side of a random pair. The side that is
        kept and the order of the sides are random, too.
        """
        pairs, count = self._pairs, len(self._pairs)
        keys = pairs.keys[chosen]
        bits = draw_each(self._seed, keys, STEP_NEGATIVE, np.uint64(2 * epoch))
        flips = draw_each(self._seed, keys, STEP_NEGATIVE, np.uint64(2 * epoch + 1))
        # Any pair except the pair itself.
        shift = 1 + (bits >> np.uint64(32)).astype(np.int64) % max(count - 1, 1)
        strangers = (chosen + shift) % count
        for answer in (1, 0):
            turned = (flips >> np.uint64(62 + answer)) & np.uint64(1)
            keeps_source = ((flips >> np.uint64(61)) & np.uint64(1)).astype(np.bool_)
            lefts, rights = chosen, chosen
            if not answer:
                lefts = np.where(keeps_source, chosen, strangers)
                rights = np.where(keeps_source, strangers, chosen)
            yield self._pair_rows(lefts, rights, turned.astype(np.bool_), answer)

    def _pair_rows(
        self, sources: np.ndarray, targets: np.ndarray, turned: np.ndarray, answer: int
    ) -> Rows:
        """Join sources and targets, with the target first where ``turned`` is True."""
        source, target = self._pairs.source.take(sources), self._pairs.target.take(targets)
        both = Texts(
            np.concatenate([source.offsets, target.offsets[1:] + source.offsets[-1]]),
            np.concatenate([source.ids, target.ids]),
            np.concatenate([source.words, target.words]),
        )
        rows = np.arange(len(sources))
        first = both.take(np.where(turned, rows + len(rows), rows))
        second = both.take(np.where(turned, rows, rows + len(rows)))
        parts = (first.ids.astype(np.int64), second.ids.astype(np.int64))
        offsets, (joined,) = self._join((first.offsets, second.offsets), (parts,))
        labels = np.full(len(joined), -1, dtype=np.int64)
        return Rows(offsets, joined, labels, np.full(len(rows), answer, dtype=np.int64))

    def _hide(
        self, texts: Texts, chosen: np.ndarray, epoch: int, step: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return pieces with some masked, and the originals of these (-1 elsewhere)."""
        pieces = texts.ids.astype(np.int64)
        hidden, picked = mask_pieces(
            pieces,
            texts.offsets,
            self._pairs.keys[chosen],
            self._seed,
            np.uint64(epoch * 8 + step),
            self._share,
            self._mask,
            self._others,
        )
        return hidden, np.where(picked, pieces, -1)

    def _join(
        self,
        offsets: tuple[np.ndarray, np.ndarray],
        columns: tuple[tuple[np.ndarray, np.ndarray], ...],
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """Join first and second texts, with the special pieces that each has on its own.

        Args:
            offsets: Offsets of the first and of the second texts, ``[row + 1]`` each.
            columns: Values of the first and of the second texts' pieces. Special pieces are
                inserted between them in the first column, -1 in the others.

        Returns:
            The joined offsets and columns.
        """
        lengths = [np.diff(part) for part in offsets]
        gap = len(self._between)
        total = np.concatenate([[0], np.cumsum(lengths[0] + gap + lengths[1])]).astype(np.int64)
        places = [
            np.arange(part[-1]) + np.repeat(start - part[:-1], length)
            for part, start, length in (
                (offsets[0], total[:-1], lengths[0]),
                (offsets[1], total[:-1] + lengths[0] + gap, lengths[1]),
            )
        ]
        between = (total[:-1] + lengths[0])[:, None] + np.arange(gap)
        joined = []
        for number, column in enumerate(columns):
            values = np.full(total[-1], -1, dtype=np.int64)
            if number == 0:
                values[between] = self._between
            for place, part in zip(places, column, strict=True):
                values[place] = part
            joined.append(values)
        return total, joined


def cut_rows(lengths: np.ndarray, special: int, budget: int) -> Iterator[np.ndarray]:
    """Yield the rows of each batch of an update, by similar length and within the budget."""
    for batch in cut_batches(lengths + special, budget):
        yield batch.members


def _places(offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of the given rows' pieces in a flat array, and the rows' new offsets."""
    lengths = np.diff(offsets)[rows]
    taken = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
    places = np.arange(taken[-1]) + np.repeat(offsets[rows] - taken[:-1], lengths)
    return places, taken
