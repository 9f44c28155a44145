"""Evidence for the place of a tag that no word belongs to, as small integers.

Each piece of evidence has a name in `POINT_EVIDENCE`, and the weight of that name.
"""

import numba
import numpy as np

from pairweave.transforms.kernels.integers import Integer
from pairweave.transforms.kernels.links.projection_evidence import (
    CLASS,
    COMMA,
    INNER,
    LINK_UNIT,
    OTHER,
    OUTER,
    PLACE_REST,
    STOP,
    UPPER,
    VIEW,
    WHITE,
    WORD,
    YES,
    Places,
    Table,
    TokenizedText,
    compare_edges,
    compare_views,
    look,
    same_run,
)
from pairweave.transforms.kernels.text.japanese import WO, is_hiragana, is_particle
from pairweave.transforms.kernels.uncounted import uncounted

POINT_EVIDENCE = (
    *(f"left_{name}" for name in VIEW),
    *(f"right_{name}" for name in VIEW),
    "left_edge_both",
    "left_edge_added",
    "right_edge_both",
    "right_edge_added",
    "capital_both",
    "crossing",
    "left_links",
    "right_links",
    "gap",
    "unkeyed_gap",
    "space_run_kept",
    "inside_word",
    "shift",
    "stray_particle",
)
(
    LEFT_EDGE_BOTH,
    LEFT_EDGE_ADDED,
    RIGHT_EDGE_BOTH,
    RIGHT_EDGE_ADDED,
    POINT_CAPITAL,
    CROSSING,
    LEFT_LINKS,
    RIGHT_LINKS,
    GAP,
    UNKEYED_GAP,
    POINT_SPACE_RUN_KEPT,
    POINT_INSIDE_WORD,
    POINT_SHIFT,
    STRAY_PARTICLE,
) = range(PLACE_REST, len(POINT_EVIDENCE))

FADING = np.array([100, 61, 37, 22, 14, 8, 5, 3, 2], np.int64)
"""Weight (in per cent) of words by their distance from a tag without words; 1 beyond."""

LOOSE = 25
"""Weight (in per cent) of the side of such a tag that a space or a mark separates from it."""


_PARTICLES = (
    "를",
    "을",
    "는",
    "은",
    "에",
    "의",
    "와",
    "과",
    "로",
    "으로",
    "에는",
    "에서",
    "에서는",
)

PARTICLES = np.array(
    [[ord(char) for char in particle.ljust(3, "\0")] for particle in _PARTICLES], np.uint32
)
"""Korean particles that are not words by themselves, uint32 ``[particle, 3]``, padded with 0.
이, 가 and 도 are left out: they are words, too."""


@uncounted
def is_stray_japanese(text: np.ndarray, shapes: np.ndarray, at: Integer) -> bool:
    """Tell whether a Japanese particle begins at an offset without the noun that it belongs to.

    It does if it follows no letter and precedes one that is not Hiragana; ``wo`` also after another
    particle. Without their tags, ``<link/>の設定`` and ``詳細は<link/>を参照`` have one.

    Args:
        text: Code points, uint32.
        shapes: `Characters.shapes`.
        at: The offset.
    """
    if at >= len(text):
        return False
    point = text[at]
    after_particle = at > 0 and is_particle(text[at - 1]) and text[at - 1] != WO
    alone = at == 0 or shapes[text[at - 1]] & CLASS != WORD
    if point == WO:
        return bool(alone or after_particle)
    if not is_particle(point) or not alone or at + 1 == len(text):
        return False
    following = text[at + 1]
    is_letter = shapes[following] & CLASS == WORD
    return bool(is_letter and not is_hiragana(following))


@uncounted
def is_stray_particle(text: np.ndarray, shapes: np.ndarray, at: Integer) -> bool:
    """Tell whether a Korean particle begins at an offset without the noun that it belongs to.

    Without its tags, ``<link/>를 살펴봅니다`` begins so.

    Args:
        text: Code points, uint32.
        shapes: `Characters.shapes`.
        at: The offset.
    """
    if at and shapes[text[at - 1]] & CLASS != WHITE:
        return False
    size, longest = np.int64(0), PARTICLES.shape[1]
    while at + size < len(text) and shapes[text[at + size]] & CLASS == WORD:
        size += 1
        if size > longest:
            return False
    if not size:
        return False
    for particle in PARTICLES:
        same = True
        for number in range(longest):
            same &= particle[number] == (text[at + number] if number < size else 0)
        if same:
            return True
    return False


@numba.njit(nogil=True, cache=True)
def side_weights(left: Integer, right: Integer) -> tuple[int, int]:
    """Return the weights of the words left and right of a tag, in per cent."""
    if (left >= WORD and right < WORD) or (left == WORD and right == OTHER):
        return 100, LOOSE
    if (right >= WORD and left < WORD) or (right == WORD and left == OTHER):
        return LOOSE, 100
    return 100, 100


@numba.njit(nogil=True, cache=True)
def crossing(token: Integer, left_weight: int, right_weight: int, table: Table) -> np.ndarray:
    """Return what each target token gains if it is left of a tag that is before a source token.

    Args:
        token: The source token after the tag.
        left_weight: Weight of the tokens before the tag, in per cent.
        right_weight: Weight of those after it.
        table: The links.
    """
    sources, targets = table.mass.shape
    gains = np.zeros(targets, np.int64)
    for one in range(sources):
        distance = one - token if one >= token else token - 1 - one
        weight = left_weight if one < token else -right_weight
        fading = FADING[distance] if distance < len(FADING) else 1
        for other in range(targets):
            if table.mass[one, other]:
                gains[other] += table.mass[one, other] * fading * weight // 100
    return gains // (100 * LINK_UNIT)


@numba.njit(nogil=True, cache=True)
def point_evidence(
    source: TokenizedText,
    target: TokenizedText,
    shapes: np.ndarray,
    at: int,
    keyed: bool,  # noqa: FBT001
    places: Places,
    table: Table,
) -> np.ndarray:
    """Return the evidence of each place for a tag that no word belongs to.

    Args:
        source: The source.
        target: The target.
        shapes: `Characters.shapes`.
        at: Offset of the tag in the source.
        keyed: Whether the tag has an id (`TagEnd`).
        places: The target's places.
        table: The links.

    Returns:
        int64 ``[place, evidence]``, by `POINT_EVIDENCE`.
    """
    offsets, before, left_views, right_views = places
    sources, targets = table.mass.shape
    rows = np.zeros((len(offsets), len(POINT_EVIDENCE)), np.int64)
    source_left, source_right = (
        look(source.points, shapes, at, -1),
        look(source.points, shapes, at, 1),
    )
    token = np.int64(np.searchsorted(source.starts, at))
    gains = crossing(token, *side_weights(source_left[0], source_right[0]), table)
    sums = np.zeros(targets + 1, np.int64)
    for other in range(targets):
        sums[other + 1] = sums[other] + gains[other]
    size, target_size = len(source.points), len(target.points)
    for place in range(len(offsets)):
        row, offset = rows[place], offsets[place]
        left, right = left_views[place], right_views[place]
        compare_views(source_left, left, row, INNER)
        compare_views(source_right, right, row, OUTER)
        compare_edges(source_left[2], left[2], row, LEFT_EDGE_BOTH)
        compare_edges(source_right[2], right[2], row, RIGHT_EDGE_BOTH)
        if source_right[2] & UPPER and right[2] & UPPER:
            row[POINT_CAPITAL] = YES
        row[CROSSING] = sums[before[place]]
        if token > 0 and before[place] > 0:
            row[LEFT_LINKS] = table.mass[token - 1, before[place] - 1] // LINK_UNIT
        if token < sources and before[place] < targets:
            row[RIGHT_LINKS] = table.mass[token, before[place]] // LINK_UNIT
        if left[0] < WORD and (right[0] < WORD or right[1] in (STOP, COMMA)):
            row[GAP] = YES if left[0] != right[0] or left[0] == WHITE else 0
            row[UNKEYED_GAP] = 0 if keyed else row[GAP]
        if same_run(source_left, source_right, left, right):
            row[POINT_SPACE_RUN_KEPT] = YES
        if left[0] == WORD and right[0] == WORD:
            row[POINT_INSIDE_WORD] = YES
        off = abs(offset * size - at * target_size)
        row[POINT_SHIFT] = 2 * YES * off // max(1, size * target_size)
        points, following = target.points, offset + (right[3] if left[0] == WHITE else 0)
        if is_stray_particle(points, shapes, following) or is_stray_japanese(
            points, shapes, following
        ):
            row[STRAY_PARTICLE] = YES
    return rows
