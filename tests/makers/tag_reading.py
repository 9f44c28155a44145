"""Finding indexed tags in texts."""

import re
from typing import NamedTuple

from pairweave.transforms.indexed_tag import JOB_TAG, TAG_PATTERN, digits_of, write_tag


class TagSpan(NamedTuple):
    """A tag of one text.

    Attributes:
        number: Its number.
        start: Where it opens, in code points of the text without tags.
        end: Where it closes.
    """

    number: int
    start: int
    end: int


def strip_tags(text: str) -> str:
    """Return a text without its tags.

    >>> strip_tags("the <a_3>green witch</a_3> .")
    'the green witch .'
    """
    return re.sub(TAG_PATTERN, "", text)


def parse_tags(text: str) -> tuple[str, list[TagSpan]]:
    """Return a text without its tags, and the tags by where they open, outer ones first.

    Tags may cross; they are indexed and whole pairs. White space that was shifted must be put back
    before (`transforms.symbols.whitespace.unshift_whitespace`).

    Raises:
        ValueError: A tag is opened twice, closed without being open, never closed or self-closing.

    >>> parse_tags("<a_4>a <a_0>b</a_0></a_4>")
    ('a b', [TagSpan(number=4, start=0, end=3), TagSpan(number=0, start=2, end=3)])
    """
    parts: list[str] = []
    length = 0
    done = 0
    opened: dict[int, tuple[int, int]] = {}
    spans: list[tuple[int, int, int, TagSpan]] = []
    for order, match in enumerate(re.finditer(JOB_TAG, text)):
        parts.append(text[done : match.start()])
        length += match.start() - done
        done = match.end()
        tag = match.group()
        if match["empty"]:
            raise ValueError(f"{tag} is self-closing in {text!r}")
        number = int(digits_of(tag))
        if not match["close"]:
            if number in opened or any(span.number == number for *_, span in spans):
                raise ValueError(f"{tag} stands twice in {text!r}")
            opened[number] = order, length
            continue
        if number not in opened:
            raise ValueError(f"{tag} closes what is not open in {text!r}")
        opening, start = opened.pop(number)
        spans.append((start, -length, opening, TagSpan(number, start, length)))
    if opened:
        raise ValueError(f"{write_tag(next(iter(opened)))} is never closed in {text!r}")
    parts.append(text[done:])
    return "".join(parts), [span for *_, span in sorted(spans)]
