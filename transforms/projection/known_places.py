"""Learns the weights of evidence from tags that people placed."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from pairweave.transforms.kernels.links import projection_learning as learning
from pairweave.transforms.kernels.links import projection_spans
from pairweave.transforms.kernels.links.projection import setting_of
from pairweave.transforms.kernels.links.projection_evidence import (
    Characters,
    LinkMasses,
    TokenizedText,
)
from pairweave.transforms.kernels.links.projection_points import POINT_EVIDENCE
from pairweave.transforms.kernels.links.projection_spans import SPAN_WEIGHTS, Pair
from pairweave.transforms.kernels.sampling import draws
from pairweave.transforms.links.soft_links import SoftLinks
from pairweave.transforms.markup.markup import Element, Marked, find_elements
from pairweave.transforms.projection.project import Tokens, lay_out
from pairweave.transforms.projection.projection_weights import MOST, ProjectionWeights

PASSES = 6
"""Number of passes over the examples. More passes change fewer than one tag in a thousand of help
pages."""

HELD_OUT = 5
"""One segment in this many is held out, to measure the confidence that a margin gives."""

STEPS_OF_CONFIDENCE = 12
"""Margins are cut into this many groups of equal size."""


@dataclasses.dataclass(frozen=True, slots=True)
class KnownPlace:
    """An element and where people put it.

    Attributes:
        bounds: Offsets of its tags in the source.
        setting: Its setting (`transforms.kernels.links.projection.setting_of`).
        gold: Offsets of its tags in the translation.
    """

    bounds: tuple[int, int]
    setting: tuple[bool, bool, bool]
    gold: tuple[int, int]


@dataclasses.dataclass(frozen=True, slots=True)
class KnownSegment:
    """A pair whose tags people placed on both sides.

    Attributes:
        sides: The pair as laid out for kernels (`transforms.projection.project.lay_out`).
        elements: The elements that both sides have.
    """

    sides: tuple[TokenizedText, TokenizedText, LinkMasses, Characters]
    elements: tuple[KnownPlace, ...]


def known_places(
    source: Marked,
    target: Marked,
    source_tokens: Tokens,
    target_tokens: Tokens,
    links: SoftLinks,
) -> KnownSegment:
    """Return the elements that both sides have, with their places.

    Elements with the same name, key and form correspond in their order.

    Args:
        source: The source with its tags.
        target: The translation with its tags.
        source_tokens: As for `transforms.projection.project.project_tags`.
        target_tokens: The same for the translation.
        links: Links between them.
    """
    sides = lay_out(source, target.text, source_tokens, target_tokens, links)
    others = dict(_named(target))
    named = _named(source)
    starts = np.array([element.start for _, element in named], np.int64)
    ends = np.array([element.end for _, element in named], np.int64)
    keyed = np.array([bool(name[1]) for name, _ in named], np.bool_)
    places = []
    for number, (name, element) in enumerate(named):
        other = others.get(name)
        if other is not None:
            setting = setting_of(starts, ends, keyed, number)
            bounds = element.start, element.end
            places.append(KnownPlace(bounds, setting, (other.start, other.end)))
    return KnownSegment(sides, tuple(places))


def _named(marked: Marked) -> list[tuple[tuple[str, ...], Element]]:
    seen: Counter[tuple[str, ...]] = Counter()
    elements: list[tuple[tuple[str, ...], Element]] = []
    for element in find_elements(marked.tags):
        tag = marked.tags[element.first]
        base = tag.name, tag.key, element.form.value
        elements.append(((*base, str(seen[base])), element))
        seen[base] += 1
    return elements


def learn_weights(
    segments: Sequence[KnownSegment], say: Callable[[str], None] = lambda _: None
) -> ProjectionWeights:
    """Learn the weights of all evidence, and the confidence that a margin gives.

    Args:
        segments: Segments with tags on both sides.
        say: Receives the result of each pass as text.
    """
    examples = [segment for number, segment in enumerate(segments) if number % HELD_OUT]
    spans, points = _learner(SPAN_WEIGHTS), _learner(len(POINT_EVIDENCE))
    table = learning.exponential()
    for number in range(PASSES):
        spans.totals[:] = 0
        points.totals[:] = 0
        steps, wrong = [0, 0], 0
        for segment in _shuffled(examples, number):
            pair = projection_spans.prepare(*segment.sides)
            for known in segment.elements:
                gold = place_numbers(pair, known)
                if gold is None:
                    continue
                first, last = projection_spans.find_tokens(pair.source, *known.bounds)
                if known.bounds[0] == known.bounds[1]:
                    steps[1] += 1
                    tag = known.bounds[0], known.setting[2]
                    wrong += not learning.learn_point(pair, tag, gold[0], points, table)
                elif first < last and pair.places.before[gold[0]] < pair.places.before[gold[1]]:
                    steps[0] += 1
                    wrong += not learning.learn_span(
                        pair, known.bounds, known.setting, gold, spans, table
                    )
        say(f"pass {number + 1} of {PASSES}: {wrong:,} of {sum(steps):,} elements elsewhere")
    weights = ProjectionWeights(
        _mean(spans.totals, steps[0]), _mean(points.totals, steps[1]), (), (0,)
    )
    margins, shares = confidence_of(segments[::HELD_OUT], weights)
    return dataclasses.replace(weights, margins=margins, shares=shares)


def place_numbers(pair: Pair, known: KnownPlace) -> tuple[int, int] | None:
    """Return the numbers of the places of an element's tags; None where a tag cannot be put."""
    offsets = pair.places.offsets
    numbers = [int(np.searchsorted(offsets, at)) for at in known.gold]
    if any(
        place == len(offsets) or offsets[place] != at
        for place, at in zip(numbers, known.gold, strict=True)
    ):
        return None
    return numbers[0], numbers[1]


def _learner(size: int) -> learning.Learner:
    return learning.Learner(np.zeros(size), np.full(size, 100.0), np.zeros(size))


def _mean(totals: np.ndarray, steps: int) -> tuple[int, ...]:
    means = np.floor(totals / max(1, steps) + 0.5).astype(np.int64)
    return tuple(np.clip(means, -MOST, MOST).tolist())


def _shuffled(examples: Sequence[KnownSegment], number: int) -> Iterable[KnownSegment]:
    keys = draws(np.uint64(number), np.arange(len(examples), dtype=np.uint64), np.uint64(0))
    return (examples[place] for place in np.argsort(keys, kind="stable"))


def confidence_of(
    held_out: Sequence[KnownSegment], weights: ProjectionWeights
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return margins and shares of right places (`ProjectionWeights`); shares never fall."""
    arrays = weights.arrays()
    rows = []
    for segment in held_out:
        pair = projection_spans.prepare(*segment.sides)
        for known in segment.elements:
            gold = place_numbers(pair, known) or (-1, -1)
            rows.append(learning.margin_of(pair, known.bounds, known.setting, gold, arrays))
    rows.sort()
    if not rows:
        return (), (0,)
    groups = [list(part) for part in np.array_split(np.arange(len(rows)), STEPS_OF_CONFIDENCE)]
    merged: list[tuple[int, int, int]] = []  # smallest margin, right, all; pooled where they fall
    for group in groups:
        if not group:
            continue
        merged.append((int(rows[group[0]][0]), sum(bool(rows[at][1]) for at in group), len(group)))
        while len(merged) > 1 and (
            merged[-1][0] == merged[-2][0]
            or merged[-1][1] * merged[-2][2] <= merged[-2][1] * merged[-1][2]
        ):
            last, before = merged.pop(), merged.pop()
            merged.append((before[0], before[1] + last[1], before[2] + last[2]))
    margins = tuple(margin for margin, _, _ in merged[1:])
    return margins, tuple(1_000 * right // count for _, right, count in merged)
