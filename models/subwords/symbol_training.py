"""SentencePiece models that cut words alike with tags and without (Ryu et al. 2022, section 3.4).

The paper moves the space before an opening tag so that a word keeps its mark
(`transforms.symbols.whitespace`). Three more things make pieces differ, and all are the model's:

- The first word's mark is a space that SentencePiece puts before the text
  (``add_dummy_prefix``, its default); the shift puts one behind the tags.
- A piece that spans a word and a mark, or several marks (``."``), is cut by a tag inside it.
  SentencePiece lets no piece span letters of two scripts, letters and punctuation
  (``split_by_unicode_script``), or white space (``split_by_whitespace``), all by default; digits
  and punctuation it joins. So pieces that join a mark with anything are not used here.
- Of two ways to cut a word that are equally likely, a unigram model takes the one that rounding
  favours, and that depends on what stands before: ``00 0`` or ``0 00``. With ``split_digits``
  numbers have one way; a word of one letter three times might still have two.

Languages without spaces keep pieces that span several words, which a tag between these cuts.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal

from pairweave.models.subwords.symbol_pieces import (
    NORMAL,
    SPACE,
    UNUSED,
    extend_sentencepiece,
    model_class,
)
from pairweave.transforms.text.piece_settings import PIECE_SETTINGS
from pairweave.transforms.text.tokens import train_sentencepiece

ModelType = Literal["unigram", "bpe"]


def train_with_symbols(
    texts: Iterable[str], symbols: Sequence[str], vocabulary: int, model_type: ModelType
) -> bytes:
    """Train a SentencePiece model whose pieces tags do not change.

    Args:
        texts: Sentences of all languages that the model is for.
        symbols: The tags, each to be one piece; they come behind the trained pieces.
        vocabulary: Number of trained pieces; a unigram model of little text has fewer.
        model_type: How it is trained and cuts.

    Returns:
        The serialized model.

    Raises:
        ConfigError: The texts are too few or have more characters than the vocabulary has room, or
            a symbol would be split somewhere.
    """
    model = train_sentencepiece(texts, vocabulary, model_type, **PIECE_SETTINGS)
    return extend_sentencepiece(part_marks(model), symbols)


def part_marks(model: bytes) -> bytes:
    """Return a model that no longer joins a punctuation mark or symbol with another character.

    Such pieces keep their numbers and become unused, so the model cuts what they held otherwise.
    """
    message = model_class().FromString(model)
    for piece in message.pieces:
        used = not piece.HasField("type") or piece.type == NORMAL
        if used and joins_mark(piece.piece):
            piece.type = UNUSED
    return bytes(message.SerializeToString())


def joins_mark(piece: str) -> bool:
    """Tell whether a piece contains a punctuation mark or symbol and another character.

    >>> [joins_mark(piece) for piece in (".", "\u2581(", '."', "5.", "\u2581word", "e\u0301")]
    [False, False, True, True, False, False]
    """
    shown = piece.removeprefix(SPACE)
    return len(shown) > 1 and any(unicodedata.category(letter)[0] not in "LMN" for letter in shown)
