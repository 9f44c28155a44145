"""The values of ``--tokens``: pairweave's own tokens, or tokenizers of other packages."""

import re
from typing import Any

import pydantic

from pairweave.transforms.plugins.entry_points import known_name
from pairweave.transforms.plugins.plugin_kind import names_one
from pairweave.transforms.plugins.tokenizer import TOKENIZER


def _named(pattern: str, own: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the annotations of an option that names tokens.

    Args:
        pattern: Matches the names of pairweave's own tokens.
        own: These names, for messages.
    """

    def check(name: str | None) -> str | None:
        if name is None or re.fullmatch(pattern, name):
            return name
        return known_name(TOKENIZER, name, own)

    return pydantic.AfterValidator(check), names_one(TOKENIZER)


_GIVEN, _TRAINED = "sentencepiece:MODEL", "sentencepiece"

GIVEN_TOKENS = _named("words|whitespace|sentencepiece:.+", ("words", "whitespace", _GIVEN))
"""Annotations of the tokens of an aligner that trains no SentencePiece model."""

TRAINED_TOKENS = _named(
    "words|whitespace|sentencepiece(:.+)?", ("words", "whitespace", _TRAINED, _GIVEN)
)
"""Annotations of the tokens of an aligner for which a SentencePiece model may be trained."""

ANY_TOKENS = _named(
    "words|whitespace|pieces|sentencepiece(:.+)?",
    ("words", "whitespace", "pieces", _TRAINED, _GIVEN),
)
"""Annotations of the tokens of any aligner, which may be the pieces of an encoder."""
