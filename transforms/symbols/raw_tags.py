"""Symbols of tags as elements of XLIFF, for models whose vocabulary cuts tags like other text."""

import re

from pairweave.transforms.indexed_tag import WRITTEN_TAG, digits_of, write_tag
from pairweave.transforms.kernels.tags.tag_names import ALONE, WHOLE_CLOSE, WHOLE_OPEN
from pairweave.transforms.symbols.tag_xliff import Xliff

RAW_CHARACTERS = '</>="gidx0123456789'
"""Characters of raw tags; a vocabulary needs a piece for each."""

_XLIFF = Xliff()


def as_raw_tags(text: str) -> str:
    """Write symbols as elements of XLIFF, which a vocabulary cuts into pieces like other text.

    >>> as_raw_tags("the <a_0>green</a_0> witch<a_1/>")
    'the <g id="1">green</g> witch<x id="2"/>'
    """

    def raw(symbol: re.Match[str]) -> str:
        use = WHOLE_CLOSE if symbol["close"] else ALONE if symbol["empty"] else WHOLE_OPEN
        return _XLIFF.symbol(use, int(digits_of(symbol[0])))

    return WRITTEN_TAG.sub(raw, text)


def from_raw_tags(text: str) -> str:
    """Write elements of XLIFF as symbols; everything else stays text.

    >>> from_raw_tags('the <g id="1">green</g> witch</g>')
    'the <a_0>green</a_0> witch</g>'
    """
    opened: list[int] = []

    def symbol(element: re.Match[str]) -> str:
        if element["close"]:
            return write_tag(opened.pop(), closes=True) if opened else element[0]
        if element["pair"]:
            opened.append(int(element["pair"]) - 1)
            return write_tag(opened[-1])
        if element["name"] == "x":
            return write_tag(int(element["id"]) - 1, is_empty=True)
        return element[0]

    return _XLIFF.pattern().sub(symbol, text)
