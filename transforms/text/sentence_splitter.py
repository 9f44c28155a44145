"""Sentences of running text, found by sentencex.

It knows the abbreviations and the full stops of many languages, including Chinese, Japanese and
Hindi, and keeps quotations whole. Decision 11 has the measurements on which the choice is based.
"""

import functools
import importlib
import itertools
from collections.abc import Callable

import regex

from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.installed_packages import require_same, with_versions
from pairweave.transforms.text.iso_languages import primary_tag

NONE = "none"
"""No splitter: the text is already split."""

_PACKAGE = "sentencex"
_UNKNOWN = "en"
"""The rules for text of an unknown language; their abbreviations are those of English."""

_TITLES = {"en": ("Ms.",), "es": ("Sra.", "Srta."), "fr": ("M.", "MM.")}
"""Titles that sentencex does not know, and after which no sentence ends. ``M.`` alone accounts for
a third of its wrong cuts in French news."""

_WIDE_SPACE_BEFORE_STOP = regex.compile(r"[^\S\x00-\x7f](?=\.)")
"""sentencex 1.0.32 takes such white space after a capital letter for a byte, and fails. It is
replaced by a space, which has the same length in code points."""

_KHMER_STOP = regex.compile(
    r"[\u17d4\u17d5](?!\s*[\u17d4\u17d5])(?!\u179b\u17d4)[\p{Pe}\p{Pf}\"']*"
)
"""A full stop of Khmer, which sentencex does not know. The first sign of ``។ល។`` (etc.) is
not one."""

Span = tuple[int, int]
"""First code point of a sentence, and the code point after its last one."""


def installed_name() -> str | None:
    """Return the splitter that is installed, with the version that decides its cuts, or None."""
    versions = with_versions([_PACKAGE])
    return None if versions is None else versions[0]


def choose_splitter() -> str:
    """Return the name of the splitter that is installed.

    Raises:
        ConfigError: No splitter is installed.
    """
    name = installed_name()
    if name is None:
        raise ConfigError(
            "text is split into sentences by sentencex, which is not installed: pip install "
            "'pairweave[split]'; or give --split none for text with one sentence per line"
        )
    return name


def check_installed(name: str) -> None:
    """Check that the splitter that a run names is installed here.

    Raises:
        WorkerError: A different splitter, or none, is installed.
    """
    if name != NONE:
        require_same("splits sentences", name, installed_name())


def split_sentences(text: str, language: str | None) -> list[Span]:
    """Find the sentences of a text.

    Every character that is not white space is in one sentence. White space at the beginning or end
    of a sentence is in none.

    Args:
        text: The text, without line breaks.
        language: Its BCP 47 tag; English rules are used for unknown languages.

    Returns:
        Their spans in order, without empty ones.

    Raises:
        WorkerError: The splitter has altered the text, or has failed.
    """
    text = _WIDE_SPACE_BEFORE_STOP.sub(" ", text)
    tag = primary_tag(language) or _UNKNOWN
    titles = _TITLES.get(tag, ())
    spans: list[Span] = []
    at = 0
    for piece in _pieces(tag, text):
        if not text.startswith(piece, at):
            raise WorkerError(f"{_PACKAGE} has altered a text at character {at}: {text[:200]!r}")
        end = at + len(piece)
        left = at + len(piece) - len(piece.lstrip())
        right = left + len(piece.strip())
        if left < right:
            if spans and text[slice(*spans[-1])].rpartition(" ")[2] in titles:
                left, _ = spans.pop()
            spans.append((left, right))
        at = end
    if text[at:].strip():
        raise WorkerError(f"{_PACKAGE} has lost the end of a text: {text[at : at + 200]!r}")
    return spans


def _pieces(tag: str, text: str) -> list[str]:
    try:
        return [part for piece in _segment()(tag, text) for part in _cut_at_khmer_stops(piece)]
    except BaseException as error:
        # A panic of Rust is not an Exception, so nothing else would report it in one line.
        if type(error).__name__ != "PanicException":
            raise
        raise WorkerError(f"{_PACKAGE} has failed on a text: {error}: {text[:200]!r}") from error


def _cut_at_khmer_stops(text: str) -> list[str]:
    ends = [match.end() for match in _KHMER_STOP.finditer(text)]
    return [text[first:last] for first, last in itertools.pairwise([0, *ends, len(text)])]


@functools.cache
def _segment() -> Callable[[str, str], list[str]]:
    return importlib.import_module(_PACKAGE).segment
