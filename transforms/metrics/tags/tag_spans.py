"""F1 over tagged words, also with all tags shifted (Ryu et al. 2022, 4.1 and 4.2)."""

import dataclasses
import itertools
import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from pairweave.transforms.arrow.flat_columns import chunk_of
from pairweave.transforms.markup.markup import Form, Kind, Marked, Tag, find_elements
from pairweave.transforms.option_values import require_choice
from pairweave.transforms.text.tokens import TokenConfig, tokenize

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


@dataclasses.dataclass(frozen=True, slots=True)
class SpanConfig:
    """Settings of the words of a tag.

    Attributes:
        words: ``unicode``: Unicode words, with case, punctuation and articles. ``squad``: words of
            SQuAD's script (`squad_words`).
        same_name: For several pairs with the same name and key: ``merged``, the words inside them,
            each once; ``covering``, those from the start of the first to the end of the last.
    """

    words: str = "unicode"
    same_name: str = "merged"

    def __post_init__(self) -> None:
        require_choice("f1_words", self.words, ("unicode", "squad"))
        require_choice("f1_same_name", self.same_name, ("merged", "covering"))

    @property
    def settings(self) -> dict[str, object]:
        """Return the settings for a signature."""
        case = "mixed" if self.words == "unicode" else "lc"
        return {"case": case, "same_name": self.same_name, "words": self.words}


AS_THEY_STAND = SpanConfig()

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLE = re.compile(r"\b(a|an|the)\b")


def squad_words(text: str) -> list[str]:
    """Return the words of a text as SQuAD's script compares them (Rajpurkar et al. 2016).

    It converts the text to lower case, removes ASCII punctuation and then English articles, and
    splits at white space, so Chinese and Japanese texts have few words.

    >>> squad_words("The  well-known U.S. house, a")
    ['wellknown', 'us', 'house']
    """
    return _ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def score_spans(
    hypotheses: Sequence[Marked],
    references: Sequence[Marked],
    language: str | None = None,
    config: SpanConfig = AS_THEY_STAND,
) -> SpanScores:
    """Compare the words inside tags with those of the reference.

    All pairs with the same name and key in a line are one tag: their words count as one span (the
    paper's footnote 13). Words are compared as bags, as in SQuAD. Empty tags and unpaired tags have
    no words and do not count; a tag of the reference that the output lacks scores 0, and one that
    only the output has is left to other metrics.

    Args:
        hypotheses: Outputs ``[line]``.
        references: References ``[line]``.
        language: BCP 47 tag of the texts, for their words.
        config: Settings of the words of a tag.
    """
    texts: list[str] = []
    spans: list[list[int]] = []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        output_spans, gold_spans = (_spans(marked, config) for marked in (hypothesis, reference))
        line = []
        for name, ranges in gold_spans.items():
            line.append(len(texts) if name in output_spans else -1 - len(texts))
            texts += [
                _cut(reference.text, ranges),
                _cut(hypothesis.text, output_spans.get(name, [])),
            ]
        spans.append(line)
    if config.words == "squad":
        bags = [Counter(squad_words(text)) for text in texts]
    else:
        bags = _bags(texts, language)
    lines = tuple(
        tuple(_f1(bags[at + 1], bags[at]) if at >= 0 else 0.0 for at in line) for line in spans
    )
    every = [f1 for line in lines for f1 in line]
    return SpanScores(sum(every) / len(every) if every else 0.0, len(every), lines)


def spans_by_name(marked: Marked) -> Names:
    """Return the text inside the pairs of each name and key, as disjoint ranges of code points.

    >>> from pairweave.transforms.markup.markup import parse_markup
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


def _spans(marked: Marked, config: SpanConfig) -> Names:
    names = spans_by_name(marked)
    if config.same_name == "merged":
        return names
    return {name: [(ranges[0][0], ranges[-1][1])] for name, ranges in names.items()}


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


def _f1(hypothesis: Counter[str], reference: Counter[str]) -> float:
    """Return the harmonic mean of precision and recall; 1 if both sides have no words."""
    if not hypothesis or not reference:
        return float(hypothesis == reference)
    same = (hypothesis & reference).total()
    return 2.0 * same / (hypothesis.total() + reference.total())


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
    """Move all tags one word to the left, which must lower any metric of their positions.

    An opening tag moves to the start of the word before it, a closing tag to the end of the word
    before the last one; a tag with no word before it moves to the start. The tags keep their order.
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
