"""F1 over tagged words, and what a shift of all tags does to it (Ryu et al. 2022, 4.1 and 4.2)."""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from transforms.flat_lists import chunk_of
from transforms.markup import Form, Kind, Marked, Tag, find_elements
from transforms.tokens import TokenConfig, tokenize

WORDS = TokenConfig("words")

Ranges = list[tuple[int, int]]
Names = dict[tuple[str, str], Ranges]


@dataclasses.dataclass(frozen=True, slots=True)
class SpanScores:
    """F1 of the tags of all lines.

    Attributes:
        f1: Mean F1 over the tags of the references, in [0, 1]; 0 if there is none.
        tags: Their number.
        lines: F1 of each tag ``[line][tag]``, in the order of the reference's tags.
    """

    f1: float
    tags: int
    lines: tuple[tuple[float, ...], ...]


def score_spans(
    hypotheses: Sequence[Marked], references: Sequence[Marked], language: str | None = None
) -> SpanScores:
    """Compare the words that tags hold with those they should hold.

    A tag is all pairs of one name and key in a line: their words count as one span (the paper's
    footnote 13), a word in two of them once. Its words are compared as bags, as SQuAD does
    (Rajpurkar et al. 2016), but with case, punctuation and articles. Empty tags and tags without
    their partner hold no words and do not count; a tag of the reference that the output lacks
    scores 0, and one that only the output has is left to other metrics.

    Args:
        hypotheses: Outputs ``[line]``.
        references: What is right ``[line]``.
        language: BCP 47 tag of the texts, for their words.
    """
    texts: list[str] = []
    spans: list[list[int]] = []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        found, wanted = spans_by_name(hypothesis), spans_by_name(reference)
        line = []
        for name, ranges in wanted.items():
            line.append(len(texts) if name in found else -1 - len(texts))
            texts += [_cut(reference.text, ranges), _cut(hypothesis.text, found.get(name, []))]
        spans.append(line)
    bags = _bags(texts, language)
    lines = tuple(
        tuple(_f1(bags[at + 1], bags[at]) if at >= 0 else 0.0 for at in line) for line in spans
    )
    every = [f1 for line in lines for f1 in line]
    return SpanScores(sum(every) / len(every) if every else 0.0, len(every), lines)


def spans_by_name(marked: Marked) -> Names:
    """Return what the pairs of each name and key hold: ranges of code points, disjoint, in order.

    >>> from transforms.markup import parse_markup
    >>> spans_by_name(parse_markup("<b>a</b> c <b>d</b>"))
    {('b', ''): [(0, 1), (4, 5)]}
    """
    names: Names = {}
    for element in find_elements(marked.tags):
        if element.form is Form.PAIR:
            assert element.opening is not None
            tag = marked.tags[element.opening]
            names.setdefault((tag.name, tag.key), []).append((element.start, element.end))
    return {name: _united(ranges) for name, ranges in names.items()}


def _united(ranges: Ranges) -> Ranges:
    united: Ranges = []
    for start, end in sorted(ranges):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        else:
            united.append((start, end))
    return united


def _cut(text: str, ranges: Ranges) -> str:
    return " ".join(text[start:end] for start, end in ranges)


def _bags(texts: Sequence[str], language: str | None) -> list[Counter[str]]:
    return [
        Counter(text[start:end] for start, end in words)
        for text, words in zip(texts, find_words(texts, language), strict=True)
    ]


def _f1(found: Counter[str], wanted: Counter[str]) -> float:
    """Return the harmonic mean of precision and recall; without words 1 if both have none."""
    if not found or not wanted:
        return float(found == wanted)
    same = (found & wanted).total()
    return 2.0 * same / (found.total() + wanted.total())


def find_words(texts: Sequence[str], language: str | None = None) -> list[list[tuple[int, int]]]:
    """Return the words of each text as ranges of code points ``[text][word]``."""
    if not texts:
        return []
    lists = chunk_of(tokenize(pa.array(texts, pa.large_string()), WORDS, language))
    offsets = lists.offsets.to_numpy()
    values = lists.values
    pairs = np.stack([values.field(0).to_numpy(), values.field(1).to_numpy()], axis=1)
    flat = [(start, end) for start, end in pairs.tolist()]
    return [flat[start:end] for start, end in itertools.pairwise(offsets.tolist())]


def shift_tags(marked: Sequence[Marked], language: str | None = None) -> list[Marked]:
    """Move all tags one word to the left: a metric of their places must fall.

    What opens goes to where the word before it begins, what closes to where the word before the
    last one ends; a tag with no word before it goes to the start. The tags keep their order.
    """
    words = find_words([line.text for line in marked], language)
    return [_shifted(line, ranges) for line, ranges in zip(marked, words, strict=True)]


def _shifted(line: Marked, words: Iterable[tuple[int, int]]) -> Marked:
    if not line.tags:
        return line
    bounds = list(words)
    starts = np.array([start for start, _ in bounds], np.int64)
    ends = np.array([end for _, end in bounds], np.int64)
    tags: list[Tag] = []
    least = 0
    for tag in line.tags:
        places = ends if tag.kind is Kind.CLOSE else starts
        before = int(np.searchsorted(places, tag.offset))
        least = max(least, int(places[before - 1]) if before else 0)
        tags.append(dataclasses.replace(tag, offset=least))
    return Marked(line.text, tuple(tags))
