"""Numbered tags, and the table of the original tags.

The tags of a text are *numbered* if the key of each is the number of its element in a table
(`TagTable`); how the tags are written then depends on the representation
(`transforms.symbols.representations`), and the table restores the original tags.
"""

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.indexed_tag import NAME, write_tag
from pairweave.transforms.markup.element_partners import EQUAL, Rule, find_partners, numbers_of_tags
from pairweave.transforms.markup.markup import (
    EMPTY_OPENINGS,
    INDEXED,
    Element,
    Form,
    Kind,
    Marked,
    Tag,
    find_elements,
    parse_markup,
)

LITERAL = "#text"
"""The name for text that looks like a tag, which the table contains as an empty tag."""

_HALVES = frozenset(EMPTY_OPENINGS.values())
"""Names of pairs that XLIFF writes as two empty tags, since they need not nest."""


class Mark(NamedTuple):
    """One tag of an element.

    Attributes:
        kind: Whether it opens, closes or is empty.
        number: The element's number.
    """

    kind: Kind
    number: int


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """The original tags of an element.

    Attributes:
        form: Pair, empty tag or half a pair.
        name: The tags' name.
        opening: The characters of the opening or empty tag; None if it only closes.
        closing: The closing tag's; None if there is none.
    """

    form: Form
    name: str
    opening: str | None
    closing: str | None

    def raw(self, kind: Kind) -> str | None:
        """Return the characters of one of its tags; None if it has no such tag."""
        return self.closing if kind is Kind.CLOSE else self.opening

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Return the kinds of its tags, in their order."""
        return _KINDS[self.form]


_KINDS = {
    Form.PAIR: (Kind.OPEN, Kind.CLOSE),
    Form.SELF_CLOSING: (Kind.EMPTY,),
    Form.OPEN: (Kind.OPEN,),
    Form.CLOSE: (Kind.CLOSE,),
}


@dataclasses.dataclass(frozen=True)
class TagTable:
    """The elements of a text.

    Attributes:
        entries: The original tags, by number. Numbers need not be consecutive: the target of a pair
            uses the numbers of the source's elements.
        order: All tags of the pair: those of the source, left to right, then those that only the
            target has.
        literals: By number, text of either side that the representation at encoding would have
            read as a symbol (`LITERAL`).
        plain: Literals that are plain text, because another representation is used now.
        own: The tags of the text itself in their order, if it differs.
        led: Tags other than opening ones after which white space was moved from before them
            (`transforms.symbols.whitespace.Shifted`).
        exact: The encoded and the original text, if white space was moved and cannot be restored
            from the encoded text; else None.
    """

    entries: Mapping[int, Entry]
    order: tuple[Mark, ...]
    literals: Mapping[int, str] = dataclasses.field(default_factory=dict)
    plain: frozenset[int] = frozenset()
    own: tuple[Mark, ...] = ()
    led: frozenset[int] = frozenset()
    exact: tuple[str, str] | None = None

    @functools.cached_property
    def written(self) -> tuple[Mark, ...]:
        """Return the tags of the pair that are not text; sequences number these."""
        return tuple(mark for mark in self.order if mark.number not in self.plain)

    @functools.cached_property
    def marks(self) -> tuple[Mark, ...]:
        """Return the tags of the text itself in their order."""
        return tuple(
            mark
            for mark in self.own or self.order
            if mark.number not in self.plain
            and mark.number in self.entries
            and mark.kind in self.entries[mark.number].kinds
        )

    @functools.cached_property
    def numbers(self) -> tuple[int, ...]:
        """Return all numbers in order of their elements' first tags."""
        return tuple(dict.fromkeys(mark.number for mark in self.written))

    @functools.cached_property
    def places(self) -> dict[Mark, int]:
        """Return the place of each tag among those that are written."""
        return {mark: place for place, mark in enumerate(self.written)}

    @functools.cached_property
    def spans(self) -> dict[int, tuple[int, int]]:
        """Return the places of the opening and the closing tag of each pair, by number."""
        return find_spans(self.written)

    @functools.cached_property
    def halved(self) -> frozenset[int]:
        """Return the pairs that XLIFF writes as two empty tags: they cross, or used to cross."""
        halves = {number for number, entry in self.entries.items() if entry.name in _HALVES}
        return frozenset(find_crossing(self.spans) | halves)

    def to_json(self) -> dict[str, Any]:
        """Return the table as plain data: the order as tags without text, and the entries."""
        value: dict[str, Any] = {
            "order": _skeleton(self.order),
            "tags": [
                {"number": number, **dataclasses.asdict(entry)}
                for number, entry in self.entries.items()
            ],
        }
        if self.own:
            value["own"] = _skeleton(self.own)
        if self.literals:
            value["literals"] = {str(number): raw for number, raw in self.literals.items()}
            value["plain"] = sorted(self.plain)
        if self.led:
            value["led"] = sorted(self.led)
        if self.exact is not None:
            value["exact"] = list(self.exact)
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "TagTable":
        """Read what `to_json` wrote.

        Raises:
            ConfigError: It is not a table.
        """
        try:
            entries = {
                int(item["number"]): Entry(
                    Form(item["form"]), str(item["name"]), item["opening"], item["closing"]
                )
                for item in value["tags"]
            }
            order, own = (parse_markup(value.get(name, ""), INDEXED) for name in ("order", "own"))
            literals = {int(number): str(raw) for number, raw in value.get("literals", {}).items()}
            plain, led = (frozenset(map(int, value.get(name, ()))) for name in ("plain", "led"))
            exact = tuple(map(str, value["exact"])) if "exact" in value else None
            if exact is not None and len(exact) != 2:
                raise ValueError("exact holds a text with symbols and a text")
            marks = [tuple(map(mark_of, skeleton.tags)) for skeleton in (order, own)]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ConfigError(f"this is not a table of tags: {error!r}") from error
        table = cls(entries, marks[0], literals, plain, marks[1], led, exact)
        table._check(order.text + own.text)
        return table

    def _check(self, between: str) -> None:
        """Raise an error if the order is not that of the entries' tags."""
        wanted = {
            Mark(kind, number) for number, entry in self.entries.items() for kind in entry.kinds
        }
        for order in (self.order, self.own or self.order):
            if between or len(set(order)) != len(order) or not wanted <= set(order):
                raise ConfigError("this is not a table of tags: its order is not that of its tags")
        for kind, number in wanted:
            if not isinstance(self.entries[number].raw(kind), str):
                tag = indexed_tag(kind, number)
                raise ConfigError(f"this is not a table of tags: {tag} has no text")


def _skeleton(marks: Iterable[Mark]) -> str:
    return "".join(indexed_tag(*mark) for mark in marks)


def find_spans(marks: Sequence[Mark]) -> dict[int, tuple[int, int]]:
    """Return the places of the opening and the closing tag of each pair, by number."""
    places = {mark: place for place, mark in enumerate(marks)}
    return {
        mark.number: (place, places[Mark(Kind.CLOSE, mark.number)])
        for mark, place in places.items()
        if mark.kind is Kind.OPEN and Mark(Kind.CLOSE, mark.number) in places
    }


def find_crossing(spans: Mapping[int, tuple[int, int]]) -> set[int]:
    """Return the numbers of the pairs that cross another, in linear time but for sorting.

    A pair whose closing tag is before its opening one crosses none.

    >>> sorted(find_crossing({0: (0, 9), 1: (1, 3), 2: (2, 4), 3: (5, 6)}))
    [1, 2]
    """
    in_order = {number: span for number, span in spans.items() if span[0] < span[1]}
    mirrored = {number: (-end, -start) for number, (start, end) in in_order.items()}
    return _left_first(in_order) | _left_first(mirrored)


def _left_first(spans: Mapping[int, tuple[int, int]]) -> set[int]:
    """Return the pairs inside which another one opens that closes after them."""
    ends = sorted((end, number) for number, span in spans.items() for end in span)
    opened: list[int] = []
    seen: set[int] = set()
    closed: set[int] = set()
    left = set()
    for _, number in ends:
        if number not in seen:
            seen.add(number)
            opened.append(number)
            continue
        closed.add(number)
        if opened[-1] != number:
            left.add(number)
        while opened and opened[-1] in closed:
            opened.pop()
    return left


def indexed_tag(kind: Kind, number: int) -> str:
    """Return the indexed tag of an element.

    >>> indexed_tag(Kind.CLOSE, 3)
    '</a_3>'
    """
    return write_tag(number, closes=kind is Kind.CLOSE, is_empty=kind is Kind.EMPTY)


def mark_of(tag: Tag) -> Mark:
    """Return the original of a numbered tag."""
    return Mark(tag.kind, int(tag.key))


def numbered_tag(kind: Kind, number: int, offset: int) -> Tag:
    """Return a numbered tag, written as an indexed one."""
    return Tag(kind, NAME, str(number), indexed_tag(kind, number), offset)


def number_tags(marked: Marked) -> tuple[Marked, TagTable]:
    """Number the elements of a text from 0 by their first tags, left to right.

    >>> numbered, table = number_tags(parse_markup("a <b>c<br/></b>"))
    >>> str(numbered), table.entries[0].opening
    ('a <a_0>c<a_1/></a_0>', '<b>')
    """
    elements = find_elements(marked.tags)
    numbered = _numbered(marked, elements, range(len(elements)))
    entries = {number: _entry(marked, element) for number, element in enumerate(elements)}
    order = tuple(map(mark_of, numbered.tags))
    return numbered, TagTable(entries, order, _literals(entries))


def number_pair(source: Marked, target: Marked) -> tuple[Marked, Marked, TagTable, TagTable]:
    """Number the elements of a pair of texts: matching elements get the same number.

    An element of the target matches the first remaining one of the source with the same form and
    characters, else with the same form and name; else it gets a number of its own, after those of
    the source.

    Returns:
        The numbered source and target, and a table for each.
    """
    numbered_source, table = number_tags(source)
    elements = find_elements(target.tags)
    entries_of_target = [_entry(target, element) for element in elements]
    numbers = _match(tuple(table.entries.values()), entries_of_target)
    numbered_target = _numbered(target, elements, numbers)
    own = [mark for mark in map(mark_of, numbered_target.tags) if mark.number not in table.entries]
    order = (*table.order, *own)
    target_marks = tuple(map(mark_of, numbered_target.tags))
    in_target = frozenset(target_marks)
    in_order = target_marks == tuple(mark for mark in order if mark in in_target)
    entries = dict(sorted(zip(numbers, entries_of_target, strict=True)))
    literals = _literals({**table.entries, **entries})
    return (
        numbered_source,
        numbered_target,
        TagTable(table.entries, order, literals),
        TagTable(entries, order, literals, own=() if in_order else target_marks),
    )


def match_tags(marked: Marked, table: TagTable) -> Marked:
    """Number the elements of a text by the table of the same elements, perhaps in another order.

    Identical elements are numbered in their order. A tag that is not in the table gets no number:
    its key is empty.
    """
    elements = find_elements(marked.tags)
    waiting: dict[Entry, list[int]] = {}
    for number, entry in sorted(table.entries.items(), reverse=True):
        waiting.setdefault(entry, []).append(number)
    numbers = []
    for element in elements:
        alike = waiting.get(_entry(marked, element))
        numbers.append(alike.pop() if alike else None)
    return _numbered(marked, elements, numbers)


def _match(known: Sequence[Entry], entries: Sequence[Entry]) -> list[int]:
    """Return the number of each entry; identical ones are matched by their order."""
    partners = find_partners(entries, known, PARTNER_RULES)
    following = itertools.count(len(known))
    complete = [
        partners[place] if place in partners else next(following) for place in range(len(entries))
    ]
    # Identical elements differ only by their order, which identifies them later.
    places: dict[Entry, list[int]] = {}
    for place, entry in enumerate(entries):
        places.setdefault(entry, []).append(place)
    for group in places.values():
        for place, number in zip(group, sorted(complete[place] for place in group), strict=True):
            complete[place] = number
    return complete


def _literals(entries: Mapping[int, Entry]) -> dict[int, str]:
    return {
        number: entry.opening
        for number, entry in entries.items()
        if entry.name == LITERAL and entry.opening is not None
    }


def _form_and_name(entry: Entry) -> tuple[Form, str] | None:
    return None if entry.name == LITERAL else (entry.form, entry.name)


PARTNER_RULES: tuple[Rule[Entry], ...] = (
    EQUAL,
    Rule(_form_and_name, lambda entry: (_form_and_name(entry),)),
)
"""Elements with the same form and characters match, then those with the same form and name."""


def _entry(marked: Marked, element: Element) -> Entry:
    tags = marked.tags
    return Entry(
        element.form,
        tags[element.first].name,
        None if element.opening is None else tags[element.opening].raw,
        None if element.closing is None else tags[element.closing].raw,
    )


def _numbered(marked: Marked, elements: Sequence[Element], numbers: Iterable[int | None]) -> Marked:
    number_of = numbers_of_tags(elements, numbers)
    tags = []
    for place, tag in enumerate(marked.tags):
        number = number_of[place]
        tags.append(
            dataclasses.replace(tag, key="")
            if number is None
            else numbered_tag(tag.kind, number, tag.offset)
        )
    return Marked(marked.text, tuple(tags))
