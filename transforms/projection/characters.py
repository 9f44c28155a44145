"""Properties of code points that say where a tag may belong."""

import functools

import numpy as np
import regex

from pairweave.transforms.kernels.links import projection_evidence as evidence
from pairweave.transforms.kernels.text import utf8
from pairweave.transforms.text import codepoints, sentence_marks

_STOPS = "".join(
    (
        sentence_marks.FULL_STOPS,
        sentence_marks.QUESTIONS,
        sentence_marks.EXCLAMATIONS,
        sentence_marks.COLONS,
        sentence_marks.SEMICOLONS,
    )
)

# Later patterns win. Corner and angle brackets of Chinese and Japanese are quotation marks there,
# and Unicode calls some of them brackets.
_KINDS = (
    (evidence.SIGN, r"[\p{P}\p{S}]"),
    (evidence.HYPHEN, r"\p{Pd}"),
    (evidence.DASH, r"[–—>/→▸]"),  # noqa: RUF001 - a dash is meant
    (evidence.OPENER, r"\p{Ps}"),
    (evidence.CLOSER, r"\p{Pe}"),
    (evidence.QUOTE, r"[\p{Pi}\p{Pf}\"'`„‚「」『』《》〈〉″′＂]"),  # noqa: RUF001 - as above
    (evidence.COMMA, f"[,{sentence_marks.COMMAS}]"),
    (evidence.STOP, f"[.!?:;{_STOPS}]"),
    (evidence.ELLIPSIS, r"[…⋯]"),
)

_IN_WORDS = r"(?V1)[[\p{M}\u200C]--[\p{Me}\p{Variation_Selector}]]+"
"""Vowels, tones and other signs written on letters, and the joiner that Persian writes in words."""


@functools.cache
def characters() -> evidence.Characters:
    """Return class, case, kind of mark and folded form of every code point."""
    properties = codepoints.properties()
    shapes = np.full(len(properties), evidence.OTHER, np.uint8)
    shapes[properties & utf8.WORD != 0] = evidence.WORD
    shapes[properties & utf8.WHITE != 0] = evidence.WHITE
    codes = np.arange(len(properties), dtype=np.uint32)
    everything = codes.tobytes().decode("utf-32-le", "surrogatepass")
    for match in regex.finditer(_IN_WORDS, everything):
        shapes[slice(*match.span())] = evidence.WORD
    shapes[(shapes == evidence.OTHER) & (properties & utf8.BLANK != 0)] = evidence.INVISIBLE
    for match in regex.finditer(r"\p{Lu}+", everything):
        shapes[slice(*match.span())] |= evidence.UPPER
    kinds = np.zeros(len(properties), np.uint8)
    for kind, pattern in _KINDS:
        for match in regex.finditer(f"{pattern}+", everything):
            kinds[slice(*match.span())] = kind
    marks = shapes & evidence.CLASS == evidence.OTHER
    shapes[marks] |= kinds[marks] << evidence.KIND_SHIFT
    shapes.flags.writeable = False
    return evidence.Characters(shapes, codepoints.folds())
