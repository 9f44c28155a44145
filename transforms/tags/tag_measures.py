"""Measures of the shapes of tags: number, form, length, place and depth."""

from collections import Counter
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pairweave.transforms.arrow.flat_columns import fields_of
from pairweave.transforms.indexed_tag import MAX_TAGS
from pairweave.transforms.kernels.tags import tag_text
from pairweave.transforms.kernels.tags.elements import measure_depths
from pairweave.transforms.text.tokens import Language, TokenConfig, tokenize

FORMS = ("pair", "empty", "self_closing", "open", "close")
"""Forms, numbered as in `transforms.kernels.tags.tag_text.FORM_CODES`; ``empty`` is a pair."""

LENGTHS = (1, 2, 3, 4, 5, 7, 10, 15)
"""Minimum number of words of each class of spans."""

_LENGTH_NAMES = ("1", "2", "3", "4", "5-6", "7-9", "10-14", "15+")
_SPAN_PLACES = ("whole", "start", "middle", "end")
_POINT_PLACES = ("start", "middle", "end")
_POINTS = len(LENGTHS) * len(_SPAN_PLACES)

CELLS = (
    *(f"{length} {place}" for length in _LENGTH_NAMES for place in _SPAN_PLACES),
    *(f"{form} {place}" for form in FORMS[1:] for place in _POINT_PLACES),
)
"""Classes of tags: pairs by number of words and the ends of the text they reach; others by place.
"""

DEPTHS = ("0", "1", "2+")

FEATURES = {
    "tags": tuple(str(number) for number in range(1, MAX_TAGS + 1)),
    "form": FORMS,
    "span": CELLS[:_POINTS],
    "point": CELLS[_POINTS:],
    "depth": DEPTHS,
}
"""The measured features of tags, and the classes of each."""


class Ruler(NamedTuple):
    """The words of texts, in which positions of tags are measured.

    Attributes:
        offsets: Offsets of the texts' words, int64 ``[text + 1]``, from 0.
        starts: Start of each word, with the text's number in the high bits, int64 ``[word]``.
        ends: End of each word, in the same form.
    """

    offsets: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, texts: pa.Array | pa.ChunkedArray, kind: str, language: Language = None) -> "Ruler":
        """Cut texts into words, punctuation marks and other tokens (`transforms.text.tokens`)."""
        offsets, fields = fields_of(tokenize(texts, TokenConfig(kind), language))
        text = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
        return cls(offsets, _key(text, fields["start"]), _key(text, fields["end"]))

    def before(self, text: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Return the number of words that end at or before each place."""
        return np.searchsorted(self.ends, _key(text, place), "right") - self.offsets[text]

    def begun(self, text: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Return the number of words that start before each place."""
        return np.searchsorted(self.starts, _key(text, place), "left") - self.offsets[text]

    def words(self, text: np.ndarray) -> np.ndarray:
        """Return the number of words of each text."""
        return self.offsets[text + 1] - self.offsets[text]

    def points(self, text: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Return the class of each place: start (0), middle (1) or end (2) of the text."""
        at_end = self.before(text, place) >= self.words(text)
        return np.where(self.begun(text, place) == 0, 0, np.where(at_end, 2, 1))

    def spans(self, text: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Return the cells of spans that contain a word."""
        before, begun = self.before(text, start), self.begun(text, end)
        at_start, at_end = before == 0, begun == self.words(text)
        place = np.where(at_start, np.where(at_end, 0, 1), np.where(at_end, 3, 2))
        length = np.searchsorted(np.array(LENGTHS), begun - before, "right") - 1
        return len(_SPAN_PLACES) * np.maximum(length, 0) + place


def _key(text: np.ndarray, place: np.ndarray) -> np.ndarray:
    return (text.astype(np.int64) << 32) | place.astype(np.int64)


class Elements(NamedTuple):
    """The elements of texts, by text and in the order of their first tags.

    Attributes:
        text: The text of each, int64 ``[element]``, ascending.
        form: Number of its form in `FORMS`, int64; an empty pair may be given as a pair.
        start: Start in the text without tags, in code points, int64 ``[element]``.
        end: End in the same text, in code points, int64 ``[element]``.
    """

    text: np.ndarray
    form: np.ndarray
    start: np.ndarray
    end: np.ndarray


def measure(texts: pa.Array | pa.ChunkedArray, ruler: Ruler, elements: Elements) -> Counter[str]:
    """Count elements by each feature of `FEATURES`, as ``feature class``.

    Args:
        texts: Texts without tags ``[text]``.
        ruler: Their words.
        elements: Their elements.

    Returns:
        The counts. ``nested yes`` and ``nested no`` count the elements that follow another element
        of their text, by whether one of the two contains the other.
    """
    counts: Counter[str] = Counter()
    text, form, start, end = elements
    per_text = np.bincount(text, minlength=len(texts))
    tags = np.minimum(per_text[per_text > 0], MAX_TAGS)
    _add(counts, "tags", FEATURES["tags"], tags - 1)
    inside = ruler.begun(text, end) - ruler.before(text, start)
    form = np.where((form == 0) & ((start == end) | (inside <= 0)), 1, form)
    _add(counts, "form", FORMS, form)
    pairs = form == 0
    _add(counts, "span", FEATURES["span"], ruler.spans(text, start, end)[pairs])
    places = ruler.points(text, start)
    _add(counts, "point", FEATURES["point"], (3 * (form - 1) + places)[~pairs])
    text_elements = np.concatenate([np.zeros(1, np.int64), np.cumsum(per_text)])
    depths, nested = measure_depths(text_elements, start, end)
    _add(counts, "depth", DEPTHS, np.minimum(depths, 2))
    later = np.ones(len(text), np.bool_)
    later[text_elements[:-1][per_text > 0]] = False
    _add(counts, "nested", ("no", "yes"), nested[later].astype(np.int64))
    return counts


def _add(counts: Counter[str], feature: str, names: tuple[str, ...], classes: np.ndarray) -> None:
    for name, number in zip(
        names, np.bincount(classes, minlength=len(names)).tolist(), strict=True
    ):
        if number:
            counts[f"{feature} {name}"] += number


def cells_of(ruler: Ruler, text: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Return the cell of each phrase for each form code, uint8 ``[code, phrase]``.

    Args:
        ruler: The words of the texts.
        text: The text of each phrase, int64 ``[phrase]``.
        start: Its start, in code points.
        end: Its end.
    """
    cells = np.empty((tag_text.CODES, len(text)), np.uint8)
    cells[tag_text.PAIR] = ruler.spans(text, start, end)
    points = {
        tag_text.EMPTY_AT_START: (1, start),
        tag_text.EMPTY_AT_END: (1, end),
        tag_text.SELF_AT_START: (2, start),
        tag_text.SELF_AT_END: (2, end),
        tag_text.OPEN: (3, start),
        tag_text.CLOSE: (4, end),
    }
    for code, (form, place) in points.items():
        cells[code] = _POINTS + 3 * (form - 1) + ruler.points(text, place)
    return cells
