"""Nesting of projected elements: elements that nest in the source nest in the target.

If elements were placed independently, or no choice of candidates nests, an outer element is
extended until it contains its inner ones, and overlapping siblings are separated with the least
loss. Tags at one offset are ordered by the tree.
"""

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np

from pairweave.transforms.kernels.links.projection_choice import APART, FREE, HELD, HOLDS
from pairweave.transforms.markup.markup import Element, Form


@dataclasses.dataclass(slots=True)
class Spans:
    """Positions of a text's elements.

    Attributes:
        starts: Offset of each element's first tag.
        ends: Offset of its last tag.
        places: Offsets at which a tag is allowed, ascending, int64 ``[place]``.
        gains: For each element, the gain of the words before each place if they are inside it,
            int64 ``[element, place]``.
    """

    starts: list[int]
    ends: list[int]
    places: np.ndarray = dataclasses.field(default_factory=lambda: np.empty(0, np.int64))
    gains: np.ndarray = dataclasses.field(default_factory=lambda: np.empty((0, 0), np.int64))


def find_parents(elements: Sequence[Element]) -> list[int | None]:
    """Return the innermost pair of tags around each element, or None.

    >>> from pairweave.transforms.markup.markup import find_elements, parse_markup
    >>> find_parents(find_elements(parse_markup("<a>x<b>y<c/></b></a><d/>").tags))
    [None, 0, 1, None]
    """
    parents: list[int | None] = []
    around: list[int] = []
    for number, element in enumerate(elements):
        around = [other for other in around if element.first < _last(elements[other])]
        parents.append(
            next((other for other in reversed(around) if _holds(elements[other], element)), None)
        )
        if element.form is Form.PAIR:
            around.append(number)
    return parents


def find_relations(elements: Sequence[Element]) -> np.ndarray:
    """Return the relations of elements (`transforms.kernels.links.projection_choice`).

    Returns:
        int8 ``[element, element]``.

    >>> from pairweave.transforms.markup.markup import find_elements, parse_markup
    >>> find_relations(find_elements(parse_markup("<a>x<b>y</b></a><d/>").tags)).tolist()
    [[0, 1, 3], [2, 0, 3], [3, 3, 0]]
    """
    if len(elements) == 1:
        return np.zeros((1, 1), np.int8)
    first = np.array([element.first for element in elements], np.int64)
    last = np.array([_last(element) for element in elements], np.int64)
    pair = np.array([element.form is Form.PAIR for element in elements], np.bool_)
    relations = np.full((len(elements), len(elements)), FREE, np.int8)
    holds = pair[:, None] & (first[:, None] < first) & (last < last[:, None])
    before = (last[:, None] < first) & (pair[:, None] | pair)
    relations[holds] = HOLDS
    relations[holds.T] = HELD
    relations[before | before.T] = APART
    return relations


def settle(elements: Sequence[Element], parents: Sequence[int | None], spans: Spans) -> None:
    """Move the ends of pairs until those nested or disjoint in the source are so in the target.

    Pairs that cross in the source are not changed.

    Args:
        elements: The source's elements.
        parents: `find_parents` of them.
        spans: Independent places of the elements; changed in place.
    """
    pairs = [number for number, element in enumerate(elements) if element.form is Form.PAIR]
    if len(pairs) == len(elements) == 1:
        return
    for number in reversed(pairs):
        parent = parents[number]
        if parent is not None:
            spans.starts[parent] = min(spans.starts[parent], spans.starts[number])
            spans.ends[parent] = max(spans.ends[parent], spans.ends[number])
    for number in range(len(elements)):
        parent = parents[number]
        if parent is not None:
            _clamp(spans, number, spans.starts[parent], spans.ends[parent])
        if elements[number].form is not Form.PAIR:
            continue
        for sibling in pairs:
            if sibling >= number:
                break
            if parents[sibling] == parent and _apart(elements[sibling], elements[number]):
                _part(spans, sibling, number)
    _fit_children(elements, parents, spans)


def order_tags(
    elements: Sequence[Element], parents: Sequence[int | None], spans: Spans
) -> list[tuple[int, int]]:
    """Return (number of the tag, offset) in the order of the tags in the target.

    Siblings at one place keep the order of the source; a tag without a partner that is placed
    inside a neighbouring pair becomes a part of that pair.
    """
    if _any_cross(elements):
        return _by_offset(elements, spans)
    inner: dict[int | None, list[int]] = {}
    for number, element in enumerate(elements):
        parent = parents[number]
        if element.form is not Form.PAIR:
            parent = _deepest(elements, parents, spans, number)
        inner.setdefault(parent, []).append(number)
    ordered: list[tuple[int, int]] = []
    waiting: list[tuple[int, bool]] = []

    def push(parent: int | None) -> None:
        children = inner.get(parent, [])
        children.sort(
            key=lambda child: (spans.starts[child], spans.ends[child], child), reverse=True
        )
        waiting.extend((number, False) for number in children)

    push(None)
    while waiting:
        number, done = waiting.pop()
        element = elements[number]
        if done:
            ordered.append((_last(element), spans.ends[number]))
            continue
        ordered.append((element.first, spans.starts[number]))
        if element.form is Form.PAIR:
            waiting.append((number, True))
            push(number)
    return ordered


def _holds(outer: Element, inner: Element) -> bool:
    """Tell whether a pair of tags is around an element."""
    assert outer.opening is not None
    assert outer.closing is not None
    return outer.opening < inner.first and _last(inner) < outer.closing


def _last(element: Element) -> int:
    return element.first if element.closing is None else element.closing


def _apart(one: Element, other: Element) -> bool:
    return _last(one) < other.first or _last(other) < one.first


def _any_cross(elements: Sequence[Element]) -> bool:
    waiting: list[int] = []
    for element in elements:
        if element.form is not Form.PAIR:
            continue
        assert element.closing is not None
        while waiting and waiting[-1] < element.first:
            waiting.pop()
        if waiting and waiting[-1] < element.closing:
            return True
        waiting.append(element.closing)
    return False


def _by_offset(elements: Sequence[Element], spans: Spans) -> list[tuple[int, int]]:
    """Order the tags of pairs that cross: by offset, then as in the source."""
    tags = []
    for number, element in enumerate(elements):
        tags.append((element.first, spans.starts[number]))
        if element.form is Form.PAIR:
            tags.append((_last(element), spans.ends[number]))
    return sorted(tags, key=lambda tag: (tag[1], tag[0]))


def _deepest(
    elements: Sequence[Element], parents: Sequence[int | None], spans: Spans, number: int
) -> int | None:
    """Return the innermost pair around a lone tag: its own parent, or one that it moved into."""
    at, parent = spans.starts[number], parents[number]
    for other, element in enumerate(elements):
        if (
            element.form is Form.PAIR
            and parents[other] == parent
            and spans.starts[other] < at < spans.ends[other]
        ):
            parent = other
    return parent


def _clamp(spans: Spans, number: int, start: int, end: int) -> None:
    spans.starts[number] = min(max(spans.starts[number], start), end)
    spans.ends[number] = min(max(spans.ends[number], start), end)


def _part(spans: Spans, one: int, other: int) -> None:
    """Separate two overlapping spans with the least loss."""
    start = max(spans.starts[one], spans.starts[other])
    end = min(spans.ends[one], spans.ends[other])
    if start > end:
        return
    if start == end:
        for empty, full in ((one, other), (other, one)):
            if spans.starts[full] < start < spans.ends[full]:
                edge = spans.ends[full] if empty > full else spans.starts[full]
                spans.starts[empty] = spans.ends[empty] = edge
        return
    best: tuple[int, tuple[int, int, int, int]] | None = None
    cuts = [int(at) for at in spans.places if start <= at <= end] or [start]
    for left, right in ((one, other), (other, one)):
        for cut in cuts:
            a, b = spans.starts[left], min(spans.ends[left], cut)
            c, d = max(spans.starts[right], cut), spans.ends[right]
            worth = _worth(spans, left, a, b) + _worth(spans, right, c, d)
            if best is None or worth > best[0]:
                best = worth, ((a, b, c, d) if left == one else (c, d, a, b))
    assert best is not None
    spans.starts[one], spans.ends[one], spans.starts[other], spans.ends[other] = best[1]


def _fit_children(elements: Sequence[Element], parents: Sequence[int | None], spans: Spans) -> None:
    """Put elements inside their parents, and pairs behind the siblings that begin before them.

    A pair that was shortened last may no longer contain its children, and one that was moved out of
    a sibling may be inside another.
    """
    inner: dict[int | None, list[int]] = {}
    for number, parent in enumerate(parents):
        inner.setdefault(parent, []).append(number)
    crosses = _any_cross(elements)
    for parent in (None, *range(len(elements))):
        children = inner.get(parent, [])
        if parent is not None:
            for number in children:
                _clamp(spans, number, spans.starts[parent], spans.ends[parent])
        if crosses:
            continue
        pairs = [number for number in children if elements[number].form is Form.PAIR]
        pairs.sort(key=lambda number: (spans.starts[number], spans.ends[number], number))
        for before, number in itertools.pairwise(pairs):
            spans.starts[number] = max(spans.starts[number], spans.ends[before])
            spans.ends[number] = max(spans.ends[number], spans.starts[number])


def _worth(spans: Spans, number: int, start: int, end: int) -> int:
    first, last = np.searchsorted(spans.places, [start, end])
    return int(spans.gains[number, last] - spans.gains[number, first])
