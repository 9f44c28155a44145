"""Words that no tag may split: how many a text has, and the token borders between them."""

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import chunk_of, fields_of, texts_of
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.kernels.text import cuts, utf8, word_breaks
from pairweave.transforms.text import codepoints
from pairweave.transforms.text.segmenter import NONE, segment
from pairweave.transforms.text.tokens import Language, Spans, Texts, clitic_rules

_Result = TypeVar("_Result")


class ResultCache(threading.local, Generic[_Result]):
    """Results that two steps of a job compute from the same columns, a few per thread.

    Columns are identified by the addresses of their values, so nothing is compared. A result is
    dropped when it is requested again, or when there are too many others.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[Hashable, tuple[Sequence[pa.Array], _Result]] = {}

    def find(
        self, columns: Sequence[pa.Array], settings: Hashable, found: Callable[[], _Result]
    ) -> _Result:
        """Return the cached result for columns and settings, or compute and cache it.

        Args:
            columns: All columns that the result depends on.
            settings: All else that it depends on.
            found: Computes it; the result must not be modified.
        """
        key = (*map(_place_in_memory, columns), settings)
        if key in self._held:
            return self._held.pop(key)[1]
        result = found()
        while len(self._held) >= self._most:
            del self._held[next(iter(self._held))]
        # Keeping the columns prevents reuse of their addresses.
        self._held[key] = columns, result
        return result


def _place_in_memory(column: pa.Array) -> Hashable:
    if pa.types.is_dictionary(column.type):
        return _place_in_memory(column.indices), _place_in_memory(column.dictionary)
    buffers = [buffer is not None and (buffer.address, buffer.size) for buffer in column.buffers()]
    return column.type, column.offset, len(column), *buffers


_spans: ResultCache[Spans] = ResultCache(2)


def word_counts(texts: Texts, language: Language = None, segmenter: str = NONE) -> np.ndarray:
    """Count the words of texts that contain a letter or a digit, whatever the aligner's tokens are.

    An elided article is a word, a clitic such as ``'s`` is not, and a hyphenated compound is one.

    Args:
        texts: Strings without nulls ``[text]``.
        language: As for `tokenize`.
        segmenter: What finds words of scripts without spaces (`transforms.text.segmenter`).

    Returns:
        int64 ``[text]``.
    """
    spans = _unbroken(texts, language, segmenter)
    return _count_wordlike(*texts_of(texts), spans)


def spaced_word_counts(texts: Texts) -> np.ndarray:
    """Count the words between white space that contain a letter or a digit, int64 ``[text]``."""
    data, offsets = texts_of(texts)
    spans = utf8.split_at_white_space(data, offsets, codepoints.properties())
    return _count_wordlike(data, offsets, spans)


def _count_wordlike(data: np.ndarray, offsets: np.ndarray, spans: Spans) -> np.ndarray:
    marks = cuts.mark_wordlike(data, offsets, *spans, codepoints.properties())
    return np.diff(np.concatenate([np.zeros(1, np.int64), np.cumsum(marks)])[spans[0]])


def wordlike_tokens(texts: Texts, tokens: Texts) -> tuple[np.ndarray, np.ndarray]:
    """Flag tokens with a letter or digit.

    Args:
        texts: Strings without nulls ``[text]``.
        tokens: Their tokens, as `tokenize` returns them, of any kind.

    Returns:
        Start of each text's tokens, int64 ``[text + 1]``, which in a slice need not be from 0;
        and a bool for each ``[token]``, of which the first is the first text's first.
    """
    token_offsets, fields = fields_of(tokens)
    marks = cuts.mark_wordlike(
        *texts_of(texts), token_offsets, fields["start"], fields["end"], codepoints.properties()
    )
    return token_offsets, marks


def find_cuts(
    texts: Texts,
    tokens: Texts,
    language: Language = None,
    segmenter: str = NONE,
    *,
    compounds: bool = True,
) -> pa.ListArray:
    """Flag the token borders at which a tag is allowed.

    A place is free if no border there falls inside a word, a grapheme cluster, a number, a URL, an
    e-mail address, a placeholder, a tag or a run of one punctuation mark. Fractions and raised
    digits belong to the number or the word that they touch (``2½``, ``10⁻⁶``, ``m²``, ``H₂O``). A
    run of Katakana is one word (UAX #29, WB13), and so is what hyphens join, with a hyphen at its
    end (``Vor- und Nachteile``). An elided article or pronoun (l', qu', dell') is a word, an
    English clitic is not. Words of scripts without spaces are found only with a segmenter. Place
    ``i`` is both the start of token ``i`` and the end of token ``i - 1``, and is free only if both
    borders are: between two tokens that touch they are one.

    Args:
        texts: Strings without nulls ``[text]``.
        tokens: Their tokens, as `tokenize` returns them, of any kind.
        language: As for `tokenize`.
        segmenter: What finds words of scripts without spaces (`transforms.text.segmenter`).
        compounds: Whether what hyphens join is one word; if not, its parts are words.

    Returns:
        ``list<bool>`` ``[text]``, one more entry than the text has tokens.

    Raises:
        WorkerError: There are not as many lists of tokens as texts.
    """
    token_offsets, fields = fields_of(tokens)
    if len(token_offsets) != len(texts) + 1:
        raise WorkerError(f"{len(texts)} texts, but tokens of {len(token_offsets) - 1}")
    spans = _unbroken(texts, language, segmenter, compounds=compounds)
    free = cuts.find_cuts(*spans, token_offsets, fields["start"], fields["end"])
    places = token_offsets - token_offsets[0] + np.arange(len(token_offsets))
    return pa.ListArray.from_arrays(
        pa.array(places.astype(np.int32)), pa.array(free), type=schemas.BOOL_LIST
    )


def join_numbers(text: str, tokens: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join the touching tokens of one text that are parts of one number, unit or formula.

    Args:
        text: The text.
        tokens: Half-open ranges of its code points, ascending and disjoint.

    Returns:
        Ranges, likewise; the tokens themselves if none are joined.

    >>> join_numbers("2½ kg", [(0, 1), (1, 2), (3, 5)])
    [(0, 2), (3, 5)]
    """
    data, offsets = texts_of(pa.array([text]))
    spans = np.array(tokens, np.int32).reshape(-1, 2)
    _, starts, ends = cuts.join_numbers(
        data,
        offsets,
        np.array([0, len(spans)], np.int32),
        spans[:, 0].copy(),
        spans[:, 1].copy(),
        codepoints.properties(whole_words=True),
    )
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


def pair_cuts(table: pa.Table, segmenter: str = NONE) -> tuple[pa.ListArray, pa.ListArray]:
    """Return the source cuts and the target cuts of rows with tokens (`find_cuts`)."""
    source, target = (
        find_cuts(
            table.column(side),
            table.column(f"{side}_tokens"),
            table.column(f"{side}_lang"),
            segmenter,
        )
        for side in ("source", "target")
    )
    return source, target


def _unbroken(texts: Texts, language: Language, segmenter: str, *, compounds: bool = True) -> Spans:
    """Return the spans that no tag may split, as `word_breaks.find_tokens` does.

    A job first asks where a tag may stand in a source and a target, then how many words they have.
    """
    of_columns = [texts] if language is None or isinstance(language, str) else [texts, language]
    return _spans.find(
        [chunk_of(column) for column in of_columns],
        (language if isinstance(language, str) else None, segmenter, compounds),
        lambda: _find_unbroken(texts, language, segmenter, compounds=compounds),
    )


def _find_unbroken(texts: Texts, language: Language, segmenter: str, *, compounds: bool) -> Spans:
    rules = clitic_rules(texts, language)
    data, offsets = texts_of(texts)
    properties = codepoints.properties(whole_words=True)
    spans = word_breaks.find_tokens(data, offsets, rules, 1, properties)
    spans = cuts.join_numbers(data, offsets, *spans, properties)
    if compounds:
        spans = cuts.join_at_hyphens(data, offsets, *spans, properties)
    if segmenter == NONE:
        return spans
    return cuts.merge_spans(*spans, *segment(texts, language, segmenter))
