"""Selects line-parallel texts in several languages whose tags agree, for tagged test sets.

Hanneman and Dinu (2020, section 5.2) keep the sentences that have the same set of tags in all four
of their languages, and each combination of sentences once.
"""

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from operator import and_

from pairweave.transforms.markup.markup import Element, Form, Marked, find_elements

Identity = tuple[Form, str, str]
"""The form, name and key of an element; attributes other than the key may be translated."""


def tags_agree(texts: Sequence[Marked]) -> bool:
    """Tell whether texts have the same elements, in any order and at any places."""
    first, *others = map(_counts, texts)
    return all(other == first for other in others)


def common_tags(texts: Sequence[Marked]) -> list[Marked]:
    """Return texts without the elements that are not in all of them.

    Of several equal elements, each text keeps the first ones, up to the number that every text has.

    >>> from pairweave.transforms.markup.markup import parse_markup
    >>> one, other = map(parse_markup, ("<b>a</b> <i>b</i>", "<i>B</i> A"))
    >>> [str(text) for text in common_tags([one, other])]
    ['a <i>b</i>', '<i>B</i> A']
    """
    common = reduce(and_, map(_counts, texts))
    return [_limited(text, common) for text in texts]


def _counts(text: Marked) -> Counter[Identity]:
    return Counter(_identity(text, element) for element in find_elements(text.tags))


def _identity(text: Marked, element: Element) -> Identity:
    tag = text.tags[element.first]
    return element.form, tag.name, tag.key


def _limited(text: Marked, wanted: Counter[Identity]) -> Marked:
    left = Counter(wanted)
    kept: set[int | None] = set()
    for element in find_elements(text.tags):
        identity = _identity(text, element)
        if left[identity]:
            left[identity] -= 1
            kept |= {element.opening, element.closing}
    tags = tuple(tag for place, tag in enumerate(text.tags) if place in kept)
    return Marked(text.text, tags)
