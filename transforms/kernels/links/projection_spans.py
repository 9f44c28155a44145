"""Scores of spans and points of a target as places of one element of the source.

The score of a candidate is the sum of its evidence (`transforms.kernels.links.projection_evidence`)
times its weights. All are integers, so that ties are the same on every machine.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.links import projection_evidence as evidence
from pairweave.transforms.kernels.links.projection_evidence import (
    BRACKETS,
    CLASS,
    CLOSER,
    COMMA,
    DASH,
    EDGE_BOTH,
    EQUAL_AGAIN,
    EQUAL_LENGTH,
    EQUAL_MOST,
    EQUAL_ONCE,
    EVERYTHING,
    HYPHEN,
    KIND_SHIFT,
    LENGTH,
    LONGEST,
    MARKS,
    OPENER,
    PLACE_EVIDENCE,
    QUOTE,
    QUOTES,
    SHIFT,
    SIGN,
    SPAN_EVIDENCE,
    STOP,
    STOPS,
    TOKEN_EVIDENCE,
    WHITE,
    WORD,
    YES,
    Characters,
    Places,
    Table,
    TokenizedText,
)
from pairweave.transforms.kernels.uncounted import uncounted

CLOSE_FROM = len(TOKEN_EVIDENCE) + len(PLACE_EVIDENCE)
SPAN_FROM = CLOSE_FROM + len(PLACE_EVIDENCE)
SPAN_WEIGHTS = SPAN_FROM + len(SPAN_EVIDENCE)
"""Where the weights of closing places and of whole spans begin, and their number."""


MAX_EVIDENCE = np.array(
    [YES, YES, YES, 10 * EQUAL_MOST, LONGEST, 4 * YES, YES, 4 * YES, 4 * YES, 2 * YES], np.int64
)
"""Largest value of each of `SPAN_EVIDENCE`."""


class Pair(NamedTuple):
    """What is computed once for a pair, before its elements.

    Attributes:
        source: The source.
        target: The target.
        characters: Properties of code points.
        places: The target's places.
        table: The links.
        source_marks: `count_marks` of the source.
        target_marks: The same for the target.
        source_bones: `skeleton` of the source.
        source_kept: Characters of it before each offset.
        target_bones: `skeleton` of the target.
        target_kept: The same for the target.
    """

    source: TokenizedText
    target: TokenizedText
    characters: Characters
    places: Places
    table: Table
    source_marks: np.ndarray
    target_marks: np.ndarray
    source_bones: np.ndarray
    source_kept: np.ndarray
    target_bones: np.ndarray
    target_kept: np.ndarray


class Spans(NamedTuple):
    """The evidence of all spans of one element.

    Attributes:
        tokens: Sum of `token_evidence` before each place, int64 ``[place, evidence]``.
        opening: `place_evidence` of the opening tag.
        closing: `place_evidence` of the closing tag.
        equal: Whether the element's text begins at a character of the target's skeleton, bool.
        glosses: `find_glosses` of the element.
        times: How often it occurs there without overlaps.
        own: Where the occurrence begins that corresponds to the element; -1 if none does.
        size: Characters of the element's skeleton.
        begin: Offset of the element in the source.
        end: Its end.
        brackets: `cut_brackets` of the element.
    """

    tokens: np.ndarray
    opening: np.ndarray
    closing: np.ndarray
    equal: np.ndarray
    glosses: np.ndarray
    times: int
    own: int
    size: int
    begin: int
    end: int
    brackets: tuple[int, int]


@uncounted
def find_tokens(source: TokenizedText, begin: int, end: int) -> tuple[int, int]:
    """Return the first token of an element and the end of its tokens, exclusive."""
    first = np.int64(np.searchsorted(source.starts, begin))
    return int(first), int(max(first, np.int64(np.searchsorted(source.ends, end, side="right"))))


_APOSTROPHES = (0x27, 0x60, 0x2018, 0x2019, 0x2032, 0x2033)


@numba.njit(nogil=True, cache=True)
def is_apostrophe(point: Integer) -> bool:
    """Tell whether a quotation mark between two letters is a part of a word (``l'eau``)."""
    for one in _APOSTROPHES:  # noqa: SIM110 - Numba has no any() of a generator
        if point == one:
            return True
    return False


@numba.njit(nogil=True, cache=True)
def count_marks(text: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Count marks before each offset of a text.

    Returns:
        Brackets (open less closed), quotation marks, stops, others, and the next offset with fewer
        open brackets (past the last if there is none), int64 ``[offset, 5]``.
    """
    counts = np.zeros((len(text) + 1, 5), np.int64)
    for at in range(len(text)):
        counts[at + 1] = counts[at]
        shape = np.int64(shapes[text[at]])
        kind = shape >> KIND_SHIFT
        if not kind:
            continue
        counts[at + 1, 0] += np.int64(kind == OPENER) - np.int64(kind == CLOSER)
        inside_word = (
            0 < at < len(text) - 1
            and shapes[text[at - 1]] & CLASS == WORD
            and shapes[text[at + 1]] & CLASS == WORD
        )
        if kind == QUOTE and not (inside_word and is_apostrophe(text[at])):
            counts[at + 1, 1] += 1
        if kind == STOP and not inside_word:
            counts[at + 1, 2] += 1
        if kind in (COMMA, DASH, HYPHEN, SIGN) and not inside_word:
            counts[at + 1, 3] += 1
    for at in range(len(text), -1, -1):
        later = at + 1
        while later <= len(text) and counts[later, 0] >= counts[at, 0]:
            later = counts[later, 4]
        counts[at, 4] = later
    return counts


@uncounted
def cut_brackets(marks: np.ndarray, start: int, end: int) -> tuple[int, int]:
    """Count the brackets of a span whose partners are outside.

    Args:
        marks: `count_marks` of the text.
        start: Offset of the span.
        end: Its end, exclusive.

    Returns:
        Closing brackets, and opening brackets.
    """
    closing = 0
    at = marks[start, 4]
    while at <= end:
        closing += 1
        at = marks[at, 4]
    return closing, marks[end, 0] - marks[start, 0] + closing


@numba.njit(nogil=True, cache=True)
def skeleton(text: np.ndarray, characters: Characters) -> tuple[np.ndarray, np.ndarray]:
    """Return a text without white space and quotation marks, casing and width.

    Returns:
        Code points, uint32, and the number of them before each offset of the text, int64.
    """
    kept = np.empty(len(text), np.uint32)
    before = np.zeros(len(text) + 1, np.int64)
    size = 0
    for at in range(len(text)):
        shape = characters.shapes[text[at]]
        if shape & CLASS != WHITE and shape >> KIND_SHIFT != QUOTE:
            kept[size] = characters.folds[text[at]]
            size += 1
        before[at + 1] = size
    return kept[:size], before


@numba.njit(nogil=True, cache=True)
def find_equal(wanted: np.ndarray, text: np.ndarray) -> tuple[np.ndarray, int]:
    """Tell at which places of a skeleton another begins, bool, and how many do not overlap."""
    begins = np.zeros(len(text) + 1, np.bool_)
    size, count, free = len(wanted), 0, 0
    if not size:
        return begins, count
    for at in range(len(text) - size + 1):
        same = True
        for other in range(size):
            if text[at + other] != wanted[other]:
                same = False
                break
        if same:
            begins[at] = True
            if at >= free:
                count += 1
                free = at + size
    return begins, count


@numba.njit(nogil=True, cache=True)
def find_counterpart(wanted: np.ndarray, text: np.ndarray, at: int, other: np.ndarray) -> int:
    """Find the occurrence of a string in a target that corresponds to one in the source.

    If both texts have it equally often, their occurrences correspond in order.

    Args:
        wanted: The string, as part of a skeleton.
        text: The skeleton of the source.
        at: Where the string begins there.
        other: The skeleton of the target.

    Returns:
        Where it begins in the target; -1 if none corresponds.
    """
    begins, times = find_equal(wanted, text)
    other_begins, other_times = find_equal(wanted, other)
    if times != other_times:
        return -1
    place, free = 0, 0
    for own in range(at + 1):
        if begins[own] and own >= free:
            while not other_begins[place]:
                place += 1
            if own == at:
                return place
            place += len(wanted)
            free = own + len(wanted)
    return -1


@numba.njit(nogil=True, cache=True)
def length_difference(inside: int, whole: int, other_inside: int, other_whole: int) -> int:
    """Return by how much the larger share of a text exceeds the smaller, in per cent."""
    one, other = max(1, inside) * max(1, other_whole), max(1, other_inside) * max(1, whole)
    return min(LONGEST, 100 * max(one, other) // min(one, other) - 100)


@numba.njit(nogil=True, cache=True)
def prepare(
    source: TokenizedText,
    target: TokenizedText,
    links: evidence.LinkMasses,
    characters: Characters,
) -> Pair:
    """Return what all elements of a pair share."""
    offsets, before = evidence.find_places(target.starts, target.ends, len(target.points))
    around = evidence.look_around(target.points, characters.shapes, offsets)
    table = evidence.tabulate(source, target, links, characters)
    source_bones, source_kept = skeleton(source.points, characters)
    target_bones, target_kept = skeleton(target.points, characters)
    return Pair(
        source,
        target,
        characters,
        evidence.Places(offsets, before, around[0], around[1]),
        table,
        count_marks(source.points, characters.shapes),
        count_marks(target.points, characters.shapes),
        source_bones,
        source_kept,
        target_bones,
        target_kept,
    )


@numba.njit(nogil=True, cache=True)
def find_glosses(pair: Pair, bounds: tuple[int, int], equal: np.ndarray, size: int) -> np.ndarray:
    """Find where the target has the text of an element in brackets.

    Some translators put the original after their translation: ``Umschalt (Shift)``.

    Args:
        pair: The pair.
        bounds: Offsets of the element's opening and closing tag.
        equal: `Spans.equal`.
        size: `Spans.size`.

    Returns:
        For each end of a part of the target's skeleton, where the text begins if the part ends with
        it and a bracket, else -1, int64. The element has no quotation marks and is not in brackets.
    """
    begin, end = bounds
    bones, shapes, points = pair.target_bones, pair.characters.shapes, pair.source.points
    glosses = np.full(len(bones) + 1, -1, np.int64)
    quotes = pair.source_marks[end, 1] - pair.source_marks[begin, 1]
    if quotes or not size or (begin and shapes[points[begin - 1]] >> KIND_SHIFT == OPENER):
        return glosses
    for at in range(1, len(bones) - size):
        if (
            equal[at]
            and shapes[bones[at - 1]] >> KIND_SHIFT == OPENER
            and shapes[bones[at + size]] >> KIND_SHIFT == CLOSER
        ):
            glosses[at + size + 1] = at
    return glosses


@numba.njit(nogil=True, cache=True)
def gather(pair: Pair, bounds: tuple[int, int], setting: tuple[bool, bool, bool]) -> Spans:
    """Return the evidence of an element with words.

    Args:
        pair: The pair.
        bounds: Offsets of its opening and of its closing tag.
        setting: `transforms.kernels.links.projection.setting_of` of the element.
    """
    begin, end = bounds
    shapes = pair.characters.shapes
    first, last = find_tokens(pair.source, begin, end)
    per_token = evidence.token_evidence(first, last, pair.table)
    held = per_token[:, evidence.LINKS_INSIDE].copy()
    ahead, after = first - 1, last if last < len(pair.source.starts) else -1
    opening = evidence.place_evidence(
        pair.source,
        pair.target,
        shapes,
        evidence.TagEnd(begin, 1, first, ahead, after, setting[0], setting[2]),
        pair.places,
        pair.table,
        held,
    )
    closing = evidence.place_evidence(
        pair.source,
        pair.target,
        shapes,
        evidence.TagEnd(end, -1, last - 1, after, ahead, setting[1], setting[2]),
        pair.places,
        pair.table,
        held,
    )
    sums = np.zeros((len(per_token) + 1, per_token.shape[1]), np.int64)
    for token in range(len(per_token)):
        sums[token + 1] = sums[token] + per_token[token]
    tokens = np.empty((len(pair.places.before), per_token.shape[1]), np.int64)
    for place in range(len(pair.places.before)):
        tokens[place] = sums[pair.places.before[place]]
    bones = pair.source_bones[pair.source_kept[begin] : pair.source_kept[end]]
    equal, times = find_equal(bones, pair.target_bones)
    own = -1
    if times > 1:
        own = find_counterpart(bones, pair.source_bones, pair.source_kept[begin], pair.target_bones)
    glosses = find_glosses(pair, (begin, end), equal, len(bones))
    cut = cut_brackets(pair.source_marks, begin, end)
    size = len(bones)
    return Spans(tokens, opening, closing, equal, glosses, times, own, size, begin, end, cut)


@uncounted
def span_evidence(pair: Pair, spans: Spans, opening: int, closing: int, row: np.ndarray) -> None:
    """Write the evidence of one span as a whole, by `SPAN_EVIDENCE`."""
    source_marks, target_marks, target_kept = pair.source_marks, pair.target_marks, pair.target_kept
    start, end = pair.places.offsets[opening], pair.places.offsets[closing]
    kept = target_kept[start]
    same = spans.size > 0 and spans.equal[kept] and target_kept[end] - kept == spans.size
    quotes = source_marks[spans.end, 1] - source_marks[spans.begin, 1]
    gloss = spans.glosses[target_kept[end]]
    if gloss > kept + 1:
        same, kept = True, gloss
    same &= target_marks[end, 1] - target_marks[start, 1] == quotes
    edges = spans.opening[opening, EDGE_BOTH] > 0 and spans.closing[closing, EDGE_BOTH] > 0
    row[EVERYTHING] = YES if edges else 0
    is_own = spans.times == 1 or kept == spans.own
    row[EQUAL_ONCE] = YES if same and is_own else 0
    row[EQUAL_AGAIN] = YES if same and not is_own else 0
    row[EQUAL_LENGTH] = 10 * min(EQUAL_MOST, spans.size) if same else 0
    size, target_size = len(pair.source.points), len(pair.target.points)
    inside, target_inside = spans.end - spans.begin, end - start
    row[LENGTH] = length_difference(inside, size, target_inside, target_size)
    closing_brackets, opening_brackets = cut_brackets(target_marks, start, end)
    cut = abs(closing_brackets - spans.brackets[0]) + abs(opening_brackets - spans.brackets[1])
    row[BRACKETS] = YES * min(4, cut)
    for name, column in ((QUOTES, 1), (STOPS, 2), (MARKS, 3)):
        one = source_marks[spans.end, column] - source_marks[spans.begin, column]
        other = target_marks[end, column] - target_marks[start, column]
        if name == QUOTES:
            row[name] = YES * ((one ^ other) & 1)
        else:
            row[name] = YES * min(4, abs(one - other))
    off = abs((start + end) * size - (spans.begin + spans.end) * target_size)
    row[SHIFT] = YES * off // max(1, size * target_size)


@numba.njit(nogil=True, cache=True)
def sum_places(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted sum of each row's evidence, int64 ``[place]``."""
    sums = np.zeros(len(rows), np.int64)
    for place in range(len(rows)):
        for name in range(len(weights)):
            sums[place] += rows[place, name] * weights[name]
    return sums


@numba.njit(nogil=True, cache=True)
def sum_parts(spans: Spans, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what each place adds to the score as the opening and as the closing one.

    Returns:
        int64 ``[place]`` twice.
    """
    tokens = sum_places(spans.tokens, weights[: len(TOKEN_EVIDENCE)])
    opening = sum_places(spans.opening, weights[len(TOKEN_EVIDENCE) : CLOSE_FROM])
    closing = sum_places(spans.closing, weights[CLOSE_FROM:SPAN_FROM])
    return opening - tokens, closing + tokens


@uncounted
def score_whole(
    pair: Pair, spans: Spans, start: int, end: int, weights: np.ndarray, row: np.ndarray
) -> Integer:
    """Return what a span as a whole adds to its score; ``row`` is overwritten."""
    span_evidence(pair, spans, start, end, row)
    score = np.int64(0)
    for name in range(len(row)):
        score += row[name] * weights[SPAN_FROM + name]
    return score


@numba.njit(nogil=True, cache=True)
def score_spans(pair: Pair, spans: Spans, weights: np.ndarray) -> np.ndarray:
    """Return the score of each span with at least one token, int64 ``[opening, closing]``.

    Spans without tokens have `NEVER`.
    """
    places = len(pair.places.offsets)
    opening, closing = sum_parts(spans, weights)
    scores = np.full((places, places), NEVER, np.int64)
    row = np.zeros(len(SPAN_EVIDENCE), np.int64)
    for start in range(places):
        for end in range(start + 1, places):
            if pair.places.before[start] < pair.places.before[end]:
                whole = score_whole(pair, spans, start, end, weights, row)
                scores[start, end] = opening[start] + closing[end] + whole
    return scores


@uncounted
def keep_best(
    start: int, end: int, score: int, kept: tuple[np.ndarray, np.ndarray, np.ndarray], count: int
) -> int:
    """Put a span among the best ones, behind its equals, and return their number."""
    opening, closing, scores = kept
    most = len(scores)
    if count == most and score <= scores[most - 1]:
        return count
    count = min(most, count + 1)
    at = count - 1
    while at > 0 and scores[at - 1] < score:
        scores[at], opening[at], closing[at] = scores[at - 1], opening[at - 1], closing[at - 1]
        at -= 1
    scores[at], opening[at], closing[at] = score, start, end
    return count


@numba.njit(nogil=True, cache=True)
def best_spans(
    pair: Pair, spans: Spans, weights: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the spans with the best scores, best first.

    Among equals, the first closing place and then the last opening place wins. The evidence of a
    span as a whole is computed only if the span could be among the best with the most that this
    evidence can add.

    Args:
        pair: The pair.
        spans: The evidence.
        weights: The weights.
        most: Maximum number of spans.

    Returns:
        Opening places, closing places and scores, int64 ``[candidate]``.
    """
    opening, closing = sum_parts(spans, weights)
    kept = np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros(most, np.int64)
    row = np.zeros(len(SPAN_EVIDENCE), np.int64)
    bound = np.int64(0)
    for name in range(len(row)):
        bound += max(0, weights[SPAN_FROM + name]) * MAX_EVIDENCE[name]
    count = 0
    for end in range(len(closing)):
        for start in range(end - 1, -1, -1):
            if pair.places.before[start] == pair.places.before[end]:
                continue
            score = opening[start] + closing[end]
            if count == most and score + bound <= kept[2][most - 1]:
                continue
            score += score_whole(pair, spans, start, end, weights, row)
            count = keep_best(start, end, score, kept, count)
    return kept[0][:count], kept[1][:count], kept[2][:count]


NEVER = -(1 << 60)
"""Score of a span that is not a candidate."""


@numba.njit(nogil=True, cache=True)
def evidence_of_span(pair: Pair, spans: Spans, opening: int, closing: int) -> np.ndarray:
    """Return all evidence of one span, in the order of its weights."""
    row = np.empty(SPAN_WEIGHTS, np.int64)
    row[: len(TOKEN_EVIDENCE)] = spans.tokens[closing] - spans.tokens[opening]
    row[len(TOKEN_EVIDENCE) : CLOSE_FROM] = spans.opening[opening]
    row[CLOSE_FROM:SPAN_FROM] = spans.closing[closing]
    span_evidence(pair, spans, opening, closing, row[SPAN_FROM:])
    return row
