"""Words of scripts without spaces between words, found with dictionaries."""

import importlib
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import regex

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.installed_packages import require_same, with_versions
from pairweave.transforms.kernels.text.cuts import merge_spans
from pairweave.transforms.text.iso_languages import primary_tag
from pairweave.transforms.text.tokens import Language, Texts, each_language

NONE = "none"
"""No segmenter: each character of a script without spaces counts as a word."""

EXTRA = "pip install 'pairweave[segment]'"

_CHINESE = ("zh", "cmn", "yue", "wuu", "hak", "gan", "hsn", "lzh", "nan")
LANGUAGES = frozenset({*_CHINESE, "ja", "th", "lo", "km", "my"})
"""Languages written without spaces between words for which there is a dictionary."""

# RE2, for whole columns.
UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"

# The prolonged sound mark belongs to no single script.
_RUN = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\u30fc\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]+")

_PACKAGES = ("icu4py", "rjieba")


class Spans(NamedTuple):
    """Spans of texts.

    Attributes:
        offsets: Start of each text's spans, int32 ``[text + 1]``, from 0.
        starts: First code point of each, int32 ``[span]``.
        ends: The code point after it.
    """

    offsets: np.ndarray
    starts: np.ndarray
    ends: np.ndarray


class _Runs(NamedTuple):
    """Runs of unspaced scripts in some texts: their texts, where they start, and in which text."""

    texts: list[str]
    starts: np.ndarray
    owners: np.ndarray


def is_unspaced(language: str | None) -> bool:
    """Tell whether a language has no spaces between words and has a dictionary here.

    >>> is_unspaced("zh-Hant"), is_unspaced("de"), is_unspaced(None)
    (True, False, False)
    """
    return primary_tag(language) in LANGUAGES


def installed_name() -> str | None:
    """Return the segmenter that is installed, with the versions that decide its words, or None."""
    versions = with_versions(_PACKAGES)
    if versions is None:
        return None
    return "+".join([*versions, f"icu-{importlib.import_module('icu4py').icu_version}"])


def check_installed(name: str) -> None:
    """Check that the segmenter that a run names is installed here.

    Raises:
        WorkerError: A different segmenter, or none, is installed.
    """
    if name != NONE:
        require_same("cuts words", name, installed_name())


def segment(texts: Texts, language: Language, name: str) -> Spans:
    """Find the words of several code points in runs of Han, kana, Thai, Lao, Khmer and Burmese.

    The words are those of ICU's dictionaries. Chinese text has those of jieba as well; where words
    of the two overlap, they are merged, so that no border falls inside a word of either. On 3,200
    runs of message catalogues, ICU alone splits common words that jieba knows (页面, 文档). A word
    of jieba that consists of words of ICU with two characters or more is not used (选择对象, select
    objects).

    Args:
        texts: Strings without nulls ``[text]``.
        language: BCP 47 tag of all texts, or one for each ``[text]``.
        name: The segmenter, as `installed_name` gives it.

    Raises:
        WorkerError: A different segmenter, or none, is installed.
    """
    check_installed(name)
    rows = np.flatnonzero(pc.match_substring_regex(texts, UNSPACED).to_numpy(zero_copy_only=False))
    if not len(rows):
        return Spans(np.zeros(len(texts) + 1, np.int32), *np.zeros((2, 0), np.int32))
    runs = _runs(texts, rows)
    breaker = importlib.import_module("icu4py.breakers").WordBreaker
    icu_words = _spans(breaker("\n".join(runs.texts), "root"), runs, len(texts))
    in_chinese = each_language(len(texts), language, dict.fromkeys(_CHINESE, 1), np.bool_)
    chinese = np.isin(runs.owners, np.flatnonzero(in_chinese))
    if not chinese.any():
        return icu_words
    own = _Runs(
        [text for text, wanted in zip(runs.texts, chinese.tolist(), strict=True) if wanted],
        runs.starts[chinese],
        runs.owners[chinese],
    )
    words = importlib.import_module("rjieba").cut("\n".join(own.texts))
    jieba_words = _without_compounds(_spans(words, own, len(texts)), icu_words)
    return Spans(*merge_spans(*icu_words, *jieba_words))


def needs_segmenter(texts: pa.Array | pa.ChunkedArray) -> bool:
    """Tell whether at least one text in a hundred is in a script without spaces."""
    unspaced = pc.sum(pc.match_substring_regex(texts, UNSPACED)).as_py() or 0
    return bool(unspaced and unspaced * 100 >= len(texts))


def choose_segmenter(wanted: str, reason: str | None) -> str:
    """Return the segmenter of a run.

    Args:
        wanted: ``auto``, ``dictionary`` or ``none``.
        reason: The reason why the input needs a segmenter; None if it does not.

    Raises:
        ConfigError: A segmenter is needed, but none is installed; says what to install.
    """
    if wanted == NONE or (wanted == "auto" and reason is None):
        return NONE
    name = installed_name()
    if name is None:
        raise ConfigError(
            f"{reason or '--segmenter dictionary'}: words in text without spaces are found with "
            f"dictionaries that are not installed; {EXTRA}, or give --segmenter none to allow "
            "tags between any two characters and masks that begin at any character"
        )
    return name


def _runs(texts: pa.Array | pa.ChunkedArray, rows: np.ndarray) -> _Runs:
    runs: list[str] = []
    starts: list[int] = []
    owners: list[int] = []
    for row, text in zip(rows.tolist(), texts.take(pa.array(rows)).to_pylist(), strict=True):
        for match in _RUN.finditer(text):
            runs.append(match[0])
            starts.append(match.start())
            owners.append(row)
    return _Runs(runs, np.array(starts, np.int64), np.array(owners, np.int64))


def _spans(words: Iterable[str], runs: _Runs, texts: int) -> Spans:
    """Turn the words of runs that were joined by newlines into spans of several code points."""
    ends = np.cumsum(np.fromiter(map(len, words), np.int64))
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
    lengths = np.fromiter(map(len, runs.texts), np.int64)
    begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths + 1)[:-1]])
    long = ends - starts > 1
    starts, ends = starts[long], ends[long]
    run = np.searchsorted(begins, starts, "right") - 1
    shift = runs.starts[run] - begins[run]
    counts = np.bincount(runs.owners[run], minlength=texts)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return Spans(*(part.astype(np.int32) for part in (offsets, starts + shift, ends + shift)))


def _without_compounds(spans: Spans, words: Spans) -> Spans:
    """Leave out the spans that consist of two or more of the words."""
    firsts = np.searchsorted(_in_order(words, words.starts), _in_order(spans, spans.starts))
    lasts = np.searchsorted(_in_order(words, words.ends), _in_order(spans, spans.ends), "right")
    totals = np.concatenate([np.zeros(1, np.int64), np.cumsum(words.ends - words.starts)])
    covered = totals[np.maximum(firsts, lasts)] - totals[firsts]
    kept = (lasts - firsts < 2) | (covered < spans.ends - spans.starts)
    offsets = np.concatenate([np.zeros(1, np.int32), np.cumsum(kept, dtype=np.int32)])
    return Spans(offsets[spans.offsets], spans.starts[kept], spans.ends[kept])


def _in_order(spans: Spans, places: np.ndarray) -> np.ndarray:
    """Return ascending keys of places in the texts of spans, int64 ``[span]``."""
    texts = np.repeat(np.arange(len(spans.offsets) - 1), np.diff(spans.offsets))
    return texts << 32 | places
