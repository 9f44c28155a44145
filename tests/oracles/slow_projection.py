"""The slow twin of `transforms.kernels.links.projection`, in plain Python: it tries all places."""

import dataclasses
from fractions import Fraction
from itertools import product

from pairweave.transforms.markup.markup import Marked

STOPS = ".!?:;…。！？：；"  # noqa: RUF001 - full-width marks are meant
FADING = (100, 61, 37, 22, 14, 8, 5, 3, 2)


def kind(char):
    """Return what class of character one is; an edge is no character."""
    if char == "":
        return "edge"
    if char.isspace():
        return "space"
    return "word" if char.isalnum() else "mark"


def round_about(text, at):
    """Return the characters beside an offset, and the next ones that are no white space."""
    before, behind = text[:at], text[at:]
    return before[-1:], behind[:1], before.rstrip()[-1:], behind.lstrip()[:1]


def likeness(source, target, edge, capital):
    score = 0
    for side in (0, 1):
        if kind(source[side]) == kind(target[side]):
            score += 6_000
        one, other = source[side + 2], target[side + 2]
        if one == other == "":
            score += edge
        elif one and other:
            same_mark = one == other and kind(one) != "word"
            if same_mark or (one in STOPS and other in STOPS):
                score += 6_000
            if side == 1 and one.isupper() and other.isupper():
                score += capital
    return score


def places_of(tokens, length):
    """Return (offset, tokens before it) of all places for a tag."""
    ends = [0, *(end for _, end in tokens)]
    starts = [*(start for start, _ in tokens), length]
    every = [
        (at, number) for number, pair in enumerate(zip(ends, starts, strict=True)) for at in pair
    ]
    return [
        place
        for number, place in enumerate(every)
        if not number or place[0] != every[number - 1][0]
    ]


def span_gains(first, last, targets, links):
    """Return the gain of each target token; links are {(source, target): (forward, reverse)}."""
    gains = []
    for target in range(targets):
        gain = -7_000
        for (source, other), (forward, reverse) in links.items():
            if other == target:
                gain += (forward + reverse) * (100 if first <= source < last else -50)
        gains.append(gain)
    if last - first != 1 or not targets:
        return gains
    partner = gains.index(max(gains))
    belief = sum(links.get((first, partner), (0, 0)))
    for target in range(targets):
        forward, reverse = links.get((first, target), (0, 0))
        if target != partner and forward > reverse:
            gains[target] -= (forward - reverse) * belief * 110 // 2_000
    return gains


def point_gains(token, left, right, targets, links):
    gains = [0] * targets
    for (source, target), (forward, reverse) in links.items():
        distance = source - token if source >= token else token - 1 - source
        fading = FADING[distance] if distance < len(FADING) else 1
        weight = left if source < token else -right
        gains[target] += (forward + reverse) * fading * weight // 100
    return gains


def weights(around):
    left, right = (kind(char) for char in around[:2])
    solid = ("word", "mark")
    if left in solid and (right not in solid or (left == "word" and right == "mark")):
        return 100, 25
    if right in solid and (left not in solid or (right == "word" and left == "mark")):
        return 25, 100
    return 100, 100


def place(source, target, source_tokens, target_tokens, links, start, end):
    """Return where the tags of one element go.

    Args:
        source: The source's text.
        target: The target's.
        source_tokens: Tokens, none of which holds ``start`` or ``end`` inside.
        target_tokens: Tokens.
        links: By (source token, target token), (forward, reverse) in thousandths.
        start: Offset of the element's first tag.
        end: Offset of its last.
    """
    inside = [
        number
        for number, (a, b) in enumerate(source_tokens)
        if a < end and b > start and start < end
    ]
    first = sum(1 for _, b in source_tokens if b <= start)
    places = places_of(target_tokens, len(target))
    bounds = [round_about(source, at) for at in (start, end)]
    if inside and not target_tokens:
        return 0, len(target)
    edge = 0 if len(inside) == 1 and (bounds[0][2] or bounds[1][3]) else 60_000
    worth = [
        [
            likeness(here, round_about(target, at), edge, 8_000 if not side or start == end else 0)
            for at, _ in places
        ]
        for side, here in enumerate(bounds)
    ]
    if inside:
        gains = span_gains(inside[0], inside[-1] + 1, len(target_tokens), links)
        return max(
            (
                worth[0][a] + sum(gains[places[a][1] : places[b][1]]) + worth[1][b],
                -b,
                a,
                (places[a][0], places[b][0]),
            )
            for a, b in product(range(len(places)), repeat=2)
            if places[a][1] < places[b][1]
        )[-1]
    found = []
    for side, at in enumerate((start, end)):
        gains = point_gains(first, *weights(bounds[side]), len(target_tokens), links)
        found.append(
            max(
                (
                    sum(gains[:before])
                    + worth[side][number]
                    - int(20_000 * off(offset, at, len(target), len(source))),
                    number,
                    offset,
                )
                for number, (offset, before) in enumerate(places)
            )[-1]
        )
    return found[0], max(found)


def off(offset, at, target_length, source_length):
    """Return how far an offset is off the proportional one, as a share of the text."""
    whole = max(1, target_length * source_length)
    return Fraction(abs(offset * source_length - at * target_length), whole)


def place_proportionally(source, target_text):
    """Put each tag where it stood in proportion to the text's length: no rule, but a yardstick.

    >>> from pairweave.transforms.markup.markup import parse_markup
    >>> str(place_proportionally(parse_markup("ab<x/>cd"), "abcdef"))
    'abc<x/>def'
    """
    length, new = len(source.text), len(target_text)
    return Marked(
        target_text,
        tuple(
            dataclasses.replace(tag, offset=round(tag.offset * new / length) if length else 0)
            for tag in source.tags
        ),
    )
