"""Text in the form for people: with its tags and its links."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from pairweave.transforms.indexed_tag import TAG_PATTERN, digits_of

_TOKEN = re.compile(TAG_PATTERN)


class Piece(NamedTuple):
    """A stretch of tagged text.

    Attributes:
        text: The text of the stretch.
        tag: Index of the token's tag, or of the tag opened last around the words; None outside.
        is_token: Whether the stretch is a tag token.
    """

    text: str
    tag: int | None
    is_token: bool


def pieces(text: str) -> list[Piece]:
    """Split tagged text into pieces that give the text when joined.

    >>> [tuple(piece) for piece in pieces("a <a_3>b</a_3>")]
    [('a ', None, False), ('<a_3>', 3, True), ('b', 3, False), ('</a_3>', 3, True)]
    """
    parts: list[Piece] = []
    is_open: list[int] = []
    last = 0

    def add_words(end: int) -> None:
        if end > last:
            parts.append(Piece(text[last:end], is_open[-1] if is_open else None, is_token=False))

    for match in _TOKEN.finditer(text):
        add_words(match.start())
        token = match.group()
        index = int(digits_of(token))
        parts.append(Piece(token, index, is_token=True))
        if token.endswith("/>"):
            pass  # holds nothing
        elif not token.startswith("</"):
            is_open.append(index)
        elif index in is_open:
            is_open.remove(index)
        last = match.end()
    add_words(len(text))
    return parts


def linked_words(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the source and target words of each link of a row (`schemas.ALIGNED`)."""
    tokens = {
        side: [row[side][token["start"] : token["end"]] for token in row[f"{side}_tokens"]]
        for side in ("source", "target")
    }
    return [
        (tokens["source"][link["source"]], tokens["target"][link["target"]])
        for link in row["links"]
    ]
