"""The inline markup of a pair: the elements of source and target, and their matches.

The markup is stored as one JSON string in addition to the plain texts. From these, the texts with
their tags can be restored exactly, in their own markup or as indexed tags.
"""

import dataclasses
import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import orjson

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.indexed_tag import ANY_TAG, digits_of
from pairweave.transforms.markup.element_partners import EQUAL, Rule, find_partners, numbers_of_tags
from pairweave.transforms.markup.markup import Element, Form, Kind, Marked, Tag, find_elements
from pairweave.transforms.markup.tag_table import indexed_tag

# Attributes that identify an element in both texts, the first one present: TMX's x, XLIFF's id and
# mid. TMX's i connects an opening with a closing tag of one text and may differ between the texts.
_NAMING = ("x", "id", "rid", "mid", "startRef")
_ATTRIBUTE = re.compile(r"""\s([\w:.\-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
# The content of a native code behind its opening tag is not an attribute.
_OPENING = re.compile(r"""(?:[^>"']+|"[^"]*"|'[^']*')*""")


@dataclasses.dataclass(frozen=True, slots=True)
class PairElement:
    """An element of a pair.

    Attributes:
        index: Its number among the elements of both sides, by their first tags in the source; None
            if one side lacks it.
        form: Pair, empty tag or half a pair.
        name: The name of its tags.
        source: Its range in the source, half-open, in code points without tags; None if it is
            missing.
        target: Its range in the target, in the same form.
    """

    index: int | None
    form: Form
    name: str
    source: tuple[int, int] | None
    target: tuple[int, int] | None


@dataclasses.dataclass(frozen=True, slots=True)
class SideTag:
    """A tag of one side.

    Attributes:
        offset: Code points of text before it.
        kind: Its function.
        element: Number of its element in `PairMarkup.elements`.
        raw: Its characters.
    """

    offset: int
    kind: Kind
    element: int
    raw: str


@dataclasses.dataclass(frozen=True, slots=True)
class PairMarkup:
    """All inline markup of a pair.

    Attributes:
        elements: The elements: those of the source by their first tags, then the target's own.
        source: The tags of the source, in order.
        target: The tags of the target.
    """

    elements: tuple[PairElement, ...]
    source: tuple[SideTag, ...]
    target: tuple[SideTag, ...]

    @property
    def agrees(self) -> bool:
        """Tell whether both sides have the same elements."""
        return all(element.index is not None for element in self.elements)

    @property
    def shared(self) -> list[PairElement]:
        """Return the elements that both sides have, by index."""
        return [element for element in self.elements if element.index is not None]

    def renumbered(self, indices: Sequence[int]) -> "PairMarkup":
        """Return the same markup with other numbers for the elements that both sides have.

        Args:
            indices: The new number of each, by its old one; all different.
        """
        elements = tuple(
            element
            if element.index is None
            else dataclasses.replace(element, index=int(indices[element.index]))
            for element in self.elements
        )
        return dataclasses.replace(self, elements=elements)

    def original(self, side: str, text: str) -> str:
        """Return the text of ``source`` or ``target`` with its own tags."""
        return self.write(side, text, lambda tag: tag.raw)

    def indexed(self, side: str, text: str) -> str:
        """Return the text of a side with ``<a_0>`` and so on for elements of both sides."""

        def written(tag: SideTag) -> str:
            index = self.elements[tag.element].index
            return "" if index is None else indexed_tag(tag.kind, index)

        return self.write(side, text, written)

    def write(self, side: str, text: str, written: Callable[[SideTag], str]) -> str:
        """Return the text of a side with its tags written by a function."""
        tags: tuple[SideTag, ...] = getattr(self, side)
        parts, done = [], 0
        for tag in tags:
            parts += [text[done : tag.offset], written(tag)]
            done = tag.offset
        return "".join([*parts, text[done:]])

    def to_json(self) -> str:
        """Return the markup as one line of JSON; the same markup gives the same line."""
        return orjson.dumps(self).decode()

    @classmethod
    def from_json(cls, line: str) -> "PairMarkup":
        """Undo `to_json`.

        Raises:
            WorkerError: The line is invalid.
        """
        try:
            value = orjson.loads(line)
            elements = tuple(_element(item) for item in value["elements"])
            source, target = (
                tuple(SideTag(**{**tag, "kind": Kind(tag["kind"])}) for tag in value[side])
                for side in ("source", "target")
            )
        except (KeyError, TypeError, ValueError) as error:
            raise WorkerError(f"the column markup holds {line[:80]!r}: {error!r}") from error
        return cls(elements, source, target)


def _element(item: dict[str, Any]) -> PairElement:
    spans = {side: item[side] and tuple(item[side]) for side in ("source", "target")}
    return PairElement(item["index"], Form(item["form"]), item["name"], **spans)


def pair_markup(source: Marked, target: Marked) -> PairMarkup:
    """Match the elements of a pair.

    An element with an identifier (TMX's ``x``, XLIFF's ``id``) matches the first unused element of
    the other side with the same identifier, form and name. If one of the two has no identifier, the
    first unused element with the same form and name matches.
    """
    ours, theirs = find_elements(source.tags), find_elements(target.tags)
    facts = [_facts(source, element) for element in ours]
    other_facts = [_facts(target, element) for element in theirs]
    partner = find_partners(facts, other_facts, PARTNER_RULES)
    taken = set(partner.values())
    elements, shared = [], 0
    for number, element in enumerate(ours):
        match = partner.get(number)
        index = span = None
        if match is not None:
            index, span = shared, (theirs[match].start, theirs[match].end)
            shared += 1
        name = facts[number][1]
        elements.append(PairElement(index, element.form, name, (element.start, element.end), span))
    own: dict[int, int] = {match: number for number, match in partner.items()}
    for place, element in enumerate(theirs):
        if place not in taken:
            own[place] = len(elements)
            name = other_facts[place][1]
            elements.append(
                PairElement(None, element.form, name, None, (element.start, element.end))
            )
    return PairMarkup(
        tuple(elements),
        _side_tags(source.tags, ours, range(len(ours))),
        _side_tags(target.tags, theirs, [own[place] for place in range(len(theirs))]),
    )


_Facts = tuple[Form, str, str]


def _facts(marked: Marked, element: Element) -> _Facts:
    """Return an element's form, name and identifier."""
    tag = marked.tags[element.first]
    return element.form, tag.name, _identifier(tag.raw)


def _identifier(raw: str) -> str:
    if ANY_TAG.fullmatch(raw):
        return digits_of(raw)
    opening = _OPENING.match(raw)
    assert opening is not None  # it may be empty
    by_name = {match[1]: match[2] or match[3] or "" for match in _ATTRIBUTE.finditer(opening[0])}
    return next((by_name[name] for name in _NAMING if name in by_name), "")


def _wanted(facts: _Facts) -> Hashable:
    """Return form and name, and whether the partner must lack an identifier."""
    form, name, identifier = facts
    return form, name, bool(identifier)


def _offered(facts: _Facts) -> list[Hashable]:
    form, name, identifier = facts
    return [(form, name, lacks) for lacks in ((False,) if identifier else (False, True))]


PARTNER_RULES: tuple[Rule[_Facts], ...] = (EQUAL, Rule(_wanted, _offered))
"""Elements with equal facts match, then those with the same form and name of which one has no
identifier."""


def _side_tags(
    tags: Sequence[Tag], elements: Sequence[Element], numbers: Sequence[int]
) -> tuple[SideTag, ...]:
    element_of = numbers_of_tags(elements, numbers)
    return tuple(
        SideTag(tag.offset, tag.kind, element_of[place], tag.raw) for place, tag in enumerate(tags)
    )
