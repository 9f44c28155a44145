"""The language of each side, by CLD2, which the NRC's systems for WMT20 used as well."""

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import regex

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.rejects import Reject

REASONS = {"source": Reject.SOURCE_LANGUAGE, "target": Reject.TARGET_LANGUAGE}

_ALIASES = {
    code: name
    for name, codes in {
        "he": "iw",
        "jv": "jw",
        "id": "in",
        "ro": "mo",
        "no": "nb nn",
        "tl": "fil",
        "hr": "bs sr sh",
        "zh": "cmn",
    }.items()
    for code in codes.split()
}
"""Codes of one language, and of languages that CLD2 does not tell apart in short text."""

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

    An answer counts if CLD2 calls it reliable: short texts and lists of names often have none, and
    say nothing.

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
        found.append(details[0][1] if reliable else None)
    return found


def other(found: Sequence[str | None], expected: Sequence[str]) -> np.ndarray:
    """Tell which texts are in another language than they should be, bool ``[text]``.

    A text whose language is not found, or that should be in none (``und``), is not.

    >>> other(["en", "de", None, "pt"], ["en-GB", "en", "en", "und"])
    array([False,  True, False, False])
    """
    return np.array(
        [
            has is not None and wanted != "und" and _code(has) != _code(wanted)
            for has, wanted in zip(found, expected, strict=True)
        ],
        np.bool_,
    )


def _code(tag: str) -> str:
    first = tag.lower().partition("-")[0]
    return _ALIASES.get(first, first)
