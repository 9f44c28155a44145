"""White space after tags instead of before them, and back (Ryu et al. 2022, section 3.4).

A SentencePiece model marks the start of a word by the white space before it, and puts one before
the first word. ``the <a_3>green`` separates the word from its mark; ``the<a_3> green`` does not,
and neither does ``<a_3> The`` at the start of a text. In this form every word has the pieces that
it has without tags. The paper only moves the space; it does not mention texts that begin with a
tag.
"""

import dataclasses
import re
from collections.abc import Iterator, Sequence

from pairweave.transforms.indexed_tag import JOB_TAG

WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode's White_Space property, whole."""

_DUMMY_PREFIX = " "
"""The prefix that SentencePiece adds, so that the first word has a mark like any other."""


@dataclasses.dataclass(frozen=True, slots=True)
class Shifted:
    """Texts between tags after the shift.

    Attributes:
        texts: As `shift_between` was given them.
        led: Tags that do not open and stand before white space now that stood before them; where
            they were, the text alone does not tell.
    """

    texts: list[str]
    led: list[int]


@dataclasses.dataclass(frozen=True, slots=True)
class Unshifted:
    """Texts between tags with the shift undone.

    Attributes:
        texts: As `unshift_between` was given them.
        mended: Runs of tags that were not in the form of the shift.
    """

    texts: list[str]
    mended: int


def shift_between(texts: Sequence[str], opens: Sequence[bool]) -> Shifted:
    """Move white space to after the tags that are between it and a word.

    Of a run of tags (with nothing but white space between them) before a word, the last white space
    goes behind the last tag. At the start of the text a space comes there too, which SentencePiece
    would put before the tags. Where white space stands between the last tag and the word, or no
    word follows, the run stays as it is.

    Args:
        texts: The text before the first tag, between every two, and after the last.
        opens: Whether each tag opens.
    """
    made, led = list(texts), []
    for first, last in _runs(made):
        if not made[last + 1] or made[last + 1][0] in WHITE_SPACE:
            continue
        gap = next((place for place in range(last, first, -1) if made[place]), first)
        kept = made[gap].rstrip(WHITE_SPACE)
        moved = made[gap][len(kept) :]
        at_start = not first and not made[0].strip(WHITE_SPACE)
        made[gap] = kept
        made[last + 1] = (_DUMMY_PREFIX if at_start else "") + moved + made[last + 1]
        if moved or at_start:
            led += [tag for tag in range(gap, last + 1) if not opens[tag]]
    return Shifted(made, led)


def unshift_between(texts: Sequence[str], leads: Sequence[bool]) -> Unshifted:
    """Move white space back to before the tags that belong to the word after it.

    A model may have written either form, or both: white space that is already before the tags stays
    there, and any that is also after them is removed. White space before closing tags stays.

    Args:
        texts: As for `shift_between`.
        leads: Whether each tag belongs to what follows: it opens, or `Shifted.led` had it.
    """
    made, mended = list(texts), 0
    for first, last in _runs(made):
        lead = last + 1
        while lead > first and leads[lead - 1]:
            lead -= 1
        rest = made[last + 1].lstrip(WHITE_SPACE)
        if lead > last or not rest:
            continue
        behind = made[last + 1][: len(made[last + 1]) - len(rest)]
        at_start = not first and not made[0].strip(WHITE_SPACE)
        amiss = at_start and not behind
        if at_start:
            behind = behind.removeprefix(_DUMMY_PREFIX)
        between = "".join(made[lead + 1 : last + 1])
        before = made[lead][len(made[lead].rstrip(WHITE_SPACE)) :]
        made[lead + 1 : last + 1] = [""] * (last - lead)
        made[last + 1] = rest
        if not before:
            made[lead] += between + behind
        mended += amiss or bool(before or between)
    return Unshifted(made, mended)


def shift_whitespace(text: str, tag: str = JOB_TAG) -> str:
    """Move the white space before tags behind them, where a word follows (`shift_between`).

    Args:
        text: Tagged text.
        tag: Regular expression of a tag, with a group ``close`` that matches in closing tags alone
            and one ``empty`` in self-closing ones. It holds no white space.

    >>> shift_whitespace("The <a_3>green witch</a_3> .")
    'The<a_3> green witch</a_3> .'
    >>> shift_whitespace("<a_3>The</a_3> witch")
    '<a_3> The</a_3> witch'
    """
    texts, tags, opens = _take_apart(text, tag)
    return _put_together(shift_between(texts, opens).texts, tags)


def unshift_whitespace(text: str, tag: str = JOB_TAG) -> str:
    """Undo `shift_whitespace`, also in a text that is not or not everywhere shifted.

    Text comes back as it was if no white space stood behind an opening tag or between those of a
    run, and none before its closing and self-closing tags alone: these do not tell the space of
    the word before from that of the word behind, and keep it behind them.

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
    found = list(re.finditer(tag, text))
    borders = [0, *(place for match in found for place in match.span()), len(text)]
    texts = [text[start:end] for start, end in zip(borders[::2], borders[1::2], strict=True)]
    opens = [not (match["close"] or match["empty"]) for match in found]
    return texts, [match[0] for match in found], opens


def _put_together(texts: Sequence[str], tags: Sequence[str]) -> str:
    return "".join(part for pair in zip(texts, [*tags, ""], strict=True) for part in pair)
