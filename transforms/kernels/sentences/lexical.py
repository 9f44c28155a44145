"""Beads scored by their words, with the lexicon of a fitted aligner (Moore 2002, section 3.3).

IBM Model 1 makes each target word from a word of the bead's source sentences or from nothing; here
what nothing makes is distributed like the words of the text, so that the score of a word is

    log(q + (1 - q) * sum_s p(t | s) / (n * u(t)))

with ``q`` the probability of nothing, ``n`` source words and ``u`` the frequency of the word in
its own text. A word that is explained gains, one that is not loses ``log q`` at most, and the words
of a bead with an empty side score 0. The same is done with the sides exchanged.
"""

import math
from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.hmm.emissions import (
    MAX_LETTERS,
    Lexicon,
    back_off,
    chain,
    count_bits,
    find_row,
    likeness,
)
from pairweave.transforms.kernels.hmm.sides import Side, Tokens, Words, tokens_of
from pairweave.transforms.kernels.sentences.beads import (
    NO_PATH,
    Band,
    Document,
    Kinds,
    Weights,
    advance,
    prior,
    widest_row,
)


class Text(NamedTuple):
    """One side of a document.

    Attributes:
        side: All its words; a pair is a sentence.
        frequency: How frequent each word is in the document, float32 ``[token]``, above 0.
    """

    side: Side
    frequency: np.ndarray


@numba.njit(nogil=True, cache=True)
def whole(side: Side) -> Side:
    """Return a side with all its sentences as one."""
    ends = np.zeros(2, dtype=np.int64)
    ends[1] = side.offsets[-1]
    return Side(ends, side.words, side.letter_offsets, side.letters)


class Both(NamedTuple):
    """The words of both sides of a document, and what is known of them.

    Attributes:
        ours: Of the source text.
        theirs: Of the target text.
        source: The source text.
        target: The target text.
    """

    ours: Tokens
    theirs: Tokens
    source: Side
    target: Side


class Run(NamedTuple):
    """What one source word says of a run of target words, and room to find it out.

    Attributes:
        found: Entry of each target word in the lexicon, -1 for none, int64 ``[place]``.
        stem_found: Entry in the lexicon of stems, likewise.
        ahead: p(target word | source word), float32 ``[place]``.
        back: p(source word | target word), float32 ``[place]``.
        line: Room for `likeness`.
    """

    found: np.ndarray
    stem_found: np.ndarray
    ahead: np.ndarray
    back: np.ndarray
    line: np.ndarray


@numba.njit(nogil=True, cache=True)
def translations(place: int, first: int, both: Both, lexicon: Lexicon, run: Run) -> None:
    """Compute p(t | s) and p(s | t) of one source word and a run of target words.

    Args:
        place: The source word.
        first: The first target word of the run.
        both: The words.
        lexicon: The lexicon.
        run: Holds the entries; receives the probabilities.
    """
    none = np.float32(0.0)
    found, stem_found, ahead, back, line = run
    source, target = both.ours, both.theirs
    probabilities, stem_counts = lexicon.probabilities, lexicon.stem_counts
    weight, share, unigram = source.weight[place], source.share[place], source.unigram[place]
    letters, letter_count = source.letter_set[place], source.letter_count[place]
    weights, shares, unigrams = target.weight, target.share, target.unigram
    other_letters, letter_counts = target.letter_set, target.letter_count
    for at in range(len(ahead)):
        other = first + at
        entry = found[at]
        if entry >= 0:
            ahead[at] = probabilities[entry, 0]
            back[at] = probabilities[entry, 1]
            continue
        near = none
        common = letters & other_letters[other]
        if common != 0 and 3 * count_bits(common) >= 2 * max(letter_count, letter_counts[other]):
            near = np.float32(
                likeness(
                    both.source.letters,
                    both.source.letter_offsets[place],
                    both.source.letter_offsets[place + 1],
                    both.target.letters,
                    both.target.letter_offsets[other],
                    both.target.letter_offsets[other + 1],
                    line,
                )
            )
        count = stem_counts[stem_found[at]] if stem_found[at] >= 0 else none
        ahead[at] = back_off(weight, count, near, shares[other], unigrams[other])
        back[at] = back_off(weights[other], count, near, share, unigram)


@numba.njit(nogil=True, cache=True)
def score_words(
    source: Text,
    target: Text,
    source_words: Words,
    target_words: Words,
    lexicon: Lexicon,
    band: Band,
    most: int,
    nothing: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Score each sentence given each run of sentences of the other side that may be its bead.

    A cell ``(i, j)`` is a source and a target sentence; it is in the band if the position behind
    both is.

    Args:
        source: The source text.
        target: The target text.
        source_words: What is known of the source words.
        target_words: What is known of the target words.
        lexicon: Which words translate which.
        band: The positions.
        most: Sentences of a run.
        nothing: Probability that nothing makes a word, in (0, 1).

    Returns:
        The score of target sentence ``j`` given the ``run + 1`` source sentences up to ``i``, and
        that of source sentence ``i`` given the ``run + 1`` target sentences up to ``j``, float32
        ``[position, run]``; `NO_PATH` where a run leaves the text or the band.
    """
    ours = tokens_of(whole(source.side), 0, source_words)
    theirs = tokens_of(whole(target.side), 0, target_words)
    both = Both(ours, theirs, source.side, target.side)
    rows = len(band.low)
    cells = band.begins[rows]
    forward = np.full((cells, most), np.float32(NO_PATH), dtype=np.float32)
    reverse = np.full((cells, most), np.float32(NO_PATH), dtype=np.float32)
    heads = np.full(len(target_words.mass), -1, dtype=np.int32)
    stem_heads = np.full(len(target_words.stem_mass), -1, dtype=np.int32)
    line = np.empty(MAX_LETTERS + 1, dtype=np.int32)
    target_offsets = target.side.offsets
    source_offsets = source.side.offsets
    # Of the last `most` rows: what each target word of the row's band gets from the sentence.
    sums = [np.zeros(0, dtype=np.float32) for _ in range(most)]
    firsts = np.zeros(most, dtype=np.int64)
    gate = 1.0 - nothing
    for row in range(1, rows):
        i = row - 1
        low = max(band.low[row] - 1, 0)
        high = band.high[row] - 1
        first = target_offsets[low]
        words = target_offsets[high] - first
        start = source_offsets[i]
        states = source_offsets[i + 1] - start
        following = chain(theirs.word[first : first + words], heads)
        stem_following = chain(theirs.stem[first : first + words], stem_heads)
        found = np.empty(words, dtype=np.int64)
        stem_found = np.empty(words, dtype=np.int64)
        ahead = np.empty(words, dtype=np.float32)
        back = np.empty(words, dtype=np.float32)
        run_of_row = Run(found, stem_found, ahead, back, line)
        given = np.zeros(words, dtype=np.float32)
        # taken[state, j]: what source word gets from target sentence j.
        taken = np.zeros((states, high - low), dtype=np.float32)
        for state in range(states):
            find_row(
                lexicon.row_offsets,
                lexicon.columns,
                ours.word[start + state],
                theirs.word[first : first + words],
                heads,
                following,
                found,
            )
            find_row(
                lexicon.stem_offsets,
                lexicon.stem_columns,
                ours.stem[start + state],
                theirs.stem[first : first + words],
                stem_heads,
                stem_following,
                stem_found,
            )
            translations(start + state, first, both, lexicon, run_of_row)
            for at in range(words):
                given[at] += ahead[at]
            for j in range(low, high):
                total = np.float32(0.0)
                for at in range(target_offsets[j] - first, target_offsets[j + 1] - first):
                    total += back[at]
                taken[state, j - low] = total
        for at in range(first, first + words):
            if theirs.word[at] >= 0:
                heads[theirs.word[at]] = -1
            if theirs.stem[at] >= 0:
                stem_heads[theirs.stem[at]] = -1
        sums[i % most] = given
        firsts[i % most] = first
        # Sum over the last sentences: of the source for `forward`, of the target for `reverse`.
        total_of = np.zeros(words, dtype=np.float32)
        for run in range(min(most, row)):
            length = source_offsets[i + 1] - source_offsets[i - run]
            kept = sums[(i - run) % most]
            shift = first - firsts[(i - run) % most]
            top = max(min(len(kept) - shift, words), 0)
            for at in range(top):
                total_of[at] += kept[at + shift]
            scale = gate / max(length, 1)
            for j in range(max(low, band.low[row] - 1), high):
                if target_offsets[j + 1] - first > top or j + 1 < band.low[row]:
                    continue
                forward[band.begins[row] + j + 1 - band.low[row], run] = _log_product(
                    total_of,
                    target_offsets[j] - first,
                    target_offsets[j + 1] - first,
                    target.frequency,
                    first,
                    scale,
                    nothing,
                )
        of_states = np.zeros(states, dtype=np.float32)
        for j in range(low, high):
            if j + 1 < band.low[row]:
                continue
            of_states[:] = 0.0
            for run in range(min(most, j - low + 1)):
                for state in range(states):
                    of_states[state] += taken[state, j - run - low]
                length = target_offsets[j + 1] - target_offsets[j - run]
                reverse[band.begins[row] + j + 1 - band.low[row], run] = _log_product(
                    of_states, 0, states, source.frequency, start, gate / max(length, 1), nothing
                )
    return forward, reverse


@numba.njit(nogil=True, cache=True)
def _log_product(
    sums: np.ndarray,
    first: int,
    last: int,
    frequency: np.ndarray,
    shift: int,
    scale: float,
    nothing: float,
) -> float:
    """Return the sum of the words' scores, with few logarithms."""
    score = 0.0
    product = 1.0
    for at in range(first, last):
        product *= nothing + scale * sums[at] / frequency[at + shift]
        if not 1e-100 < product < 1e100:
            score += math.log(product)
            product = 1.0
    return score + math.log(product)


@numba.njit(nogil=True, cache=True)
def word_score(
    row: int,
    position: int,
    sources: int,
    targets: int,
    band: Band,
    forward: np.ndarray,
    reverse: np.ndarray,
) -> float:
    """Return the sum of the scores of a bead's words, of both directions.

    Args:
        row: Source sentences up to the bead's end.
        position: Target sentences up to its end.
        sources: Source sentences of the bead, at least 1.
        targets: Target sentences of the bead, at least 1.
        band: The positions.
        forward: From `score_words`.
        reverse: Likewise.

    Returns:
        The sum; `NO_PATH` if the bead leaves the band.
    """
    if position - targets + 1 < band.low[row]:
        return NO_PATH
    total = 0.0
    begin = band.begins[row] - band.low[row]
    for other in range(position - targets + 1, position + 1):
        total += forward[begin + other, sources - 1]
    for other in range(row - sources + 1, row + 1):
        if not band.low[other] <= position < band.high[other]:
            return NO_PATH
        total += reverse[band.begins[other] + position - band.low[other], targets - 1]
    return total if total > 0.5 * NO_PATH else NO_PATH


@numba.njit(nogil=True, cache=True)
def score_row(
    row: int,
    band: Band,
    kinds: Kinds,
    document: Document,
    weights: Weights,
    forward: np.ndarray,
    reverse: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Score the beads that end in a row of positions.

    Args:
        row: The row.
        band: The positions.
        kinds: The kinds of beads.
        document: The document.
        weights: What weighs how much.
        forward: From `score_words`.
        reverse: Likewise.
        scores: Receives the scores, float64 ``[position of the row, kind]``.
    """
    source_ends, target_ends = document.source_ends, document.target_ends
    for position in range(band.low[row], band.high[row]):
        at = position - band.low[row]
        for kind in range(len(kinds.sources)):
            score = prior(row, position, kind, kinds, document, weights)
            sources, targets = kinds.sources[kind], kinds.targets[kind]
            if score > NO_PATH and sources and targets:
                found = word_score(row, position, sources, targets, band, forward, reverse)
                words = (source_ends[row] - source_ends[row - sources]) * document.ratio
                others = target_ends[position] - target_ends[position - targets]
                apart = (words - others) ** 2 / max(words + others, 1.0)
                score += weights.words * found - weights.length * apart
                if found <= NO_PATH:
                    score = NO_PATH
            scores[at, kind] = score


@numba.njit(nogil=True, cache=True)
def best_beads(
    band: Band,
    kinds: Kinds,
    document: Document,
    weights: Weights,
    forward: np.ndarray,
    reverse: np.ndarray,
) -> np.ndarray:
    """Find the best path by words; arguments are those of `score_row`.

    Returns:
        The last bead of the best path to each position of the band, uint8 ``[position]``.
    """
    rows = len(band.low)
    widest = widest_row(band)
    back = np.empty(band.begins[rows], dtype=np.uint8)
    best = np.full((kinds.sources.max() + 1, widest), NO_PATH)
    scores = np.empty((widest, len(kinds.sources)))
    for row in range(rows):
        score_row(row, band, kinds, document, weights, forward, reverse, scores)
        advance(row, band, kinds, scores, best, back)
    return back


@numba.njit(nogil=True, cache=True)
def path_scores(
    path: np.ndarray,
    band: Band,
    kinds: Kinds,
    document: Document,
    forward: np.ndarray,
    reverse: np.ndarray,
) -> np.ndarray:
    """Return the mean score of the words of each bead of a path, float64 ``[bead]``.

    0 for a bead with an empty side or without words.
    """
    scores = np.zeros(len(path))
    row = 0
    position = 0
    for bead in range(len(path)):
        sources, targets = kinds.sources[path[bead]], kinds.targets[path[bead]]
        row += sources
        position += targets
        if not sources or not targets:
            continue
        words = document.source_ends[row] - document.source_ends[row - sources]
        words += document.target_ends[position] - document.target_ends[position - targets]
        found = word_score(row, position, sources, targets, band, forward, reverse)
        scores[bead] = found / max(words, 1)
    return scores
