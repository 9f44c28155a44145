"""Match the elements of two marked texts and their tags."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from pairweave.transforms.markup.markup import Element

Facts = TypeVar("Facts")
Number = TypeVar("Number")


class Rule(NamedTuple, Generic[Facts]):
    """A rule by which elements match: one of them asks for a description that another fits.

    Attributes:
        wanted: The description that an element of ours asks for; None if it matches no other.
        offered: The descriptions that an element of theirs fits.
    """

    wanted: Callable[[Facts], Hashable | None]
    offered: Callable[[Facts], Iterable[Hashable]]


EQUAL: Rule[Any] = Rule(lambda facts: facts, lambda facts: (facts,))
"""Elements match whose facts are equal."""


def find_partners(
    ours: Sequence[Facts], theirs: Sequence[Facts], rules: Iterable[Rule[Facts]]
) -> dict[int, int]:
    """Find for each of our elements the first unused element of theirs that matches by a rule.

    Each rule is tried on all of our elements before the next one is tried on those without a
    partner. The time grows linearly with the number of elements.

    >>> find_partners("abB", "BAb", [EQUAL, Rule(str.lower, lambda letter: (letter.lower(),))])
    {1: 2, 2: 0, 0: 1}

    Args:
        ours: Facts about each of our elements, in order.
        theirs: The same for the others.
        rules: The rules.

    Returns:
        Places in ``theirs`` by places in ``ours``.
    """
    partners: dict[int, int] = {}
    used: set[int] = set()
    for rule in rules:
        free: dict[Hashable, deque[int]] = {}
        for other, facts in enumerate(theirs):
            if other not in used:
                for description in rule.offered(facts):
                    free.setdefault(description, deque()).append(other)
        for place, facts in enumerate(ours):
            wanted = None if place in partners else rule.wanted(facts)
            alike = free.get(wanted) if wanted is not None else None
            while alike:
                other = alike.popleft()
                if other not in used:  # it may have fitted another description, too
                    partners[place] = other
                    used.add(other)
                    break
    return partners


def numbers_of_tags(elements: Iterable[Element], numbers: Iterable[Number]) -> dict[int, Number]:
    """Return the number of each tag's element, by the tag's place in the text.

    Args:
        elements: A text's elements (`transforms.markup.markup.find_elements`).
        numbers: A number for each.
    """
    return {
        place: number
        for element, number in zip(elements, numbers, strict=True)
        for place in (element.opening, element.closing)
        if place is not None
    }
