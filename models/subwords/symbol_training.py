"""SentencePiece models that cut words the same with and without tags (Ryu et al. 2022, 3.4).

The paper moves the space before an opening tag so that a word keeps its word mark
(`transforms.symbols.whitespace`). Three other properties of a model make pieces differ:

- The mark of the first word comes from a space that SentencePiece puts before the text
  (``add_dummy_prefix``, its default); moving spaces puts one after the tags instead.
- A tag cuts a piece that spans a word and a punctuation mark, or several marks (``."``). By
  default, SentencePiece lets no piece span letters of two scripts, letters and punctuation
  (``split_by_unicode_script``), or white space (``split_by_whitespace``), but it joins digits with
  punctuation. Pieces that join a mark with anything are therefore not used here.
- Of two equally likely ways to cut a word, a unigram model takes the one that rounding favours,
  which depends on the preceding text: ``00 0`` or ``0 00``. With ``split_digits`` there is only one
  way to cut a number; a word of the same letter three times might still have two.

In languages without spaces, pieces may span several words, and a tag between the words cuts them.
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
    texts: Iterable[str],
    symbols: Sequence[str],
    vocabulary: int,
    model_type: ModelType,
    characters: str = "",
) -> bytes:
    """Train a SentencePiece model with the same pieces whether a text has tags or not.

    Args:
        texts: Sentences of all languages that the model is for.
        symbols: The tags, each to be one piece; they follow the trained pieces.
        vocabulary: Number of trained pieces; a unigram model of little text has fewer.
        model_type: How the model is trained and cuts text.
        characters: Characters that get a piece even if they do not occur in the texts.

    Returns:
        The serialized model.

    Raises:
        ConfigError: The texts are too few or have more characters than fit the vocabulary, or a
            symbol would be split in some context.
    """
    # An empty value of this setting would still change the model's bytes.
    more = {"required_chars": characters} if characters else {}
    model = train_sentencepiece(texts, vocabulary, model_type, **PIECE_SETTINGS, **more)
    return extend_sentencepiece(part_marks(model), symbols)


def part_marks(model: bytes) -> bytes:
    """Return a model that no longer joins a punctuation mark or symbol with another character.

    Such pieces keep their numbers and become unused, so the model cuts their text differently.
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
