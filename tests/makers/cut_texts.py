"""Texts cut into tokens, shown as strings; tables of pairs in given languages."""

import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.text.tokens import TokenConfig, tokenize, train_sentencepiece

WORDS = TokenConfig()
WHITESPACE = TokenConfig("whitespace")
_PAIR = {"id": "0" * 32, "corpus": "c", "file": "f", "line": 1, "translation": None}


def small_pieces():
    """Return the token settings of a SentencePiece model with 60 pieces, trained here."""
    verbs, nouns = ["sees", "likes", "paints", "finds"], ["house", "horse", "mouse", "tree", "sea"]
    lines = [f"The {a} {v} the {b} {i}." for i, a in enumerate(nouns) for v in verbs for b in nouns]
    return TokenConfig("sentencepiece", train_sentencepiece(lines * 3, 60))


def cut(texts, config, language=None):
    """Return the tokens of each text, as strings."""
    spans_of_texts = tokenize(pa.array(texts, pa.string()), config, language).to_pylist()
    return [
        [text[span["start"] : span["end"]] for span in spans]
        for text, spans in zip(texts, spans_of_texts, strict=True)
    ]


def pairs(*rows):
    """Return PAIRS rows of source language, source, target language and target."""
    rows = [
        _PAIR | {"source": s, "target": t, "source_lang": sl, "target_lang": tl}
        for sl, s, tl, t in rows
    ]
    return pa.Table.from_pylist(rows, schema=schemas.PAIRS)
