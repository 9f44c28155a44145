"""Training of the statistical aligner: vocabulary, lexicon, then rounds of expectation.

Threads share only data that they read. Counts are integers, and jumps and likelihoods are summed in
the order of the chunks, so no bit depends on the number of threads.
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
from pairweave.models.hmm.prior import Earlier, Prior, joined, prior_of
from pairweave.models.hmm.respelling import (
    Respelling,
    Scripts,
    respelling_of_hangul,
    spellings_of,
)
from pairweave.models.hmm.syllables import has_syllables
from pairweave.transforms import progress_marks
from pairweave.transforms.kernels.hmm import agreement, model1
from pairweave.transforms.kernels.hmm.hmm import BUCKETS, JUMPS, bucket_of
from pairweave.transforms.kernels.hmm.lexicon import NO_FREQUENT, Lexicon, tabulate_frequent
from pairweave.transforms.kernels.hmm.model1 import FIXED_POINT
from pairweave.transforms.kernels.hmm.sides import Side
from pairweave.transforms.kernels.scratch import make_scratch

CHUNK_PAIRS = 1024
"""Number of pairs in a chunk, whose jumps and likelihoods are summed before they are added up."""

MAX_COUNTER_BYTES = 4 << 30
"""Each thread needs its own counters; this many bytes limit the number of threads."""

NULL_PRIOR = 100.0
"""Number of occurrences that a word's frequency counts as in its probability given nothing."""

JUMP_PRIOR = 0.5
"""Number of occurrences that each jump distance starts with."""

WORD_JUMP_PRIOR = 10.0
"""Number of jumps that the mean over all words counts as for one word (3 to 30: the same)."""

LAST_SHARE = 0.1
"""Probability that a common last word has the last state, for any jump (0.03 to 0.3: same)."""

FIRST_JUMP_DECAY = 8.0
"""The initial weight of a jump is ``exp(-abs(distance - 1) / 8)``, which is nearly flat."""

MIN_COUNT = FIXED_POINT >> 10
"""Entries with fewer links are not kept in the fitted model: the back-off replaces them."""

PROGRESS_SECONDS = 10.0
"""Time between messages about the progress of a fit."""

_LOG = logging.getLogger("pairweave")
_BLOCKS = 64

Result = TypeVar("Result")


@dataclasses.dataclass
class _State:
    """The data that a round of training changes."""

    counts: np.ndarray
    null_source: np.ndarray
    null_target: np.ndarray
    jumps: np.ndarray
    source_factors: np.ndarray
    target_factors: np.ndarray
    log_likelihoods: list[list[float]]


def train(
    table: pa.Table,
    config: HmmConfig,
    threads: int,
    earlier: Earlier | None = None,
    *,
    turn: tuple[int, int] = (0, 1),
) -> Parts:
    """Fit all parts of a model; see `models.hmm.hmm.fit`.

    Args:
        table: Pairs with token offsets.
        config: The settings.
        threads: Threads to use.
        earlier: An earlier fit to start from, or None.
        turn: Number of this fit, from 0, and the number of all fits, for the progress bar.
    """
    with ThreadPoolExecutor(threads) as pool:
        source, target = (
            collect_vocabulary(table, side, config.max_vocabulary) for side in ("source", "target")
        )
        prior = None
        if earlier is not None:
            evidence = earlier.evidence()
            source = joined(source, evidence.source.words, config.max_vocabulary)
            target = joined(target, evidence.target.words, config.max_vocabulary)
            prior = prior_of(evidence, source, target)
        sides = _numbered(table, "source", source), _numbered(table, "target", target)
        row_offsets, columns, counts = _find_candidates(
            sides, source, target, config.max_translations, pool
        )
        if prior is not None:
            prior, (row_offsets, columns, counts) = _with_prior(prior, row_offsets, columns, counts)
        respelling = None if earlier is None else earlier.parts.respelling
        lexicon = _Candidates(row_offsets, columns, source, target, config, pool, respelling)
        state = _State(
            counts,
            np.zeros(len(source), dtype=np.int64),
            np.zeros(len(target), dtype=np.int64),
            np.zeros((0, 0), dtype=np.float32),
            np.ones((len(source) + 2, BUCKETS), dtype=np.float32),
            np.ones((len(target) + 2, BUCKETS), dtype=np.float32),
            [],
        )
        del counts
        rounds, last_message = config.model1_iterations + config.hmm_iterations, time.monotonic()
        marked = turn[1] * (rounds + 1) - 1
        for iteration in range(rounds):
            progress_marks.fitting(turn[0] * (rounds + 1) + iteration + 1, marked)
            if iteration == config.model1_iterations:
                state.jumps = _first_jumps()
            if time.monotonic() - last_message > PROGRESS_SECONDS:
                last_message = time.monotonic()
                done = turn[0] * rounds + iteration
                _LOG.info("fitting the aligner: %d of %d rounds done", done, turn[1] * rounds)
            if iteration <= config.model1_iterations:  # later links hardly change what is learnt
                lexicon.respell(state.counts, pool)
            parts = lexicon.maximize(state, pool)
            _expect(sides, parts, state, _counting_threads(threads, len(columns)), pool, prior)
        progress_marks.fitting((turn[0] + 1) * (rounds + 1), marked)
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
    parts = _over_blocks(
        pool,
        # Blocks have about the same number of occurrences, not of words.
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
    sizes, columns, shares = (np.concatenate([part[item] for part in parts]) for item in range(3))
    counts = shares.astype(np.float64)
    counts *= FIXED_POINT
    return (
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        columns,
        counts.astype(np.int64),
    )


class _Candidates:
    """The pairs of words in the lexicon, with everything about them that no round changes."""

    def __init__(
        self,
        row_offsets: np.ndarray,
        columns: np.ndarray,
        source: Vocabulary,
        target: Vocabulary,
        config: HmmConfig,
        pool: ThreadPoolExecutor,
        earlier: Respelling | None,
    ) -> None:
        """Compare the words' letters, as an earlier fit respells them, and find their stems."""
        self.row_offsets, self.columns = row_offsets, columns
        self._source, self._target, self._config = source, target, config
        self._blocks = np.searchsorted(
            self.row_offsets, np.linspace(0, len(self.columns), _BLOCKS + 1)[1:-1]
        )
        self._alike = np.empty(len(self.columns), dtype=np.float32)
        self._syllables = has_syllables(source) or has_syllables(target)
        self._scripts = Scripts.of(source, target, syllables=self._syllables)
        self._earlier = earlier
        if earlier is None and self._syllables:
            self._earlier = earlier = respelling_of_hangul(source, target)
        self._compare(earlier, pool)
        self._stem_offsets, self._stem_columns, self._stem_entry = model1.stem_entries(
            self.row_offsets,
            self.columns,
            source.stems,
            target.stems,
            source.stem_count,
            target.stem_count,
        )
        self._frequent = tabulate_frequent(self.row_offsets, self.columns, len(target))
        self._frequent_stems = tabulate_frequent(
            self._stem_offsets, self._stem_columns, target.stem_count
        )
        self._probabilities = np.empty((len(self.columns), 2), dtype=np.float32)

    def _compare(self, respelling: Respelling | None, pool: ThreadPoolExecutor) -> None:
        """Compare the words' letters, in one script."""
        self._respelling = respelling
        source, target = (
            spellings_of(words.spellings, respelling, syllables=self._syllables)
            for words in (self._source, self._target)
        )
        _over_blocks(
            pool,
            self._blocks,
            len(self._source),
            lambda first, last: model1.entry_likeness(
                first, last, self.row_offsets, self.columns, source, target, self._alike
            ),
        )

    def respell(self, counts: np.ndarray, pool: ThreadPoolExecutor) -> None:
        """Learn which letters correspond, if the scripts differ, and compare the words again.

        Args:
            counts: Expected links of each entry, in units of 1 / FIXED_POINT.
            pool: Threads to use.
        """
        if self._scripts is None:
            return
        learnt = self._scripts.learn(self.row_offsets, self.columns, counts)
        wanted = self._earlier if learnt is None else learnt
        if wanted != self._respelling:
            self._compare(wanted, pool)

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
                self._frequent,
                self._stem_offsets,
                self._stem_columns,
                stem_counts,
                self._frequent_stems,
            ),
            state.jumps,
            state.source_factors,
            state.target_factors,
            LAST_SHARE,
            {},
            self._respelling,
            self._syllables,
        )


def _expect(
    sides: tuple[Side, Side],
    parts: Parts,
    state: _State,
    threads: int,
    pool: ThreadPoolExecutor,
    prior: Prior | None = None,
) -> None:
    """Count links, jumps and words without a partner, given the parts of the last round."""
    pairs = len(sides[0].offsets) - 1
    starts = range(0, pairs, CHUNK_PAIRS)
    jump_counts = np.zeros((len(starts), 2, 2 * JUMPS + 1), dtype=np.float64)
    logs = np.zeros((len(starts), 2), dtype=np.float64)

    sizes = (
        len(state.counts),
        len(parts.target),
        len(parts.source),
        state.source_factors.shape,
        state.target_factors.shape,
    )
    state.counts = np.empty(0, dtype=np.int64)  # free the old counts before making new ones

    def work(thread: int) -> list[np.ndarray]:
        totals = [np.zeros(size, dtype=np.int64) for size in sizes]
        scratch = make_scratch()
        for chunk in range(thread, len(starts), threads):
            logs[chunk] = agreement.expect(
                starts[chunk],
                min(starts[chunk] + CHUNK_PAIRS, pairs),
                *sides,
                parts.model,
                agreement.Counts(
                    totals[0], totals[1], totals[2], jump_counts[chunk], totals[3], totals[4]
                ),
                scratch,
            )
        return totals

    counted = list(pool.map(work, range(threads)))
    for more in counted[1:]:
        for total, part in zip(counted[0], more, strict=True):
            total += part
    state.counts, state.null_target, state.null_source, after_source, after_target = counted[0]
    if not len(state.jumps):
        # Model 1 finds a partner for nearly every word, so those without one say little.
        state.null_target[:] = 0
        state.null_source[:] = 0
    state.log_likelihoods.append([float(sum(column)) for column in logs.T.tolist()])
    totals = np.full(jump_counts.shape[1:], JUMP_PRIOR)
    if prior is not None:
        state.counts += prior.links
        state.null_source += prior.null_source
        state.null_target += prior.null_target
        totals += prior.jumps
        after_source += prior.after_source
        after_target += prior.after_target
    if len(state.jumps):
        for part in jump_counts:
            totals += part
        shares = totals / totals.sum(axis=1, keepdims=True)
        state.jumps = shares.astype(np.float32)
        state.source_factors = _factors(after_source, shares[0])
        state.target_factors = _factors(after_target, shares[1])


def _with_prior(
    prior: Prior, row_offsets: np.ndarray, columns: np.ndarray, counts: np.ndarray
) -> tuple[Prior, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Add the entries of a prior to the lexicon, and its pseudo-counts to the first counts.

    Returns:
        The prior, with links for every entry; row offsets, columns and counts of the lexicon.
    """
    words = len(row_offsets) - 1
    own = np.repeat(np.arange(words, dtype=np.int64) << 32, np.diff(row_offsets)) | columns
    keys = np.union1d(own, prior.keys)
    links = np.zeros(len(keys), dtype=np.int64)
    links[np.searchsorted(keys, prior.keys)] = prior.links
    totals = links.copy()
    totals[np.searchsorted(keys, own)] += counts
    begins = np.searchsorted(keys, np.arange(words + 1, dtype=np.int64) << 32)
    return (
        dataclasses.replace(prior, keys=keys, links=links),
        (begins, (keys & 0xFFFFFFFF).astype(np.int32), totals),
    )


def _factors(counts: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the factors of the weights of jumps after each word, float32 ``[row, bucket]``.

    The share of a bucket after a word is the mean of a Dirichlet posterior whose base is its share
    after all words; the factor is the ratio of both. After an unseen word it is 1.

    Args:
        counts: Jumps after each word, an unseen word and the beginning of the side, int64 ``[row,
            bucket]``.
        shares: Share of each distance, float64.
    """
    buckets = [bucket_of(distance) for distance in range(-JUMPS, JUMPS + 1)]
    base = WORD_JUMP_PRIOR * np.bincount(buckets, shares, minlength=BUCKETS)
    total = counts.sum(axis=1, keepdims=True) / FIXED_POINT + WORD_JUMP_PRIOR
    factors = ((counts / FIXED_POINT + base) / total / (base / WORD_JUMP_PRIOR)).astype(np.float32)
    factors[-2] = 1.0
    return factors


def _counting_threads(threads: int, entries: int) -> int:
    """Return how many of the threads fit in memory with counters of this many entries."""
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
    """Return the initial weights of jumps, float32 ``[direction, distance]``."""
    weights = np.exp(-np.abs(np.arange(-JUMPS, JUMPS + 1) - 1.0) / FIRST_JUMP_DECAY)
    return np.stack([weights, weights]).astype(np.float32)


def _null(words: Vocabulary, counts: np.ndarray) -> np.ndarray:
    """Return the probability of each word given nothing, then that of an unseen word, float32.

    A word's frequency is its prior. An unseen word counts as the mean of the rarest words.
    """
    total = max(int(words.counts.sum()), 1)
    prior = NULL_PRIOR / total
    seen = counts / FIXED_POINT + prior * words.counts
    once = words.counts == words.counts.min() if len(words) else np.zeros(0, dtype=np.bool_)
    unseen = float(seen[once].mean()) if once.any() else 1.0
    return (np.append(seen, unseen) / (counts.sum() / FIXED_POINT + NULL_PRIOR)).astype(np.float32)


def _numbered(table: pa.Table, side: str, words: Vocabulary) -> Side:
    """Return the numbers of one side's tokens of all pairs, without their letters."""
    numbers = [np.empty(0, dtype=np.int32)]
    sizes = [np.zeros(1, dtype=np.int64)]
    for pair_offsets, letter_offsets, letters in cut(table, side):
        numbers.append(words.number(letter_offsets, letters))
        sizes.append(np.diff(pair_offsets))
    return Side(
        np.cumsum(np.concatenate(sizes)),
        np.concatenate(numbers),
        np.zeros(1, dtype=np.int64),
        np.zeros(0, dtype=np.int32),
    )


def _prune(parts: Parts, counts: np.ndarray) -> Parts:
    """Drop the entries that the back-off can replace."""
    lexicon = parts.lexicon
    kept = counts >= MIN_COUNT
    stems_kept = lexicon.stem_counts >= MIN_COUNT / FIXED_POINT
    return dataclasses.replace(
        parts,
        lexicon=Lexicon(
            _kept_offsets(lexicon.row_offsets, kept),
            lexicon.columns[kept],
            lexicon.probabilities[kept],
            NO_FREQUENT,
            _kept_offsets(lexicon.stem_offsets, stems_kept),
            lexicon.stem_columns[stems_kept],
            lexicon.stem_counts[stems_kept],
            NO_FREQUENT,
        ),
    )


def _kept_offsets(offsets: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Return where rows begin when only some of their entries are kept."""
    return np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)[offsets]
