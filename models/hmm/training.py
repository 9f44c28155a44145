"""Training of the statistical aligner: vocabulary, lexicon, then rounds of expectation.

Threads share only what they read. Counts are integers, and jumps and likelihoods are summed chunk
by chunk in order, so no bit depends on the number of threads.
"""

import dataclasses
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
import pyarrow as pa

from pairweave.models.hmm.hmm_config import HmmConfig
from pairweave.models.hmm.hmm_parts import Parts, know_words
from pairweave.models.hmm.hmm_vocabulary import Vocabulary, collect_vocabulary, cut
from pairweave.transforms.kernels.hmm import agreement, model1
from pairweave.transforms.kernels.hmm.emissions import Lexicon
from pairweave.transforms.kernels.hmm.hmm import JUMPS
from pairweave.transforms.kernels.hmm.model1 import FIXED_POINT
from pairweave.transforms.kernels.hmm.sides import Side

CHUNK_PAIRS = 1024
"""Pairs whose jumps and likelihood are summed before they join the others'."""

MAX_COUNTER_BYTES = 4 << 30
"""Each thread needs its own counters; this many bytes limit the number of threads."""

NULL_PRIOR = 100.0
"""Occurrences that a word's frequency is worth in its probability given nothing (flat)."""

JUMP_PRIOR = 0.5
"""Occurrences that each jump distance begins with."""

FIRST_JUMP_DECAY = 8.0
"""The jumps begin as ``exp(-abs(distance - 1) / 8)``: nearly flat."""

MIN_COUNT = FIXED_POINT >> 10
"""Entries of fewer links are not kept in the fitted model: the back-off stands for them."""

SAY_SECONDS = 10.0
"""Time between messages on how far a fit is."""

_LOG = logging.getLogger("pairweave")
_BLOCKS = 64

Result = TypeVar("Result")


@dataclasses.dataclass
class _State:
    """The state that a round of training changes."""

    counts: np.ndarray
    null_source: np.ndarray
    null_target: np.ndarray
    jumps: np.ndarray
    log_likelihoods: list[list[float]]


def train(table: pa.Table, config: HmmConfig, threads: int) -> Parts:
    """Fit all parts of a model; see `models.hmm.hmm.fit`."""
    with ThreadPoolExecutor(threads) as pool:
        source, target = (
            collect_vocabulary(table, side, config.max_vocabulary) for side in ("source", "target")
        )
        sides = _numbered(table, "source", source), _numbered(table, "target", target)
        row_offsets, columns, counts = _find_candidates(
            sides, source, target, config.max_translations, pool
        )
        lexicon = _Candidates(row_offsets, columns, source, target, config, pool)
        state = _State(
            counts,
            np.zeros(len(source), dtype=np.int64),
            np.zeros(len(target), dtype=np.int64),
            np.zeros((0, 0), dtype=np.float32),
            [],
        )
        del counts
        rounds, said = config.model1_iterations + config.hmm_iterations, time.monotonic()
        for iteration in range(rounds):
            if iteration == config.model1_iterations:
                state.jumps = _first_jumps()
            if time.monotonic() - said > SAY_SECONDS:
                said = time.monotonic()
                _LOG.info("fitting the aligner: %d of %d rounds done", iteration, rounds)
            parts = lexicon.maximize(state, pool)
            _expect(sides, parts, state, _counting_threads(threads, len(columns)), pool)
        parts = lexicon.maximize(state, pool)
    del lexicon
    return dataclasses.replace(
        _prune(parts, state.counts),
        report={
            "pairs": len(sides[0].offsets) - 1,
            "source_tokens": len(sides[0].words),
            "target_tokens": len(sides[1].words),
            "candidates": len(columns),
            "log_likelihoods": state.log_likelihoods,
        },
    )


def _find_candidates(
    sides: tuple[Side, Side],
    source: Vocabulary,
    target: Vocabulary,
    most: int,
    pool: ThreadPoolExecutor,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return row offsets, columns and first counts of the lexicon."""
    occurrences = model1.occurrences(sides[0].words, sides[0].offsets, len(source))
    begins = occurrences.begins
    found = _over_blocks(
        pool,
        # Blocks hold as many occurrences, not as many words.
        np.searchsorted(begins, np.linspace(0, begins[-1], _BLOCKS + 1)[1:-1]),
        len(source),
        lambda first, last: model1.candidates(
            first,
            last,
            occurrences,
            sides[1].words,
            sides[1].offsets,
            sides[0].offsets,
            target.counts,
            most,
        ),
    )
    sizes, columns, shares = (np.concatenate([part[item] for part in found]) for item in range(3))
    counts = shares.astype(np.float64)
    counts *= FIXED_POINT
    return (
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        columns,
        counts.astype(np.int64),
    )


class _Candidates:
    """The pairs of words in the lexicon, and all about them that no round changes."""

    def __init__(
        self,
        row_offsets: np.ndarray,
        columns: np.ndarray,
        source: Vocabulary,
        target: Vocabulary,
        config: HmmConfig,
        pool: ThreadPoolExecutor,
    ) -> None:
        """Compare their letters and find their stems."""
        self.row_offsets, self.columns = row_offsets, columns
        self._source, self._target, self._config = source, target, config
        self._blocks = np.searchsorted(
            self.row_offsets, np.linspace(0, len(self.columns), _BLOCKS + 1)[1:-1]
        )
        self._alike = np.empty(len(self.columns), dtype=np.float32)
        _over_blocks(
            pool,
            self._blocks,
            len(source),
            lambda first, last: model1.entry_likeness(
                first,
                last,
                self.row_offsets,
                self.columns,
                model1.Spellings(source.letter_offsets, source.letters),
                model1.Spellings(target.letter_offsets, target.letters),
                self._alike,
            ),
        )
        self._stem_offsets, self._stem_columns, self._stem_entry = model1.stem_entries(
            self.row_offsets,
            self.columns,
            source.stems,
            target.stems,
            source.stem_count,
            target.stem_count,
        )
        self._probabilities = np.empty((len(self.columns), 2), dtype=np.float32)

    def maximize(self, state: _State, pool: ThreadPoolExecutor) -> Parts:
        """Turn counts into probabilities."""
        source_mass, target_mass, stem_counts = model1.sum_counts(
            self.row_offsets,
            self.columns,
            state.counts,
            self._stem_entry,
            len(self._target),
            len(self._stem_columns),
        )
        prior = self._config.word_prior
        source_words = know_words(
            self._source, source_mass, _null(self._source, state.null_source), prior
        )
        target_words = know_words(
            self._target, target_mass, _null(self._target, state.null_target), prior
        )
        entries = model1.Entries(self.row_offsets, self.columns, self._stem_entry, self._alike)
        _over_blocks(
            pool,
            self._blocks,
            len(self._source),
            lambda first, last: model1.maximize(
                first,
                last,
                entries,
                state.counts,
                stem_counts,
                source_words,
                target_words,
                self._probabilities,
            ),
        )
        return Parts(
            self._config,
            self._source,
            self._target,
            source_words,
            target_words,
            Lexicon(
                self.row_offsets,
                self.columns,
                self._probabilities,
                self._stem_offsets,
                self._stem_columns,
                stem_counts,
            ),
            state.jumps,
            {},
        )


def _expect(
    sides: tuple[Side, Side],
    parts: Parts,
    state: _State,
    threads: int,
    pool: ThreadPoolExecutor,
) -> None:
    """Count links, jumps and words without a partner, given the parts of the last round."""
    pairs = len(sides[0].offsets) - 1
    starts = range(0, pairs, CHUNK_PAIRS)
    jump_counts = np.zeros((len(starts), 2, 2 * JUMPS + 1), dtype=np.float64)
    logs = np.zeros((len(starts), 2), dtype=np.float64)

    sizes = len(state.counts), len(parts.target), len(parts.source)
    state.counts = np.empty(0, dtype=np.int64)  # done with: not to be held beside the new ones

    def work(thread: int) -> list[np.ndarray]:
        totals = [np.zeros(size, dtype=np.int64) for size in sizes]
        for chunk in range(thread, len(starts), threads):
            logs[chunk] = agreement.expect(
                starts[chunk],
                min(starts[chunk] + CHUNK_PAIRS, pairs),
                *sides,
                parts.model,
                agreement.Counts(totals[0], totals[1], totals[2], jump_counts[chunk]),
            )
        return totals

    found = list(pool.map(work, range(threads)))
    state.counts, state.null_target, state.null_source = found[0]
    for more in found[1:]:
        state.counts += more[0]
        state.null_target += more[1]
        state.null_source += more[2]
    if not len(state.jumps):
        # Model 1 finds a partner for nearly every word: those without one say little.
        state.null_target[:] = 0
        state.null_source[:] = 0
    state.log_likelihoods.append([float(sum(column)) for column in logs.T.tolist()])
    if len(state.jumps):
        totals = np.full(jump_counts.shape[1:], JUMP_PRIOR)
        for part in jump_counts:
            totals += part
        state.jumps = (totals / totals.sum(axis=1, keepdims=True)).astype(np.float32)


def _counting_threads(threads: int, entries: int) -> int:
    """Return how many of the threads may have counters of so many entries."""
    return max(1, min(threads, MAX_COUNTER_BYTES // (8 * max(entries, 1))))


def _over_blocks(
    pool: ThreadPoolExecutor,
    inner: np.ndarray,
    words: int,
    work: Callable[[int, int], Result],
) -> list[Result]:
    """Apply a function to ranges of words, in threads; results are in order."""
    bounds = [0, *inner.tolist(), words]
    return list(pool.map(work, bounds[:-1], bounds[1:]))


def _first_jumps() -> np.ndarray:
    """Return the weights of jumps to begin with, float32 ``[direction, distance]``."""
    weights = np.exp(-np.abs(np.arange(-JUMPS, JUMPS + 1) - 1.0) / FIRST_JUMP_DECAY)
    return np.stack([weights, weights]).astype(np.float32)


def _null(words: Vocabulary, counts: np.ndarray) -> np.ndarray:
    """Return the probability of each word given nothing, and of an unseen word, float32.

    A word's frequency is its prior. An unseen word is taken as the mean of those seen once.
    """
    total = max(int(words.counts.sum()), 1)
    prior = NULL_PRIOR / total
    seen = counts / FIXED_POINT + prior * words.counts
    once = words.counts == words.counts.min() if len(words) else np.zeros(0, dtype=np.bool_)
    unseen = float(seen[once].mean()) if once.any() else 1.0
    return (np.append(seen, unseen) / (counts.sum() / FIXED_POINT + NULL_PRIOR)).astype(np.float32)


def _numbered(table: pa.Table, side: str, words: Vocabulary) -> Side:
    """Return the numbers of one side's tokens of all pairs, without their letters."""
    found = [np.empty(0, dtype=np.int32)]
    sizes = [np.zeros(1, dtype=np.int64)]
    for pair_offsets, letter_offsets, letters in cut(table, side):
        found.append(words.number(letter_offsets, letters))
        sizes.append(np.diff(pair_offsets))
    return Side(
        np.cumsum(np.concatenate(sizes)),
        np.concatenate(found),
        np.zeros(1, dtype=np.int64),
        np.zeros(0, dtype=np.int32),
    )


def _prune(parts: Parts, counts: np.ndarray) -> Parts:
    """Drop the entries that the back-off can stand for."""
    lexicon = parts.lexicon
    kept = counts >= MIN_COUNT
    stems_kept = lexicon.stem_counts >= MIN_COUNT / FIXED_POINT
    return dataclasses.replace(
        parts,
        lexicon=Lexicon(
            _kept_offsets(lexicon.row_offsets, kept),
            lexicon.columns[kept],
            lexicon.probabilities[kept],
            _kept_offsets(lexicon.stem_offsets, stems_kept),
            lexicon.stem_columns[stems_kept],
            lexicon.stem_counts[stems_kept],
        ),
    )


def _kept_offsets(offsets: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Return where rows begin when only some of their entries are kept."""
    return np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)[offsets]
