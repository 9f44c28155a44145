"""Checks that each side is in its declared language, using a detector."""

import functools
from collections.abc import Sequence

import numpy as np

from pairweave.transforms.filtering import detectors
from pairweave.transforms.rejects import Reject
from pairweave.transforms.text.iso_languages import primary_tag

REASONS = {"source": Reject.SOURCE_LANGUAGE, "target": Reject.TARGET_LANGUAGE}

_ALIASES = {
    code: name
    for name, codes in {
        "no": "nb nn",
        "tl": "fil",
        "hr": "bs sr sh cnr hbs",
        "zh": "yue wuu lzh hak nan gan hsn cjy cdo czh czo cpx mnp",
        "ar": "arz apc ajp apd ary aeb acm acq acw afb aec arq ars ayl ayn shu",
        "ak": "tw",
        "az": "azb",
        "bh": "bho mag mai",
        "fa": "prs",
        "hmn": "mww hnj blu",
        "ms": "zlm mfa",
        "qu": "quz qug qvi qvz",
        "uz": "uzs",
    }.items()
    for code in codes.split()
}
"""Languages that are treated as equal: members of macrolanguages that detectors report as a whole
(ISO 639-3), and languages that they do not tell apart in short text."""


@functools.lru_cache(maxsize=2)
def named(detector: str) -> frozenset[str]:
    """Return the languages that a detector can identify, in the codes that `other` compares.

    Raises:
        ConfigError: The detector is not installed.
    """
    return frozenset(map(_code, detectors.load(detector).named))


def other(detected: Sequence[str | None], expected: Sequence[str], detector: str) -> np.ndarray:
    """Tell which texts are in a language other than the declared one, bool ``[text]``.

    A text without a detected language does not count. Neither does a text whose declared language
    the detector cannot identify, since any answer for it would be wrong.

    Args:
        detected: Detected language of each text (`detectors.detect`).
        expected: Language tag that each text is declared to have.
        detector: Name of the detector.

    Raises:
        ConfigError: The detector is not installed.
    """
    tags = {tag: _code(tag) for tag in {*expected, *(has for has in detected if has is not None)}}
    known = named(detector)
    return np.array(
        [
            has is not None and tags[wanted] in known and tags[has] != tags[wanted]
            for has, wanted in zip(detected, expected, strict=True)
        ],
        np.bool_,
    )


def _code(tag: str) -> str:
    """Return the same code for all tags of one language."""
    primary = primary_tag(tag)
    return _ALIASES.get(primary, primary)
