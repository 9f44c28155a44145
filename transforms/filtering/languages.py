"""The language of each side, by CLD2, which the NRC's systems for WMT20 used as well."""

import functools
import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import regex

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.rejects import Reject
from pairweave.transforms.text.iso_languages import SHORT

REASONS = {"source": Reject.SOURCE_LANGUAGE, "target": Reject.TARGET_LANGUAGE}

_ALIASES = {
    code: name
    for name, codes in {
        "he": "iw",
        "jv": "jw",
        "id": "in",
        "yi": "ji",
        "ro": "mo",
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
"""Codes of one language, members of macrolanguages that CLD2 names as a whole (ISO 639-3), and
languages that it does not tell apart in short text."""

_NO_LANGUAGE = ("un", "xx", "xxx", "zzb", "zze", "zzh", "zzp")
"""What CLD2 says of text in no language that it knows: unknown, a script alone, or a joke."""

# CLD2 refuses texts for some of these; none of them stands for a language.
_REFUSED = regex.compile(r"[\p{Cc}\p{Cs}\p{Cn}\p{Co}]")


def load() -> Any:  # noqa: ANN401 - a module without types
    """Return the detector's module.

    Raises:
        ConfigError: It is not installed.
    """
    try:
        return importlib.import_module("pycld2")
    except ImportError as error:
        raise ConfigError(
            "--detector cld2: pycld2 is not installed; pip install 'pairweave[lang]', or leave "
            "--detector out"
        ) from error


def detect(texts: pa.ChunkedArray | pa.Array) -> list[str | None]:
    """Return the language of each text as CLD2 names it, None where it is not reliable.

    An answer counts if CLD2 calls it reliable and it is a language: short texts and lists of names
    often have none, and scripts of a single language are only named as scripts (``xx-Cans``).

    Raises:
        ConfigError: The detector is not installed.
    """
    cld2 = load()
    found: list[str | None] = []
    for text in texts.to_pylist():
        try:
            reliable, _, details = cld2.detect(text)
        except cld2.error:
            reliable, _, details = cld2.detect(_REFUSED.sub(" ", text))
        code = details[0][1]
        known = reliable and code.lower().partition("-")[0] not in _NO_LANGUAGE
        found.append(code if known else None)
    return found


@functools.cache
def named() -> frozenset[str]:
    """Return the languages that the detector can name, as `other` compares them.

    Raises:
        ConfigError: The detector is not installed.
    """
    cld2 = load()
    detected = set(cld2.DETECTED_LANGUAGES)
    codes = {_code(code) for name, code in cld2.LANGUAGES if name in detected}
    return frozenset(codes.difference(_NO_LANGUAGE))


def other(found: Sequence[str | None], expected: Sequence[str]) -> np.ndarray:
    """Tell which texts are in another language than they should be, bool ``[text]``.

    A text whose language is not found is not, nor one that should be in a language that the
    detector cannot name: for that it would have another one, if any.

    Raises:
        ConfigError: The detector is not installed.
    """
    tags = {tag: _code(tag) for tag in {*expected, *(has for has in found if has is not None)}}
    return np.array(
        [
            has is not None and tags[wanted] in named() and tags[has] != tags[wanted]
            for has, wanted in zip(found, expected, strict=True)
        ],
        np.bool_,
    )


def _code(tag: str) -> str:
    """Return one code for all tags of a language."""
    first = tag.lower().partition("-")[0]
    first = _ALIASES.get(first, first)
    short = SHORT.get(first, first)
    return _ALIASES.get(short, short)
