"""Match the elements of two marked texts and their tags."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from pairweave.transforms.markup.markup import Element

Facts = TypeVar("Facts")
Number = TypeVar("Number")


def find_partners(
    ours: Sequence[Facts],
    theirs: Sequence[Facts],
    rules: Iterable[Callable[[Facts, Facts], bool]],
) -> dict[int, int]:
    """Find for each of our elements the first unused element of theirs that matches by a rule.

    Each rule is tried on all of our elements before the next one is tried on those without a
    partner.

    >>> find_partners("abB", "BAb", [str.__eq__, lambda one, other: one.lower() == other.lower()])
    {1: 2, 2: 0, 0: 1}

    Args:
        ours: Facts about each of our elements, in order.
        theirs: The same for the others.
        rules: Each tells whether one of ours and one of theirs match, by their facts.

    Returns:
        Places in ``theirs`` by places in ``ours``.
    """
    partners: dict[int, int] = {}
    free = dict(enumerate(theirs))
    for are_same in rules:
        for place, facts in enumerate(ours):
            if place in partners:
                continue
            partner = next((other for other, its in free.items() if are_same(facts, its)), None)
            if partner is not None:
                partners[place] = partner
                del free[partner]
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
