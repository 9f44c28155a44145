"""The links of a pair as a drawing: source words above, target words below, lines between them."""

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from pairweave.transforms.text.control_characters import visible_line
from pairweave.transforms.text.iso_languages import primary_tag

MAX_WORDS = 60
"""Maximum number of words of a side; a pair with more is not drawn."""

UNIT = 9
"""Width of a narrow character, in pixels; a wide character is twice as wide."""

GAP = 12
"""Pixels between words."""

ABOVE, BELOW = 20, 84
"""Heights at which lines begin and end."""

HEIGHT = 104
FAINTEST = 0.3
"""Opacity of the line of a link with a probability of 0."""

_RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "ps", "sd", "ug", "ur", "yi"})

Row = Mapping[str, Any]
Word = dict[str, Any]


def draw_links(row: Row) -> dict[str, Any] | None:
    """Lay out the words and links of a row (`transforms.schemas.ALIGNED`).

    Words have the width that their characters would have in a monospaced font, and the page
    stretches them to this width, so the font need not be known.

    Returns:
        The size of the drawing, its words with their places, and its lines; None for a pair with
        too many words.
    """
    tokens = {side: row[f"{side}_tokens"] for side in ("source", "target")}
    if any(len(spans) > MAX_WORDS for spans in tokens.values()):
        return None
    sides = {
        side: _laid_out([row[side][token["start"] : token["end"]] for token in spans], base)
        for (side, spans), base in zip(tokens.items(), (ABOVE - 6, BELOW + 14), strict=True)
    }
    width = max((words[-1]["end"] for words in sides.values() if words), default=0)
    for side, words in sides.items():
        if primary_tag(row.get(f"{side}_lang")) in _RIGHT_TO_LEFT:
            for word in words:
                word["start"], word["end"] = width - word["end"], width - word["start"]
    lines = [
        {
            "start": _middle(sides["source"][link["source"]]),
            "end": _middle(sides["target"][link["target"]]),
            "opacity": f"{FAINTEST + (1 - FAINTEST) * link['probability']:.2f}",
        }
        for link in row["links"]
    ]
    shown = [word for words in sides.values() for word in words if word["text"]]
    places = {"width": width, "height": HEIGHT, "above": ABOVE, "below": BELOW}
    return {**places, "words": shown, "lines": lines}


def _laid_out(texts: Sequence[str], base: int) -> list[Word]:
    """Place words one after another from the left.

    >>> [(word["start"], word["width"]) for word in _laid_out(["ab", "中"], 0)]
    [(0, 18), (30, 18)]
    """
    words: list[Word] = []
    at = 0
    for text in texts:
        shown = visible_line(text)
        wide = sum(unicodedata.east_asian_width(mark) in "WF" for mark in shown)
        marks = sum(unicodedata.combining(mark) > 0 for mark in shown)
        width = UNIT * max(1, len(shown) + wide - marks)
        words.append({"text": shown, "start": at, "end": at + width, "width": width, "base": base})
        at += width + GAP
    return words


def _middle(word: Word) -> int:
    return int(word["start"] + word["end"]) // 2
