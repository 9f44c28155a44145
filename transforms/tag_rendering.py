"""Indexed tags of a pair in another representation (`transforms.representations`)."""

import re
from collections.abc import Sequence

import pyarrow as pa

from transforms.kernels.tags import INDICES, MOST_TAGS
from transforms.markup import INDEXED, Marked, parse_markup
from transforms.representations import find_representation
from transforms.tag_symbols import Representation
from transforms.tag_table import Mark, TagTable, mark_of

Name = str | tuple[str, str, str]
"""A representation's name, or a template: an opening, a closing and an empty tag."""


def is_indexed(name: Name) -> bool:
    """Tell whether tags stay as they are injected."""
    return name == "indexed"


def render_columns(source: pa.Array, target: pa.Array, name: Name) -> tuple[pa.Array, pa.Array]:
    """Write the indexed tags of pairs in a representation.

    Sequences such as XLIFF's ids count from 1, left to right in the source (Hanneman and Dinu
    2020, section 3.1).

    Args:
        source: Sources with indexed tags, string ``[row]``.
        target: Targets, likewise.
        name: The representation.
    """
    representation = find_representation(name)
    pairs = [
        render_pair(one, other, representation) if "a_" in one or "a_" in other else (one, other)
        for one, other in zip(source.to_pylist(), target.to_pylist(), strict=True)
    ]
    sides = zip(*pairs, strict=True) if pairs else ((), ())
    rendered = [pa.array(side, pa.string()) for side in sides]
    return rendered[0], rendered[1]


def render_pair(source: str, target: str, representation: Representation) -> tuple[str, str]:
    """Write the indexed tags of one pair in a representation.

    >>> render_pair("a <a_7>b</a_7>", "<a_7>c</a_7> d", find_representation("xliff"))
    ('a <g id="1">b</g>', '<g id="1">c</g> d')
    """
    sides = [parse_markup(text, INDEXED) for text in (source, target)]
    table = TagTable({}, _order(sides))
    return str(representation.write(sides[0], table)), str(representation.write(sides[1], table))


def _order(sides: Sequence[Marked]) -> tuple[Mark, ...]:
    return tuple(dict.fromkeys(mark_of(tag) for side in sides for tag in side.tags))


def symbols_of(name: Name, *, self_closing: bool) -> list[str]:
    """Return all tags that a run may write, in a fixed order."""
    representation = find_representation(name)
    if not is_indexed(name):
        # A template has the drawn number, others a sequence from their first number on.
        return representation.symbols(MOST_TAGS if isinstance(name, str) else INDICES)
    symbols = representation.symbols(INDICES)
    # Tags that no run without self-closing ones writes would only cost a model room.
    return [symbol for symbol in symbols if self_closing or not symbol.endswith("/>")]


def symbol_pattern(name: Name) -> str:
    """Return a regular expression, for RE2 too, of a representation's tags."""
    pattern = find_representation(name).pattern().pattern
    return re.sub(r"\(\?P<[a-z_]+>", "(?:", pattern)
