"""Joins tokens of aligners into words where no tag may be placed between the tokens."""

import itertools
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import regex

from pairweave.transforms.kernels.text.cuts import merge_spans
from pairweave.transforms.text.segmenter import NONE, Spans, segment
from pairweave.transforms.text.tokens import Language, Texts, TokenConfig, tokenize

_KATAKANA = regex.compile(r"\p{WB=Katakana}[\p{WB=Katakana}\p{WB=Extend}]+")


def words_to_join(
    texts: Texts, config: TokenConfig, language: Language = None, segmenter: str = NONE
) -> list[list[tuple[int, int]]]:
    """Find the words inside which tokens have borders, but no tag may be placed.

    Args:
        texts: Strings without nulls ``[text]``.
        config: How the texts are cut into tokens.
        language: As for `tokenize`.
        segmenter: Finds words of scripts without spaces (`transforms.text.segmenter`).

    Returns:
        Half-open ranges of code points of each text, ascending and disjoint: runs of Katakana and
        the segmenter's words; for a SentencePiece model all words.

    >>> words_to_join(["アプリを開く"], TokenConfig())
    [[(0, 3)]]
    """
    column = pa.array(texts, pa.string()) if isinstance(texts, list) else texts
    spans = _katakana(column)
    if segmenter != NONE:
        spans = Spans(*merge_spans(*spans, *segment(column, language, segmenter)))
    if config.kind == "sentencepiece":
        tokens = tokenize(column, TokenConfig(), language)
        fields = (tokens.flatten().field(name).to_numpy() for name in ("start", "end"))
        spans = Spans(*merge_spans(*spans, tokens.offsets.to_numpy(), *fields))
    pairs = list(zip(spans.starts.tolist(), spans.ends.tolist(), strict=True))
    bounds = spans.offsets.tolist()
    return [pairs[start:end] for start, end in itertools.pairwise(bounds)]


def join_tokens(
    tokens: Sequence[tuple[int, int]], words: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Join the touching tokens whose border is inside a word.

    Args:
        tokens: Half-open ranges of code points of one text, ascending and disjoint.
        words: Ranges of words, in the same form.

    >>> join_tokens([(0, 1), (1, 2), (2, 3), (4, 5)], [(0, 2), (2, 5)])
    [(0, 2), (2, 3), (4, 5)]
    """
    joined: list[tuple[int, int]] = []
    word = 0
    for start, end in tokens:
        while word < len(words) and words[word][1] <= start:
            word += 1
        inside = word < len(words) and words[word][0] < start
        if inside and joined and joined[-1][1] == start:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def _katakana(texts: pa.Array | pa.ChunkedArray) -> Spans:
    runs = [[match.span() for match in _KATAKANA.finditer(text)] for text in texts.to_pylist()]
    offsets = np.cumsum([0, *map(len, runs)]).astype(np.int32)
    flat = np.array([span for spans in runs for span in spans], np.int32).reshape(-1, 2)
    return Spans(offsets, flat[:, 0].copy(), flat[:, 1].copy())
