"""Find glossary terms in SYMMETRIZED rows that occur on both sides and are linked.

Hanneman and Dinu (2020, section 5.2) put tags around synchronous occurrences of glossary entries.
Unlike in that paper, the word links must agree, and words may be inflected.
"""

import dataclasses
import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import regex

from pairweave.transforms import ids, schemas
from pairweave.transforms.arrow.flat_columns import links_of, list_column
from pairweave.transforms.config import Config, Seed, Share
from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.indexed_tag import MAX_TAGS
from pairweave.transforms.kernels import sampling
from pairweave.transforms.kernels.tags.elements import Phrases
from pairweave.transforms.markup.own_markup import keep_whole
from pairweave.transforms.option_values import require_choice
from pairweave.transforms.storage.text_lines import read_text_lines
from pairweave.transforms.tags.injection_options import MaxTags
from pairweave.transforms.text.segmenter import NONE
from pairweave.transforms.text.stemming import word_key
from pairweave.transforms.text.tokens import TokenConfig, tokenize
from pairweave.transforms.text.whole_words import pair_cuts

MATCHES = ("stem", "exact")

Key = tuple[str, ...]
Span = tuple[int, int]
Box = tuple[int, int, int, int]


@dataclasses.dataclass(frozen=True, slots=True)
class Glossary:
    """Terms and their translations.

    Attributes:
        entries: Source term and target term.
        match: ``stem``: a word of a term matches any word with the same stem, including related
            ones: a stemmer cuts off derivational endings (``gouvernance``) as well as inflectional
            ones. ``exact``: it matches the same word, ignoring case.
    """

    entries: tuple[tuple[str, str], ...]
    match: str = "stem"

    def __post_init__(self) -> None:
        require_choice("glossary_match", self.match, MATCHES)

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the entries in their order."""
        lines = "".join(f"{source}\t{target}\n" for source, target in self.entries)
        return hashlib.sha256(lines.encode()).hexdigest()


class TermConfig(Config):
    """Settings of tagging terms.

    Attributes:
        max_tags: Maximum number of tags in a pair.
        share: Share of the pairs that may be tagged, picked by a hash: a smaller share selects a
            subset of the pairs of a larger one.
        words: How terms and texts are split into words, ``words`` or ``whitespace``.
        segmenter: Finds words in scripts without spaces (`transforms.text.segmenter`).
    """

    seed: Seed = 1
    max_tags: MaxTags = MAX_TAGS
    share: Share = 1.0
    words: Literal["words", "whitespace"] = "words"
    segmenter: str = NONE


def read_glossary(path: str, match: str = "stem", *, punctuation: bool = False) -> Glossary:
    """Read a glossary with a source term, a tab and a target term per line; skip blank lines.

    Args:
        path: The file, plain or compressed.
        match: How words match (`Glossary`).
        punctuation: Accept terms without a letter or digit.

    Raises:
        ConfigError: A line is not an entry (with file and line), or there is no entry.
    """
    entries = []
    try:
        for number, line in enumerate(read_text_lines(path), 1):
            if line.strip():
                entries.append(_entry(line, f"{path}:{number}", punctuation=punctuation))
    except InputError as error:
        raise ConfigError(str(error)) from error
    if not entries:
        raise ConfigError(
            f"{path}: expected lines of a source term, a tab and a target term, found none"
        )
    return Glossary(tuple(dict.fromkeys(entries)), match)


def _entry(line: str, place: str, *, punctuation: bool) -> tuple[str, str]:
    fields = [field.strip() for field in line.split("\t")]
    if len(fields) != 2:
        raise ConfigError(
            f"{place}: expected a source term, a tab and a target term, found {len(fields)} "
            f"field{'s' * (len(fields) != 1)}; write one entry per line"
        )
    for side, term in zip(("source", "target"), fields, strict=True):
        if not term:
            raise ConfigError(f"{place}: the {side} term is empty; complete or remove the line")
        if not punctuation and not regex.search(r"[\p{L}\p{N}]", term):
            raise ConfigError(
                f"{place}: the {side} term {term!r} has no letter or digit; remove the line, or "
                "give --punctuation_tags true"
            )
    return fields[0], fields[1]


class FoundTerms(NamedTuple):
    """Terms found in a table.

    Attributes:
        table: The same pairs, with the terms to tag as phrase pairs (`transforms.schemas.PHRASES`).
        counts: Counts for the receipt.
    """

    table: pa.Table
    counts: dict[str, int]


def find_terms(table: pa.Table, glossary: Glossary, config: TermConfig) -> FoundTerms:
    """Find glossary terms that occur on both sides of pairs and are linked.

    A term is found if its words and those of its translation occur at places where tags may begin
    and end, at least one link connects the two, and no link connects either to other words. Longer
    terms take precedence, then those further left; terms do not overlap on either side. A term that
    would split an element of the text's own markup is left out (`transforms.markup.own_markup`).

    Args:
        table: Pairs with links (`transforms.schemas.SYMMETRIZED`).
        glossary: The terms.
        config: The settings.
    """
    schemas.require(table, schemas.SYMMETRIZED)
    keys = ids.pair_keys(table.column("id"))
    picked = sampling.picked(
        np.uint64(config.seed), keys, sampling.STEP_MIX, np.float64(config.share)
    )
    counts = Counter({"terms_on_both_sides": 0, "terms_without_links": 0})
    boxes: list[list[Box]] = []
    for row, pair in enumerate(_pairs(table, glossary, config)):
        boxes.append(_choose_terms(pair, counts, config.max_tags) if picked[row] else [])
    table, taken = _with_terms(table, boxes)
    counts["tagged_terms"] = int(taken.sum())
    counts["pairs_with_tagged_terms"] = int((taken > 0).sum())
    return FoundTerms(table, dict(counts))


class _Side(NamedTuple):
    """One side of a pair: its words, and the tokens at whose borders a tag may be."""

    keys: list[str]
    spans: list[Span]
    first: dict[int, int]
    behind: dict[int, int]

    def tokens(self, start: int, end: int) -> Span | None:
        """Return the token span of a word span, or None if a tag cannot enclose it."""
        first = self.first.get(self.spans[start][0])
        behind = self.behind.get(self.spans[end - 1][1])
        return None if first is None or behind is None else (first, behind)


class _Pair(NamedTuple):
    """A pair of texts, its links of tokens, and the glossary in its languages."""

    source: _Side
    target: _Side
    links: list[Span]
    glossary: "_Index"


class _Index:
    """A glossary in two languages, indexed by the first word of the source terms."""

    def __init__(self, glossary: Glossary, languages: tuple[str, str], words: str) -> None:
        sides = []
        for place, language in enumerate(languages):
            terms = pa.array([entry[place] for entry in glossary.entries], pa.string())
            key = word_key(language, stem=glossary.match == "stem")
            cut = _words(terms, words, language)
            texts = terms.to_pylist()
            sides.append(
                [
                    tuple(key(text[start:end]) for start, end in spans)
                    for text, spans in zip(texts, cut, strict=True)
                ]
            )
        self.terms: dict[str, dict[Key, list[Key]]] = defaultdict(dict)
        for source, target in zip(*sides, strict=True):
            if source and target:
                self.terms[source[0]].setdefault(source, []).append(target)

    def candidates(self, source: Sequence[str], target: Sequence[str]) -> Iterator[Box]:
        """Yield the word spans of every term and of each of its translations."""
        for start, word in enumerate(source):
            for term, translations in self.terms.get(word, {}).items():
                if tuple(source[start : start + len(term)]) != term:
                    continue
                for translation in dict.fromkeys(translations):
                    size = len(translation)
                    for place in range(len(target) - size + 1):
                        if tuple(target[place : place + size]) == translation:
                            yield start, start + len(term), place, place + size


def _pairs(table: pa.Table, glossary: Glossary, config: TermConfig) -> Iterator[_Pair]:
    indices: dict[tuple[str, str], _Index] = {}
    languages = [table.column(f"{side}_lang").to_pylist() for side in ("source", "target")]
    sides = [
        _sides(table, side, cuts, glossary, config)
        for side, cuts in zip(("source", "target"), pair_cuts(table, config.segmenter), strict=True)
    ]
    offsets, links = links_of(table, "links")
    ends = list(zip(links["source"].tolist(), links["target"].tolist(), strict=True))
    for row, (source, target) in enumerate(zip(*sides, strict=True)):
        tags = languages[0][row], languages[1][row]
        if tags not in indices:
            indices[tags] = _Index(glossary, tags, config.words)
        yield _Pair(source, target, ends[offsets[row] : offsets[row + 1]], indices[tags])


def _sides(
    table: pa.Table, side: str, cuts: pa.ListArray, glossary: Glossary, config: TermConfig
) -> Iterator[_Side]:
    texts, languages = table.column(side), table.column(f"{side}_lang")
    words = _words(texts, config.words, languages)
    columns = (texts, languages, table.column(f"{side}_tokens"), cuts)
    rows = zip(*(column.to_pylist() for column in columns), words, strict=True)
    for text, language, tokens, free, spans in rows:
        key: Callable[[str], str] = word_key(language, stem=glossary.match == "stem")
        # An empty token (a lone word mark of SentencePiece) cannot begin or end a term.
        shown = [(at, token) for at, token in enumerate(tokens) if token["start"] < token["end"]]
        yield _Side(
            [key(text[start:end]) for start, end in spans],
            spans,
            {token["start"]: at for at, token in shown if free[at]},
            {token["end"]: at + 1 for at, token in shown if free[at + 1]},
        )


def _words(
    texts: pa.Array | pa.ChunkedArray, kind: str, language: str | pa.ChunkedArray
) -> list[list[Span]]:
    cut = tokenize(texts, TokenConfig(kind), language).to_pylist()
    return [[(token["start"], token["end"]) for token in row] for row in cut]


def _choose_terms(pair: _Pair, counts: Counter[str], max_terms: int) -> list[Box]:
    """Return the token spans of the terms of a pair that are to be tagged."""
    candidates = list(pair.glossary.candidates(pair.source.keys, pair.target.keys))
    candidates.sort(key=lambda box: (box[0] - box[1], box[2] - box[3], box[0], box[2]))
    boxes: list[Box] = []
    linked: set[Span] = set()
    for a, b, c, d in candidates:
        source, target = pair.source.tokens(a, b), pair.target.tokens(c, d)
        if source is None or target is None:
            continue
        if not agree(pair.links, source, target):
            continue
        linked.add((a, b))
        box = (*source, *target)
        if len(boxes) < max_terms and all(_apart(box, other) for other in boxes):
            boxes.append(box)
    terms = {(a, b) for a, b, *_ in candidates}
    counts["terms_on_both_sides"] += len(terms)
    counts["terms_without_links"] += len(terms - linked)
    return boxes


def agree(links: Sequence[Span], source: Span, target: Span) -> bool:
    """Return True if links connect two token spans, and connect neither to other tokens.

    >>> agree([(0, 1), (2, 2)], (0, 2), (1, 2)), agree([(0, 1), (1, 2)], (0, 2), (1, 2))
    (True, False)
    """
    linked = False
    for one, other in links:
        inside = source[0] <= one < source[1]
        if inside != (target[0] <= other < target[1]):
            return False
        linked |= inside
    return linked


def _apart(one: Box, other: Box) -> bool:
    source = one[1] <= other[0] or other[1] <= one[0]
    return source and (one[3] <= other[2] or other[3] <= one[2])


def _with_terms(table: pa.Table, boxes: list[list[Box]]) -> tuple[pa.Table, np.ndarray]:
    """Return PHRASES rows, and the number of terms of each, int64 ``[pair]``."""
    flat = np.array([box for row in boxes for box in row], np.int16).reshape(-1, 4)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(row) for row in boxes])])
    phrases = Phrases(
        offsets.astype(np.int64), np.ascontiguousarray(flat.T), np.zeros(0, np.float32)
    )
    phrases = keep_whole(table, phrases)
    names = [field.name for field in schemas.PHRASE]
    columns = [*phrases.boxes, np.ones(phrases.boxes.shape[1], np.float32)]
    column = list_column(
        phrases.offsets,
        dict(zip(names, columns, strict=True)),
        schemas.PHRASE_LIST,
    )
    table = table.append_column(schemas.PHRASES.field("phrases"), column)
    return table, np.diff(phrases.offsets)
