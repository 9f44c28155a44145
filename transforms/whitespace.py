"""White space behind opening tags instead of before them, and back (Ryu et al. 2022, section 3.4).

A SentencePiece model marks the start of a word by the space before it. ``the <a_3>green`` parts the
word from its space; ``the<a_3> green`` does not.
"""

import functools
import re

WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode's White_Space property, whole."""

OPENING_TAG = r"<a_[0-9]>"


def shift_whitespace(text: str, opening: str = OPENING_TAG) -> str:
    """Move the white space before opening tags behind them; closing tags stay.

    White space between opening tags moves along: in a run of tags with white space before, between
    and behind, the white spaces trade places, the first with the last. So doing it twice changes
    nothing, whatever the text.

    Args:
        text: Tagged text.
        opening: Regular expression of an opening tag, without groups. What it matches must begin
            with a character that it holds but once, and hold no white space.

    >>> shift_whitespace("the <a_3>green witch</a_3> .")
    'the<a_3> green witch</a_3> .'
    """
    parts = []
    done = 0
    for match in _runs(opening).finditer(text):
        before = text[done : match.start()]
        kept = before.rstrip(WHITE_SPACE)
        behind = _end_of_white_space(text, match.end())
        run = before[len(kept) :] + text[match.start() : behind]
        pieces = re.split(f"({opening})", run)
        pieces[::2] = pieces[::-2]
        parts += [kept, *pieces]
        done = behind
    parts.append(text[done:])
    return "".join(parts)


def unshift_whitespace(text: str, opening: str = OPENING_TAG) -> str:
    """Undo `shift_whitespace`.

    >>> unshift_whitespace("the<a_3> green witch</a_3> .")
    'the <a_3>green witch</a_3> .'
    """
    return shift_whitespace(text, opening)


@functools.cache
def _runs(opening: str) -> re.Pattern[str]:
    return re.compile(f"{opening}(?:[{WHITE_SPACE}]*{opening})*")


def _end_of_white_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in WHITE_SPACE:
        at += 1
    return at
