"""White space after tags instead of before them, and back (Ryu et al. 2022, section 3.4).

A SentencePiece model marks the start of a word by the white space before it, and adds a space
before the first word. ``the <a_3>green`` separates the word from its mark; ``the<a_3> green`` does
not, and neither does ``<a_3> The`` at the start of a text. In this form every word has the pieces
that it has without tags. The paper only moves the space; it does not mention texts that begin with
a tag.
"""

import dataclasses
import re
from collections.abc import Iterator, Sequence

from pairweave.transforms.indexed_tag import JOB_TAG

WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""All characters with Unicode's White_Space property."""

_DUMMY_PREFIX = " "
"""The prefix that SentencePiece adds, so that the first word has a mark like any other."""


@dataclasses.dataclass(frozen=True, slots=True)
class Shifted:
    """Texts between tags after the shift.

    Attributes:
        texts: As in the argument of `shift_between`.
        led: Tags other than opening ones after which white space was moved from before them, which
            the text alone does not show.
    """

    texts: list[str]
    led: list[int]


@dataclasses.dataclass(frozen=True, slots=True)
class Unshifted:
    """Texts between tags with the shift undone.

    Attributes:
        texts: As in the argument of `unshift_between`.
        mended: Runs of tags that were not in the shifted form.
    """

    texts: list[str]
    mended: int


def shift_between(texts: Sequence[str], opens: Sequence[bool]) -> Shifted:
    """Move white space to after the tags that are between it and a word.

    For a run of tags (with only white space between them) before a word, the last white space is
    moved after the last tag. At the start of the text a space is added there, which SentencePiece
    would put before the tags. A run with white space before the word, or without a word after it,
    is not changed.

    Args:
        texts: The text before the first tag, between every two, and after the last.
        opens: Whether each tag opens.
    """
    shifted, led = list(texts), []
    for first, last in _runs(shifted):
        if not shifted[last + 1] or shifted[last + 1][0] in WHITE_SPACE:
            continue
        gap = next((place for place in range(last, first, -1) if shifted[place]), first)
        kept = shifted[gap].rstrip(WHITE_SPACE)
        moved = shifted[gap][len(kept) :]
        at_start = not first and not shifted[0].strip(WHITE_SPACE)
        shifted[gap] = kept
        shifted[last + 1] = (_DUMMY_PREFIX if at_start else "") + moved + shifted[last + 1]
        if moved or at_start:
            led += [tag for tag in range(gap, last + 1) if not opens[tag]]
    return Shifted(shifted, led)


def unshift_between(texts: Sequence[str], leads: Sequence[bool]) -> Unshifted:
    """Move white space back to before the tags that belong to the word after it.

    A model may have written either form, or both: white space before the tags is kept, and any
    additional white space after them is removed. White space before closing tags is kept.

    Args:
        texts: As for `shift_between`.
        leads: Whether each tag belongs to the text after it: it opens, or is in `Shifted.led`.
    """
    unshifted, mended = list(texts), 0
    for first, last in _runs(unshifted):
        lead = last + 1
        while lead > first and leads[lead - 1]:
            lead -= 1
        rest = unshifted[last + 1].lstrip(WHITE_SPACE)
        if lead > last or not rest:
            continue
        behind = unshifted[last + 1][: len(unshifted[last + 1]) - len(rest)]
        at_start = not first and not unshifted[0].strip(WHITE_SPACE)
        amiss = at_start and not behind
        if at_start:
            behind = behind.removeprefix(_DUMMY_PREFIX)
        between = "".join(unshifted[lead + 1 : last + 1])
        before = unshifted[lead][len(unshifted[lead].rstrip(WHITE_SPACE)) :]
        unshifted[lead + 1 : last + 1] = [""] * (last - lead)
        unshifted[last + 1] = rest
        if not before:
            unshifted[lead] += between + behind
        mended += amiss or bool(before or between)
    return Unshifted(unshifted, mended)


def shift_whitespace(text: str, tag: str = JOB_TAG) -> str:
    """Move white space before tags after them, if a word follows (`shift_between`).

    Args:
        text: Tagged text.
        tag: Regular expression of a tag, with a group ``close`` that matches only in closing tags
            and one ``empty`` only in self-closing ones. It must not match white space.

    >>> shift_whitespace("The <a_3>green witch</a_3> .")
    'The<a_3> green witch</a_3> .'
    >>> shift_whitespace("<a_3>The</a_3> witch")
    '<a_3> The</a_3> witch'
    """
    texts, tags, opens = _take_apart(text, tag)
    return _put_together(shift_between(texts, opens).texts, tags)


def unshift_whitespace(text: str, tag: str = JOB_TAG) -> str:
    """Undo `shift_whitespace`, also in a text that is only partly shifted or not at all.

    The original text is restored if it had no white space after an opening tag or between the tags
    of a run, and none before a run of only closing and self-closing tags. A space next to such tags
    may belong to the word before or to the word after, so it stays after them.

    >>> unshift_whitespace("The<a_3> green witch</a_3> .")
    'The <a_3>green witch</a_3> .'
    >>> unshift_whitespace("The <a_3>green witch</a_3> .")
    'The <a_3>green witch</a_3> .'
    """
    texts, tags, opens = _take_apart(text, tag)
    return _put_together(unshift_between(texts, opens).texts, tags)


def _runs(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last tag of each run of tags with only white space between them."""
    first = 0
    for tag in range(len(texts) - 1):
        if tag + 2 == len(texts) or texts[tag + 1].strip(WHITE_SPACE):
            yield first, tag
            first = tag + 1


def _take_apart(text: str, tag: str) -> tuple[list[str], list[str], list[bool]]:
    matches = list(re.finditer(tag, text))
    borders = [0, *(place for match in matches for place in match.span()), len(text)]
    texts = [text[start:end] for start, end in zip(borders[::2], borders[1::2], strict=True)]
    opens = [not (match["close"] or match["empty"]) for match in matches]
    return texts, [match[0] for match in matches], opens


def _put_together(texts: Sequence[str], tags: Sequence[str]) -> str:
    return "".join(part for pair in zip(texts, [*tags, ""], strict=True) for part in pair)
