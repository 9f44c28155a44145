"""Evidence for where the tags of a source belong in its translation, as small integers.

Three kinds: of each target token (is it linked to the words inside the element, or to others), of
each place (are its surroundings like those of the tag in the source), and of a whole span. Each
piece of evidence has a name in `TOKEN_EVIDENCE`, `PLACE_EVIDENCE` or `SPAN_EVIDENCE`, and the
weight of that name; `projection_points` has that of tags without words. A certain yes counts `YES`.
"""

from typing import NamedTuple

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.text.japanese import WO
from pairweave.transforms.kernels.text.word_counts import unspaced_kind
from pairweave.transforms.kernels.uncounted import uncounted

WHITE, WORD, OTHER = 1, 2, 3
"""Classes of characters: the low two bits of a shape; 0 is the edge of the text."""

INVISIBLE = 0
"""The shape of a mark that nobody sees, such as that of a direction: what is behind it counts."""

CLASS, UPPER = 3, 4
"""Mask of the class, and a flag: an upper-case letter."""

KIND_SHIFT = 3
"""Bits before the kind of a mark."""

STOP, COMMA, ELLIPSIS, QUOTE, OPENER, CLOSER, HYPHEN, DASH, SIGN = range(1, 10)
"""Kinds of marks, from bit `KIND_SHIFT` of a shape; 0 is not a mark. A hyphen touches the place
next to it; a dash is the same mark with a space in between."""

KINDS = ("stop", "comma", "ellipsis", "quote", "opener", "closer", "hyphen", "dash", "sign")

THOUSAND = 1_000
"""A probability of 1 in thousandths."""

YES = 50
"""Value of evidence that is simply present. Links count up to 200 (both directions certain)."""

TOKEN_EVIDENCE = (
    "links_inside",
    "links_outside",
    "agreed_inside",
    "agreed_outside",
    "tokens",
    "claimed",
    "best_inside",
    "best_outside",
    "unlinked",
    "partner_inside",
    "partner_outside",
    "equal_inside",
    "equal_outside",
)
(
    LINKS_INSIDE,
    LINKS_OUTSIDE,
    AGREED_INSIDE,
    AGREED_OUTSIDE,
    TOKENS,
    CLAIMED,
    BEST_INSIDE,
    BEST_OUTSIDE,
    UNLINKED_TOKEN,
    PARTNER_INSIDE,
    PARTNER_OUTSIDE,
    EQUAL_INSIDE,
    EQUAL_OUTSIDE,
) = range(len(TOKEN_EVIDENCE))

VIEW = ("same_class", "same_kind", *(f"added_{kind}" for kind in KINDS))
PLACE_EVIDENCE = (
    *(f"inner_{name}" for name in VIEW),
    *(f"outer_{name}" for name in VIEW),
    "edge_both",
    "edge_added",
    "edge_stop",
    "capital_both",
    "capital_added",
    "outer_capital_both",
    "outer_capital_added",
    "space_added",
    "space_kept",
    "edge_space_kept",
    "touching_space_kept",
    "keyed_space_kept",
    "space_doubled",
    "space_run_kept",
    "space_before_mark",
    "inside_word",
    "inner_links",
    "outer_links",
    "outer_exchanged",
    "outer_held",
    "solid",
    "leak",
)
INNER, OUTER, PLACE_REST = 0, len(VIEW), 2 * len(VIEW)
SAME_CLASS, SAME_KIND, ADDED = 0, 1, 1
(
    EDGE_BOTH,
    EDGE_ADDED,
    EDGE_STOP,
    CAPITAL_BOTH,
    CAPITAL_ADDED,
    OUTER_CAPITAL_BOTH,
    OUTER_CAPITAL_ADDED,
    SPACE_ADDED,
    SPACE_KEPT,
    EDGE_SPACE_KEPT,
    TOUCHING_SPACE_KEPT,
    KEYED_SPACE_KEPT,
    SPACE_DOUBLED,
    SPACE_RUN_KEPT,
    SPACE_BEFORE_MARK,
    INSIDE_WORD,
    INNER_LINKS,
    OUTER_LINKS,
    OUTER_EXCHANGED,
    OUTER_HELD,
    SOLID,
    LEAK,
) = range(PLACE_REST, len(PLACE_EVIDENCE))

SPAN_EVIDENCE = (
    "everything",
    "equal_once",
    "equal_again",
    "equal_length",
    "length",
    "brackets",
    "quotes",
    "stops",
    "marks",
    "shift",
)
EVERYTHING, EQUAL_ONCE, EQUAL_AGAIN, EQUAL_LENGTH, LENGTH, BRACKETS, QUOTES, STOPS, MARKS, SHIFT = (
    range(len(SPAN_EVIDENCE))
)

FULL_STOP = ord(".")

MAX_SPACES = 8
"""Characters between two tokens after which a tag is allowed; in a longer run, also at its end."""

LINK_UNIT = 10
"""Thousandths of a probability that count 1."""

TOKEN_UNIT = 10
"""Value of a token's presence."""

EQUAL_MOST = 10
"""Length of an equal string beyond which more characters are no further evidence."""

LONGEST = 400
"""Limit of the evidence of lengths: one is five times the other, or more."""


class Characters(NamedTuple):
    """Properties of every code point.

    Attributes:
        shapes: Class, flags and kind of mark, uint8.
        folds: The code point without its case, width and script of digits, uint32.
    """

    shapes: np.ndarray
    folds: np.ndarray


class TokenizedText(NamedTuple):
    """One side of a pair.

    Attributes:
        starts: First code point of each token, int64 ``[token]``, ascending.
        ends: End of each token, exclusive, int64 ``[token]``.
        points: Code points of the text, uint32.
    """

    starts: np.ndarray
    ends: np.ndarray
    points: np.ndarray


class LinkMasses(NamedTuple):
    """The links of one pair, each once, with both directions' probabilities in thousandths.

    Attributes:
        sources: Source tokens, int64 ``[link]``.
        targets: Target tokens, int64 ``[link]``.
        forward: By the direction that finds source tokens for every target token, int64
            ``[link]``.
        reverse: By the direction that finds target tokens for every source token, int64
            ``[link]``.
    """

    sources: np.ndarray
    targets: np.ndarray
    forward: np.ndarray
    reverse: np.ndarray


class TagEnd(NamedTuple):
    """An opening or closing tag in the source.

    Attributes:
        at: Its offset.
        step: 1 for an opening tag, -1 for a closing one: where the inside is.
        within: The source token inside, next to the tag.
        without: The source token outside; -1 for none.
        beyond: The source token outside at the element's other end; -1 for none.
        touching: Whether another tag is at the same offset.
        keyed: Whether the tag has an id, as in XLIFF: it marks a run of text that a program found,
            and translators keep such runs with their white space.
    """

    at: int
    step: int
    within: int
    without: int
    beyond: int
    touching: bool
    keyed: bool


class Places(NamedTuple):
    """The places of a target at which a tag is allowed.

    Attributes:
        offsets: Their offsets, int64 ``[place]``, ascending.
        before: Number of tokens before each, int64 ``[place]``.
        left: `look` to the left of each, int64 ``[place, 4]``.
        right: `look` to the right.
    """

    offsets: np.ndarray
    before: np.ndarray
    left: np.ndarray
    right: np.ndarray


class Table(NamedTuple):
    """The links of one pair as a table, and what follows from it for any element.

    Attributes:
        mass: Probability of both directions, in thousandths, int64 ``[source, target]``.
        agreed: Product of both, in thousandths, int64 ``[source, target]``.
        lead: By how much ``forward`` exceeds ``reverse``; 0 if it does not; in the same form.
        sums: Mass, agreed mass and number of partners of each target token, int64
            ``[target, 3]``.
        best: The source token of the largest mass, or -1, int64 ``[target]``.
        partner: The target token of the largest mass, or -1, int64 ``[source]``.
        equal: Whether two tokens are the same string, casing and width aside, and not just a mark,
            bool ``[source, target]``.
        equals: Whether there is such a source token, bool ``[target]``.
    """

    mass: np.ndarray
    agreed: np.ndarray
    lead: np.ndarray
    sums: np.ndarray
    best: np.ndarray
    partner: np.ndarray
    equal: np.ndarray
    equals: np.ndarray


@numba.njit(nogil=True, cache=True)
def find_places(starts: np.ndarray, ends: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """List the offsets of a text at which a tag is allowed.

    They are its edges, those of its tokens, and those of the characters between tokens: a text
    without its tags has two spaces where an empty tag was, and three where nested tags were.

    Args:
        starts: First code point of each token, int64 ``[token]``, ascending.
        ends: End of each token, exclusive, int64 ``[token]``.
        length: Number of code points of the text.

    Returns:
        Ascending offsets and the number of tokens before each, int64 ``[place]``.
    """
    tokens = len(starts)
    room = (tokens + 1) * (MAX_SPACES + 2)
    offsets = np.empty(room, np.int64)
    before = np.empty(room, np.int64)
    places = 0
    for token in range(tokens + 1):
        left = ends[token - 1] if token else 0
        right = starts[token] if token < tokens else length
        at = left
        while at <= right:
            if not places or offsets[places - 1] != at:
                offsets[places] = at
                before[places] = token
                places += 1
            at = at + 1 if at < left + MAX_SPACES else max(at + 1, right)
    return offsets[:places].copy(), before[:places].copy()


@uncounted
def look(text: np.ndarray, shapes: np.ndarray, at: Integer, step: int) -> tuple[int, int, int, int]:
    """Describe the characters on one side of an offset.

    Args:
        text: Code points, uint32.
        shapes: `Characters.shapes`.
        at: The offset.
        step: 1 for the characters to the right, -1 for those to the left.

    Returns:
        The class of the next character; the kind of mark of the next one other than white space;
        its class and case; and the number of white-space characters before it. 0 at the edge.
        Invisible marks do not count.
    """
    near = at if step > 0 else at - 1
    while 0 <= near < len(text) and shapes[text[near]] == INVISIBLE:
        near += step
    if near < 0 or near >= len(text):
        return 0, 0, 0, 0
    following = near
    spaces = 0
    while 0 <= following < len(text):
        shape_here = shapes[text[following]]
        if shape_here & CLASS == WHITE:
            spaces += 1
        elif shape_here != INVISIBLE:
            break
        following += step
    near_class = np.int64(shapes[text[near]]) & CLASS
    if following < 0 or following >= len(text):
        return int(near_class), 0, 0, int(spaces)
    shape = np.int64(shapes[text[following]])
    kind: Integer = shape >> KIND_SHIFT
    if kind == HYPHEN and following != near:
        kind = DASH
    if kind == STOP:
        for beside in (following - 1, following + 1):
            if 0 <= beside < len(text) and text[beside] == text[following]:
                kind = ELLIPSIS
    return int(near_class), int(kind), int(shape & (CLASS | UPPER)), int(spaces)


@numba.njit(nogil=True, cache=True)
def look_around(text: np.ndarray, shapes: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return `look` to the left and to the right of each offset, int64 ``[2, offset, 4]``."""
    views = np.empty((2, len(offsets), 4), np.int64)
    for place in range(len(offsets)):
        views[0, place] = look(text, shapes, offsets[place], -1)
        views[1, place] = look(text, shapes, offsets[place], 1)
    return views


@numba.njit(nogil=True, cache=True)
def tabulate(
    source: TokenizedText, target: TokenizedText, links: LinkMasses, characters: Characters
) -> Table:
    """Return the links as a table, with the best partner of each token, and equal tokens."""
    shapes, folds = characters
    sources, targets = len(source.starts), len(target.starts)
    mass = np.zeros((sources, targets), np.int64)
    agreed = np.zeros((sources, targets), np.int64)
    lead = np.zeros((sources, targets), np.int64)
    for link in range(len(links.sources)):
        one, other = links.sources[link], links.targets[link]
        forward, reverse = links.forward[link], links.reverse[link]
        mass[one, other] = forward + reverse
        agreed[one, other] = forward * reverse // THOUSAND
        lead[one, other] = max(0, forward - reverse)
    best = np.full(targets, -1, np.int64)
    partner = np.full(sources, -1, np.int64)
    for one in range(sources):
        for other in range(targets):
            if mass[one, other] > (mass[best[other], other] if best[other] >= 0 else 0):
                best[other] = one
            if mass[one, other] > (mass[one, partner[one]] if partner[one] >= 0 else 0):
                partner[one] = other
    sums = np.zeros((targets, 3), np.int64)
    for one in range(sources):
        for other in range(targets):
            sums[other, 0] += mass[one, other]
            sums[other, 1] += agreed[one, other]
        if partner[one] >= 0:
            sums[partner[one], 2] += 1
    equal = np.zeros((sources, targets), np.bool_)
    equals = np.zeros(targets, np.bool_)
    for one in range(sources):
        start, size = source.starts[one], source.ends[one] - source.starts[one]
        if shapes[source.points[start]] & CLASS != WORD:
            continue
        for other in range(targets):
            begin = target.starts[other]
            if target.ends[other] - begin != size:
                continue
            same = True
            for at in range(size):
                if folds[source.points[start + at]] != folds[target.points[begin + at]]:
                    same = False
                    break
            if same:
                equal[one, other] = True
                equals[other] = True
    return Table(mass, agreed, lead, sums, best, partner, equal, equals)


@numba.njit(nogil=True, cache=True)
def token_evidence(first: int, last: int, table: Table) -> np.ndarray:
    """Return the evidence of each target token for the span of source tokens.

    Args:
        first: First token of the span.
        last: End of the span, exclusive.
        table: The links.

    Returns:
        int64 ``[token, evidence]``, by `TOKEN_EVIDENCE`.
    """
    targets = table.mass.shape[1]
    rows = np.zeros((targets, len(TOKEN_EVIDENCE)), np.int64)
    for other in range(targets):
        row = rows[other]
        mass, agreed, partners = np.int64(0), np.int64(0), np.int64(0)
        for one in range(first, last):
            mass += table.mass[one, other]
            agreed += table.agreed[one, other]
            partners += table.partner[one] == other
            if table.equal[one, other]:
                row[EQUAL_INSIDE] = YES
        row[LINKS_INSIDE] = mass // LINK_UNIT
        row[LINKS_OUTSIDE] = (table.sums[other, 0] - mass) // LINK_UNIT
        row[AGREED_INSIDE] = agreed // LINK_UNIT
        row[AGREED_OUTSIDE] = (table.sums[other, 1] - agreed) // LINK_UNIT
        row[PARTNER_INSIDE] = partners * YES
        row[PARTNER_OUTSIDE] = (table.sums[other, 2] - partners) * YES
        if table.equals[other] and not row[EQUAL_INSIDE]:
            row[EQUAL_OUTSIDE] = YES
        row[TOKENS] = TOKEN_UNIT
        best = table.best[other]
        row[
            UNLINKED_TOKEN if best < 0 else BEST_INSIDE if first <= best < last else BEST_OUTSIDE
        ] = YES
    partner = table.partner[first] if last - first == 1 else -1
    if partner >= 0:
        belief = table.mass[first, partner]
        for other in range(targets):
            if other != partner:
                rows[other, CLAIMED] = (
                    table.lead[first, other] * belief // (2 * THOUSAND * LINK_UNIT)
                )
    return rows


@uncounted
def compare_views(
    source: tuple[int, int, int, int], target: np.ndarray, row: np.ndarray, start: int
) -> None:
    """Write how one side of a place compares with that of the tag, from ``row[start]``."""
    if source[0] == target[0]:
        row[start + SAME_CLASS] = YES
    if source[1] == target[1]:
        if source[1]:
            row[start + SAME_KIND] = YES
        return
    if target[1]:
        row[start + ADDED + target[1]] = YES


@uncounted
def compare_edges(source: int, target: int, row: np.ndarray, start: int) -> None:
    """Write whether the place is at the edge of the text, like the tag or unlike it."""
    if target == 0:
        row[start if source == 0 else start + 1] = YES


@uncounted
def same_run(
    source: tuple[int, int, int, int],
    source_beside: tuple[int, int, int, int],
    target: np.ndarray,
    beside: np.ndarray,
) -> bool:
    """Tell whether a tag and a place are at the same point of runs of white space.

    Args:
        source: `look` in one direction from the tag.
        source_beside: `look` in the other direction.
        target: `look` in the first direction from the place.
        beside: `look` in the other direction.

    Returns:
        Whether both runs have at least two characters, and the same number of them on either side.
    """
    return bool(
        source[3] + source_beside[3] > 1
        and source[3] == target[3]
        and source_beside[3] == beside[3]
    )


@uncounted
def compare_capitals(
    source: TokenizedText,
    one: int,
    target: TokenizedText,
    other: int,
    shapes: np.ndarray,
    row: np.ndarray,
) -> None:
    """Write whether a target token has a capital like a source token, or unlike it."""
    if not 0 <= other < len(target.starts):
        return
    if shapes[target.points[target.starts[other]]] & UPPER:
        both = one >= 0 and shapes[source.points[source.starts[one]]] & UPPER
        row[0 if both else 1] = YES


@uncounted
def nearest_word(text: TokenizedText, token: int, step: int, shapes: np.ndarray) -> int:
    """Return the first token from one on, in a direction, that is not just a mark; -1 for none."""
    while 0 <= token < len(text.starts):
        if shapes[text.points[text.starts[token]]] & CLASS == WORD:
            return token
        token += step
    return -1


@uncounted
def is_tight(text: np.ndarray, shapes: np.ndarray, at: int, step: int) -> bool:
    """Tell whether no space belongs next to the mark outside a tag, in any language.

    That is so before a comma, a full stop and a closing bracket, and after an opening one.

    Args:
        text: Code points, uint32.
        shapes: `Characters.shapes`.
        at: Offset of the tag, next to a mark.
        step: 1 for an opening tag, -1 for a closing one.
    """
    if step > 0:
        return shapes[text[at - 1]] >> KIND_SHIFT == OPENER
    kind = shapes[text[at]] >> KIND_SHIFT
    return kind in (COMMA, CLOSER) or text[at] == FULL_STOP


@uncounted
def is_spaced(text: np.ndarray, at: int) -> bool:
    """Tell whether both letters at an offset are of scripts with spaces between words."""
    return bool(unspaced_kind(text[at - 1]) < 0 and unspaced_kind(text[at]) < 0)


@numba.njit(nogil=True, cache=True)
def place_evidence(
    source: TokenizedText,
    target: TokenizedText,
    shapes: np.ndarray,
    tag: TagEnd,
    places: Places,
    table: Table,
    held: np.ndarray,
) -> np.ndarray:
    """Return the evidence of each place for one end of an element with words.

    Args:
        source: The source.
        target: The target.
        shapes: `Characters.shapes`.
        tag: The element's opening or closing tag.
        places: The target's places.
        table: The links.
        held: Links of each target token to the tokens inside, int64 ``[token]``.

    Returns:
        int64 ``[place, evidence]``, by `PLACE_EVIDENCE`.
    """
    at, step = tag.at, tag.step
    offsets, before, left_views, right_views = places
    targets = len(target.starts)
    inner_views = right_views if step > 0 else left_views
    outer_views = left_views if step > 0 else right_views
    rows = np.zeros((len(offsets), len(PLACE_EVIDENCE)), np.int64)
    source_in, source_out = (
        look(source.points, shapes, at, step),
        look(source.points, shapes, at, -step),
    )
    source_word = nearest_word(source, tag.within, step, shapes)
    for place in range(len(offsets)):
        row = rows[place]
        inner, outer = inner_views[place], outer_views[place]
        compare_views(source_in, inner, row, INNER)
        compare_views(source_out, outer, row, OUTER)
        compare_edges(source_out[2], outer[2], row, EDGE_BOTH)
        if row[EDGE_BOTH] and inner[1] == STOP and source_in[1] != STOP:
            row[EDGE_STOP] = YES
        if same_run(source_in, source_out, inner, outer):
            row[SPACE_RUN_KEPT] = YES
        # An object's particle is outside its element, like the space after a word.
        if step < 0 and inner[0] == WORD and target.points[offsets[place] - 1] == WO:
            row[SPACE_ADDED] = YES
        if inner[0] == WHITE:
            if source_in[0] != WHITE:
                row[SPACE_ADDED] = YES
            else:
                row[EDGE_SPACE_KEPT if row[EDGE_BOTH] else SPACE_KEPT] = YES
                if tag.touching:
                    row[TOUCHING_SPACE_KEPT] = YES
                if tag.keyed:
                    row[KEYED_SPACE_KEPT] = YES
            if outer[0] == WHITE:
                row[SPACE_DOUBLED] = YES
            elif outer[0] == OTHER and is_tight(target.points, shapes, offsets[place], step):
                row[SPACE_BEFORE_MARK] = YES
        if inner[0] == outer[0] == WORD and is_spaced(target.points, offsets[place]):
            row[INSIDE_WORD] = YES
        left, right = before[place] - 1, before[place]
        within, without = (right, left) if step > 0 else (left, right)
        word = nearest_word(target, within, step, shapes)
        compare_capitals(source, source_word, target, word, shapes, row[CAPITAL_BOTH:])
        compare_capitals(source, tag.without, target, without, shapes, row[OUTER_CAPITAL_BOTH:])
        if 0 <= within < targets:
            row[SOLID] = held[within]
            if tag.within >= 0:
                row[INNER_LINKS] = table.mass[tag.within, within] // LINK_UNIT
        if 0 <= without < targets:
            row[LEAK] = held[without]
            row[OUTER_HELD] = table.sums[without, 0] // LINK_UNIT - held[without]
            if tag.without >= 0:
                row[OUTER_LINKS] = table.mass[tag.without, without] // LINK_UNIT
            if tag.beyond >= 0:
                row[OUTER_EXCHANGED] = table.mass[tag.beyond, without] // LINK_UNIT
    return rows
