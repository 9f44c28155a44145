"""Tags round phrase pairs: which ones, and how they go into the text."""

import numba
import numpy as np

from transforms.kernels import sampling, utf8
from transforms.kernels.integers import Integer

INDICES = 10
"""Tags are numbered 0 to 9 (Ryu et al. 2022, section 3.4)."""

MOST_TAGS = 9
"""Most tags in a pair (likewise)."""

ATTEMPTS = 8
"""How often a variant that repeats an earlier one is drawn anew."""

_OPENING_BYTES = 5  # <a_0>
_CLOSING_BYTES = 6  # </a_0>


@numba.njit(nogil=True, cache=True)
def _counter(variant: Integer, attempt: Integer, number: Integer) -> np.uint64:
    """Return the counter of a draw, so that no two draws of a step share one."""
    return (
        (np.uint64(variant) << np.uint64(48))
        | (np.uint64(attempt) << np.uint64(40))
        | np.uint64(number)
    )


@numba.njit(nogil=True, cache=True)
def _nests(boxes: np.ndarray, one: Integer, other: Integer) -> bool:
    """Tell whether two phrase pairs are apart on both sides, or one holds the other on both."""
    source_start, source_end = boxes[0, one], boxes[1, one]
    target_start, target_end = boxes[2, one], boxes[3, one]
    source_low, source_high = boxes[0, other], boxes[1, other]
    target_low, target_high = boxes[2, other], boxes[3, other]
    if source_end <= source_low or source_high <= source_start:
        return target_end <= target_low or target_high <= target_start
    return (
        source_start <= source_low
        and source_high <= source_end
        and target_start <= target_low
        and target_high <= target_end
    ) or (
        source_low <= source_start
        and source_end <= source_high
        and target_low <= target_start
        and target_end <= target_high
    )


@numba.njit(nogil=True, cache=True)
def _comes_before(boxes: np.ndarray, one: Integer, other: Integer) -> bool:
    """Tell whether a tag stands before another in a row: it begins first, or holds the other."""
    if boxes[0, one] != boxes[0, other]:
        return boxes[0, one] < boxes[0, other]
    if boxes[1, one] != boxes[1, other]:
        return boxes[1, one] > boxes[1, other]
    if boxes[2, one] != boxes[2, other]:
        return boxes[2, one] < boxes[2, other]
    return boxes[3, one] > boxes[3, other]


@numba.njit(nogil=True, cache=True)
def _draw_phrases(
    run_seed: np.uint64,
    key: np.uint64,
    variant: Integer,
    attempt: Integer,
    most: Integer,
    first: Integer,
    boxes: np.ndarray,
    free: int,
    order: np.ndarray,
    chosen: np.ndarray,
) -> Integer:
    """Draw phrase pairs into ``chosen``, in the order of their tags; return their number."""
    candidates = len(order)
    bits = sampling.draw(run_seed, key, sampling.STEP_TAG_COUNT, _counter(variant, attempt, 0))
    wanted = 1 + sampling.below(bits, np.int64(most))
    for candidate in range(candidates):
        order[candidate] = first + candidate
    count = 0
    for step in range(candidates):
        if count == wanted:
            break
        bits = sampling.draw(
            run_seed, key, sampling.STEP_TAG_PHRASES, _counter(variant, attempt, step)
        )
        other = step + sampling.below(bits, np.int64(candidates - step))
        phrase = order[other]
        order[other] = order[step]
        fits = True
        if not free:
            for earlier in range(count):
                if not _nests(boxes, phrase, chosen[earlier]):
                    fits = False
                    break
        if fits:
            place = count
            while place > 0 and _comes_before(boxes, phrase, chosen[place - 1]):
                chosen[place] = chosen[place - 1]
                place -= 1
            chosen[place] = phrase
            count += 1
    return count


@numba.njit(nogil=True, cache=True)
def _draw_indices(
    run_seed: np.uint64, key: np.uint64, variant: Integer, count: Integer, indices: np.ndarray
) -> None:
    """Draw the numbers of a row's tags without repetition."""
    for index in range(INDICES):
        indices[index] = index
    for step in range(count):
        bits = sampling.draw(run_seed, key, sampling.STEP_TAG_INDICES, _counter(variant, 0, step))
        other = step + sampling.below(bits, np.int64(INDICES - step))
        indices[step], indices[other] = indices[other], indices[step]


@numba.njit(nogil=True, cache=True)
def _is_repeated(drawn: np.ndarray, counts: np.ndarray, rows: Integer, row: Integer) -> bool:
    """Tell whether a row of ``drawn`` equals one of the first ``rows``."""
    for earlier in range(rows):
        if counts[earlier] == counts[row] and np.array_equal(
            drawn[earlier, : counts[row]], drawn[row, : counts[row]]
        ):
            return True
    return False


@numba.njit(nogil=True, cache=True)
def choose_tags(
    run_seed: np.uint64,
    keys: np.ndarray,
    limits: np.ndarray,
    plain: np.ndarray,
    tagged: np.ndarray,
    phrase_offsets: np.ndarray,
    boxes: np.ndarray,
    variants: int,
    free: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Decide the rows of each pair, and the phrase pairs and numbers of their tags.

    The number of tags is uniform from 1 to the pair's limit. Phrase pairs come in random order, and
    one is taken if it nests with those taken before (any, if ``free``), until there are as many
    or none is left. A variant whose phrase pairs repeat an earlier variant's is drawn anew up to
    `ATTEMPTS` times; if they still do, it stays only if its numbers differ.

    Args:
        run_seed: The run's seed.
        keys: Keys of the pairs, uint64 ``[pair]``.
        limits: Most tags of each pair, at most `MOST_TAGS`, int64 ``[pair]``.
        plain: Which pairs get a row without tags, bool ``[pair]``.
        tagged: Which pairs get rows with tags if they can, bool ``[pair]``.
        phrase_offsets: Where each pair's phrase pairs begin, int64 ``[pair + 1]``.
        boxes: Source start, source end, target start and target end of the phrase pairs, in
            tokens, half-open, int16 ``[4, phrase pair]``.
        variants: Rows with tags for a pair.
        free: 1 if tags may cross.

    Returns:
        The pair of each row int64 ``[row]``, its variant (0 without tags) int16 ``[row]``, where
        its tags begin int64 ``[row + 1]``; the phrase pair of each tag int64 ``[tag]`` and its
        number int16 ``[tag]``. Rows are in the order of pairs, then variants.
    """
    pairs = len(keys)
    row_pair = np.empty(pairs * (variants + 1), np.int64)
    row_variant = np.empty(len(row_pair), np.int16)
    row_tags = np.zeros(len(row_pair) + 1, np.int64)
    phrases = np.empty(64, np.int64)
    numbers = np.empty(64, np.int16)
    longest = 0
    for pair in range(pairs):
        longest = max(longest, phrase_offsets[pair + 1] - phrase_offsets[pair])
    order = np.empty(longest, np.int64)
    drawn = np.empty((variants, MOST_TAGS), np.int64)
    drawn_numbers = np.empty((variants, MOST_TAGS), np.int64)
    counts = np.empty(variants, np.int64)
    indices = np.empty(INDICES, np.int16)
    rows = 0
    tags = 0
    for pair in range(pairs):
        if plain[pair]:
            row_pair[rows] = pair
            row_variant[rows] = 0
            rows += 1
            row_tags[rows] = tags
        first = phrase_offsets[pair]
        candidates = phrase_offsets[pair + 1] - first
        if not tagged[pair] or limits[pair] < 1 or candidates < 1:
            continue
        kept = 0
        for variant in range(1, variants + 1):
            for attempt in range(ATTEMPTS):
                counts[kept] = _draw_phrases(
                    run_seed,
                    keys[pair],
                    variant,
                    attempt,
                    limits[pair],
                    first,
                    boxes,
                    free,
                    order[:candidates],
                    drawn[kept],
                )
                repeated = _is_repeated(drawn, counts, kept, kept)
                if not repeated:
                    break
            count = counts[kept]
            _draw_indices(run_seed, keys[pair], variant, count, indices)
            for tag in range(count):
                drawn_numbers[kept, tag] = drawn[kept, tag] * INDICES + indices[tag]
            if repeated and _is_repeated(drawn_numbers, counts, kept, kept):
                continue
            if tags + count > len(phrases):
                phrases = _twice(phrases)
                numbers = _twice(numbers)
            for tag in range(count):
                phrases[tags] = drawn[kept, tag]
                numbers[tags] = indices[tag]
                tags += 1
            kept += 1
            row_pair[rows] = pair
            row_variant[rows] = variant
            rows += 1
            row_tags[rows] = tags
    return (
        row_pair[:rows].copy(),
        row_variant[:rows].copy(),
        row_tags[: rows + 1].copy(),
        phrases[:tags].copy(),
        numbers[:tags].copy(),
    )


@numba.njit(nogil=True, cache=True)
def _twice(values: np.ndarray) -> np.ndarray:
    larger = np.empty(2 * len(values), values.dtype)
    larger[: len(values)] = values
    return larger


@numba.njit(nogil=True, cache=True)
def _sort_borders(
    opens: np.ndarray, closes: np.ndarray, opening: np.ndarray, closing: np.ndarray
) -> None:
    """Put the tags of a row in the order of their openings, and of their closings.

    Of tags that open together the one that closes last is the outer one and comes first; of tags
    that close together the one that opened last. Tags of one range nest in their given order.
    """
    for tag in range(len(opens)):
        place = tag
        while place > 0:
            other = opening[place - 1]
            if opens[other] < opens[tag]:
                break
            if opens[other] == opens[tag] and closes[other] >= closes[tag]:
                break
            opening[place] = other
            place -= 1
        opening[place] = tag
        place = tag
        while place > 0:
            other = closing[place - 1]
            if closes[other] < closes[tag]:
                break
            if closes[other] == closes[tag] and opens[other] > opens[tag]:
                break
            closing[place] = other
            place -= 1
        closing[place] = tag


@numba.njit(nogil=True, cache=True)
def _write_tag(out: np.ndarray, at: Integer, closing: int, number: Integer) -> Integer:
    out[at] = 60  # <
    at += 1
    if closing:
        out[at] = 47  # /
        at += 1
    out[at] = 97  # a
    out[at + 1] = 95  # _
    out[at + 2] = 48 + number
    out[at + 3] = 62  # >
    return at + 4


@numba.njit(nogil=True, cache=True)
def _white_before(out: np.ndarray, at: Integer, floor: Integer, properties: np.ndarray) -> Integer:
    """Return where the white space begins that ends at a place; not before ``floor``."""
    while at > floor:
        before = utf8.step_back(out, at, floor)
        point, _ = utf8.decode(out, before, at)
        if not properties[point] & utf8.WHITE:
            break
        at = before
    return at


@numba.njit(nogil=True, cache=True)
def insert_tags(
    data: np.ndarray,
    offsets: np.ndarray,
    row_text: np.ndarray,
    row_tags: np.ndarray,
    opens: np.ndarray,
    closes: np.ndarray,
    numbers: np.ndarray,
    shift: int,
    properties: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Copy texts with their tags in them.

    Where several tags meet, those that close come before those that open, and tags nest as their
    ranges do (`_sort_borders`).

    Args:
        data: UTF-8 of all texts, uint8 ``[byte]``.
        offsets: Where each text begins, int64 ``[text + 1]``.
        row_text: The text of each row, int64 ``[row]``.
        row_tags: Where each row's tags begin, int64 ``[row + 1]``, from 0; at most `MOST_TAGS`.
        opens: Code points before each tag's opening, int32 ``[tag]``.
        closes: Code points before its closing, more than before its opening, int32 ``[tag]``.
        numbers: Its number, int16 ``[tag]``.
        shift: 1 to move the white space before an opening tag behind it
            (`transforms.whitespace`); none may follow the place where a tag opens.
        properties: Of every code point, uint16 (`transforms.codepoints.properties`).

    Returns:
        UTF-8 of all rows uint8 ``[byte]``, and where each begins int64 ``[row + 1]``.
    """
    rows = len(row_text)
    out_offsets = np.zeros(rows + 1, np.int64)
    for row in range(rows):
        text = row_text[row]
        length = offsets[text + 1] - offsets[text]
        length += (row_tags[row + 1] - row_tags[row]) * (_OPENING_BYTES + _CLOSING_BYTES)
        out_offsets[row + 1] = out_offsets[row] + length
    out = np.empty(out_offsets[rows], np.uint8)
    opening = np.empty(MOST_TAGS, np.int64)
    closing = np.empty(MOST_TAGS, np.int64)
    for row in range(rows):
        at = offsets[row_text[row]]
        end = offsets[row_text[row] + 1]
        first = row_tags[row]
        count = row_tags[row + 1] - first
        to = out_offsets[row]
        floor = to
        _sort_borders(opens[first : first + count], closes[first : first + count], opening, closing)
        position = 0
        opened = 0
        closed = 0
        while closed < count:
            close = closes[first + closing[closed]]
            begins = opened < count and opens[first + opening[opened]] < close
            border = opens[first + opening[opened]] if begins else close
            while position < border and at < end:
                out[to] = data[at]
                to += 1
                at += 1
                while at < end and data[at] & 0xC0 == 0x80:
                    out[to] = data[at]
                    to += 1
                    at += 1
                position += 1
            if not begins:
                to = _write_tag(out, to, 1, numbers[first + closing[closed]])
                closed += 1
                floor = to
                continue
            together = opened
            while together < count and opens[first + opening[together]] == border:
                together += 1
            white = _white_before(out, to, floor, properties) if shift else to
            floor = white + (together - opened) * _OPENING_BYTES
            for byte in range(to - white - 1, -1, -1):
                out[floor + byte] = out[white + byte]
            to += floor - white
            while opened < together:
                white = _write_tag(out, white, 0, numbers[first + opening[opened]])
                opened += 1
        while at < end:
            out[to] = data[at]
            to += 1
            at += 1
    return out, out_offsets
