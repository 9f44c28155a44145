"""Tags written in a representation one pair at a time: what is quicker must equal it."""

from collections.abc import Mapping, Sequence
from typing import Any

from pairweave.transforms.markup.markup import INDEXED, Form, Kind, Marked, Tag, parse_markup
from pairweave.transforms.markup.tag_table import Entry, Mark, TagTable, mark_of, numbered_tag
from pairweave.transforms.symbols.representations import find_representation

# Marked so, a pair is never written as <g> ... </g>, which cannot cross.
_CROSSING = "bx"


def render_pair(source: str, target: str, representation) -> tuple[str, str]:
    """Write the indexed tags of one pair in a representation: what `render_columns` must equal.

    >>> render_pair("a <a_7>b</a_7>", "<a_7>c</a_7> d", find_representation("xliff"))
    ('a <g id="1">b</g>', '<g id="1">c</g> d')
    """
    sides = [parse_markup(text, INDEXED) for text in (source, target)]
    table = TagTable({}, _order(sides))
    return str(representation.write(sides[0], table)), str(representation.write(sides[1], table))


def _order(sides: Sequence[Marked]) -> tuple[Mark, ...]:
    return tuple(dict.fromkeys(mark_of(tag) for side in sides for tag in side.tags))


def render(
    text: str,
    tags: Sequence[Mapping[str, Any]],
    side: str,
    representation,
) -> str:
    """Write the tags of a TAGGED row into one of its sides.

    Where tags meet, those that close come first, inner ones before outer ones, then those round
    nothing, then those that open; tags round one range nest in their given order. A tag may have
    several entries if a side has it more than once; equal entries of a side count once. Sequences
    count left to right in the source.

    Args:
        text: The side without tags; it must hold no symbol.
        tags: Items of the column ``tags`` (`transforms.schemas.TAG`).
        side: ``source`` or ``target``.
        representation: What tags look like; not ``raw``.

    >>> tag = {"index": 7, "form": "pair", "source_start": 0, "source_end": 1}
    >>> render("a b", [tag], "source", "xliff")
    '<g id="1">a</g> b'
    """
    placed = _place(tags, side)
    first = placed if side == "source" else _place(tags, "source")
    crossing = _crossing(first) | (_crossing(placed) if side != "source" else set())
    entries = {
        tag["index"]: Entry(
            Form(tag["form"]), _CROSSING if tag["index"] in crossing else "a", None, None
        )
        for tag in tags
    }
    table = TagTable(entries, tuple(dict.fromkeys(map(mark_of, first))))
    if isinstance(representation, str):
        representation = find_representation(representation)
    return str(representation.write(Marked(text, tuple(placed)), table))


def _place(tags: Sequence[Mapping[str, Any]], side: str) -> list[Tag]:
    """Return the numbered tags of a side of a TAGGED row in their order."""
    spans = dict.fromkeys(
        (tag["index"], Form(tag["form"]), tag[f"{side}_start"], tag[f"{side}_end"]) for tag in tags
    )
    keyed = []
    for place, (number, form, start, end) in enumerate(spans):
        # Where tags meet: closing tags are 0, those round nothing 1, opening ones 2.
        round_nothing = start == end
        if form is Form.SELF_CLOSING:
            keyed.append(((start, 1, place, 0), Mark(Kind.EMPTY, number)))
        if form in (Form.PAIR, Form.OPEN):
            key = (start, 1, place, 0) if round_nothing else (start, 2, -end, place)
            keyed.append((key, Mark(Kind.OPEN, number)))
        if form in (Form.PAIR, Form.CLOSE):
            key = (start, 1, place, 1) if round_nothing else (end, 0, -start, -place)
            keyed.append((key, Mark(Kind.CLOSE, number)))
    return [numbered_tag(*mark, key[0]) for key, mark in sorted(keyed)]


def _crossing(tags: Sequence[Tag]) -> set[int]:
    """Return the numbers of pairs that cross another."""
    opened: dict[int, int] = {}
    spans = []
    for place, tag in enumerate(tags):
        kind, number = mark_of(tag)
        if kind is Kind.OPEN:
            opened[number] = place
        elif kind is Kind.CLOSE and number in opened:
            spans.append((opened.pop(number), place, number))
    return {
        number
        for start, end, first in spans
        for other_start, other_end, second in spans
        if start < other_start < end < other_end
        for number in (first, second)
    }
