"""Counts the words that no tag may split, and finds the token borders between them."""

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import regex

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import fields_of, texts_of
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.kernels.text import cuts
from pairweave.transforms.kernels.text.utf8 import FlatTexts
from pairweave.transforms.kernels.text.word_counts import (
    count_spaced_words,
    mark_wordlike,
    may_have_unspaced_letters,
)
from pairweave.transforms.text import codepoints
from pairweave.transforms.text.segmenter import NONE, segment
from pairweave.transforms.text.tokens import Language, Spans, Texts, cut_words, each_language

# RE2: scripts without spaces between words. Tibetan separates its syllables by a mark.
_UNSPACED = r"\p{Han}|\p{Hiragana}|\p{Katakana}|\p{Thai}|\p{Lao}|\p{Khmer}|\p{Myanmar}|\p{Tibetan}"

# Languages that join a name to a noun with a hyphen (in Hungarian also to a suffix), and the
# letters that must follow the hyphen. Of translators' tags in help pages, 7.8 % are at such a
# hyphen in Finnish and 0.3 % in German, none in English (74,000 tags), French and Korean.
_PARTS_OF_COMPOUNDS = {
    **dict.fromkeys(("de", "nds", "lb", "nl", "fy", "sv", "da", "nb", "nn", "no", "fi", "et"), 3),
    "hu": 1,
}

# Characters by which a kernel joins numbers: most texts in European languages have none of these.
_NUMERAL = regex.compile(r"[°²³¹¼½¾\u0800-\u1FFF\u2044-\u218F\u3000-\U0010FFFF]")

_Result = TypeVar("_Result")


class ResultCache(threading.local, Generic[_Result]):
    """Caches a few results per thread that two steps compute from the same columns.

    Columns are identified by the addresses of their values, so nothing is compared. A result is
    dropped when it is requested again, or when there are too many others.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: dict[Hashable, tuple[Sequence[Texts], _Result]] = {}

    def find(
        self, columns: Sequence[Texts], settings: Hashable, compute: Callable[[], _Result]
    ) -> _Result:
        """Return the cached result for columns and settings, or compute and cache it.

        Args:
            columns: All columns that the result depends on.
            settings: Everything else that it depends on.
            compute: Computes the result, which must not be modified.
        """
        key = (*map(_place_in_memory, columns), settings)
        if key in self._held:
            return self._held.pop(key)[1]
        result = compute()
        while len(self._held) >= self._most:
            del self._held[next(iter(self._held))]
        # Keeping the columns prevents reuse of their addresses.
        self._held[key] = columns, result
        return result


def _place_in_memory(column: Texts) -> Hashable:
    if isinstance(column, pa.ChunkedArray):
        return tuple(map(_place_in_memory, column.chunks))
    if pa.types.is_dictionary(column.type):
        return _place_in_memory(column.indices), _place_in_memory(column.dictionary)
    buffers = [buffer is not None and (buffer.address, buffer.size) for buffer in column.buffers()]
    return column.type, column.offset, len(column), *buffers


_spans: ResultCache[tuple[FlatTexts, Spans]] = ResultCache(2)


def word_counts(texts: Texts, language: Language = None, segmenter: str = NONE) -> np.ndarray:
    """Count the words of texts that contain a letter or a digit; aligners' tokens do not matter.

    A hyphenated compound counts as one word, and so does a word with its elided article or with a
    clitic such as ``'s``, so that a share of the words is right however words are counted. In
    scripts without spaces, each word counts, and in Tibetan each syllable.

    Args:
        texts: Strings without nulls ``[text]``.
        language: As for `tokenize`.
        segmenter: Finds words of scripts without spaces (`transforms.text.segmenter`).

    Returns:
        int64 ``[text]``.
    """
    flat, spans = _unbroken(texts, language, segmenter)
    marks = mark_wordlike(*flat, *spans, codepoints.properties())
    words = np.diff(np.concatenate([np.zeros(1, np.int64), np.cumsum(marks)])[spans[0]])
    between_spaces = count_spaced_words(*flat, codepoints.properties())
    unspaced = may_have_unspaced_letters(*flat)
    if unspaced.any():
        some = texts.filter(pa.array(unspaced))
        matches = pc.match_substring_regex(some, _UNSPACED)
        unspaced[unspaced] = matches.to_numpy(zero_copy_only=False)
    return np.where(unspaced, words, np.minimum(words, between_spaces))


def spaced_word_counts(texts: Texts) -> np.ndarray:
    """Count the words between white space that contain a letter or a digit, int64 ``[text]``."""
    return count_spaced_words(*texts_of(texts), codepoints.properties())


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
    run of Katakana is one word (UAX #29, WB13). Parts joined by hyphens are one word, with a hyphen
    at its end (``Vor- und Nachteile``); in German and similar languages, only if a part has fewer
    than three letters (``E-Mail``). With `tokens`, the endings that Korean, Turkish and Finnish
    attach to a noun are words of their own. An elided article or pronoun (l', qu', dell') is a
    word, an English clitic is not. Words of scripts without spaces are found only with a segmenter.
    Place ``i`` is both the start of token ``i`` and the end of token ``i - 1``, and is free only if
    both borders are free; if the two tokens touch, both borders are the same.

    Args:
        texts: Strings without nulls ``[text]``.
        tokens: Their tokens, as `tokenize` returns them, of any kind.
        language: As for `tokenize`.
        segmenter: Finds words of scripts without spaces (`transforms.text.segmenter`).
        compounds: Whether parts joined by hyphens are one word; if not, each part is a word.

    Returns:
        ``list<bool>`` ``[text]``, one more entry than the text has tokens.

    Raises:
        WorkerError: The number of token lists differs from the number of texts.
    """
    token_offsets, fields = fields_of(tokens)
    if len(token_offsets) != len(texts) + 1:
        raise WorkerError(f"{len(texts)} texts, but tokens of {len(token_offsets) - 1}")
    _, spans = _unbroken(texts, language, segmenter, compounds=compounds)
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
        Ranges in the same form; the tokens themselves if none are joined.

    >>> join_numbers("2½ kg", [(0, 1), (1, 2), (3, 5)])
    [(0, 2), (3, 5)]
    """
    if not _NUMERAL.search(text):
        return list(tokens)
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
    source, target = [
        find_cuts(
            table.column(side),
            table.column(f"{side}_tokens"),
            table.column(f"{side}_lang"),
            segmenter,
        )
        for side in ("source", "target")
    ]
    return source, target


def _unbroken(
    texts: Texts, language: Language, segmenter: str, *, compounds: bool = True
) -> tuple[FlatTexts, Spans]:
    """Return flat texts and the spans that no tag may split, as `word_breaks.find_tokens` does.

    A job first asks for the places of tags in a source and a target, then for their numbers of
    words.
    """
    of_columns = [texts] if language is None or isinstance(language, str) else [texts, language]
    return _spans.find(
        of_columns,
        (language if isinstance(language, str) else None, segmenter, compounds),
        lambda: _find_unbroken(texts, language, segmenter, compounds=compounds),
    )


def _find_unbroken(
    texts: Texts, language: Language, segmenter: str, *, compounds: bool
) -> tuple[FlatTexts, Spans]:
    parts = each_language(len(texts), language, _PARTS_OF_COMPOUNDS, np.uint8)
    flat, spans = cut_words(texts, language, whole_words=True)
    properties = codepoints.properties(whole_words=True)
    spans = cuts.join_numbers(*flat, *spans, properties)
    if compounds:
        spans = cuts.join_at_hyphens(*flat, parts, *spans, properties)
    if segmenter != NONE:
        spans = cuts.merge_spans(*spans, *segment(texts, language, segmenter))
    return flat, spans
