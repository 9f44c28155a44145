"""PAIRS rows to TOKENS rows: text as ranges of code points of the original string."""

import dataclasses
import functools
import io
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import sentencepiece

from transforms import codepoints, schemas
from transforms.choices import require_choice
from transforms.errors import ConfigError, WorkerError
from transforms.flat_lists import chunk_of, fields_of, list_column
from transforms.flat_texts import texts_of
from transforms.kernels import clitics, cuts, pieces, utf8, wordbreak

KINDS = ("words", "whitespace", "sentencepiece", "pieces")

Texts: TypeAlias = pa.Array | pa.ChunkedArray
Language: TypeAlias = str | pa.Array | pa.ChunkedArray | None

# Italian and the languages of Italy elide before any vowel; French and Occitan from a short list.
_CLITICS = {
    "en": clitics.ENGLISH,
    **dict.fromkeys(("fr", "oc"), clitics.FRENCH),
    **dict.fromkeys(("it", "co", "fur", "lij", "lmo", "nap", "sc", "scn", "vec"), clitics.ITALIAN),
    "ca": clitics.CATALAN,
}

# The result depends on how many threads train, so their number is fixed; it does not depend on how
# many cores run them.
_TRAINING_THREADS = 4


@dataclasses.dataclass(frozen=True, slots=True)
class TokenConfig:
    """How text is cut into tokens.

    Attributes:
        kind: ``words``: words, numbers, punctuation marks, placeholders and URLs
            (`transforms.kernels.wordbreak.find_tokens`). ``whitespace``: what stands between runs
            of Unicode white space. ``sentencepiece``: the pieces of a model. ``pieces``: those of
            the encoder that aligns, which alone can cut them (`models.pieces.add_piece_tokens`).
        model: The bytes of a SentencePiece model, for that kind alone.
    """

    kind: str = "words"
    model: bytes | None = None

    def __post_init__(self) -> None:
        require_choice("tokens", self.kind, KINDS)
        if self.kind == "sentencepiece" and not self.model:
            raise ConfigError("tokens sentencepiece need a model; give sentencepiece:MODEL")
        if self.kind != "sentencepiece" and self.model is not None:
            raise ConfigError(f"tokens {self.kind} take no SentencePiece model")


def tokenize(texts: Texts, config: TokenConfig, language: Language = None) -> pa.ListArray:
    """Cut texts into tokens.

    Args:
        texts: Strings without nulls ``[text]``.
        config: Which tokens.
        language: BCP 47 tag of all texts, or one for each ``[text]``. It decides how words with an
            apostrophe part; any language may be unknown.

    Returns:
        ``list<struct<start, end>>`` ``[text]``: half-open ranges of code points, ascending,
        disjoint and not empty. No token begins or ends with white space, and a text of nothing
        else has none.

    Raises:
        ConfigError: The SentencePiece model cannot be loaded.
        WorkerError: A text is null, or the tokens are an encoder's pieces.
    """
    return _as_column(*_flat_tokens(texts, config, language))


def add_tokens(table: pa.Table, config: TokenConfig) -> pa.Table:
    """Turn PAIRS rows into TOKENS rows, in the same order."""
    schemas.require(table, schemas.PAIRS)
    for side in ("source", "target"):
        tokens = tokenize(table.column(side), config, table.column(f"{side}_lang"))
        table = table.append_column(schemas.TOKENS.field(f"{side}_tokens"), tokens)
    return table


def token_counts(
    texts: Texts, config: TokenConfig, language: Language = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return each text's number of tokens and the length of its longest in code points.

    Returns:
        int64 ``[text]`` twice; the longest of no tokens is 0.
    """
    offsets, starts, ends = _flat_tokens(texts, config, language)
    counts = np.diff(offsets).astype(np.int64)
    longest = np.zeros(len(counts), np.int64)
    filled = np.flatnonzero(counts)
    if len(filled):
        longest[filled] = np.maximum.reduceat(ends - starts, offsets[:-1][filled])
    return counts, longest


def word_counts(texts: Texts, kind: str = "words", language: Language = None) -> np.ndarray:
    """Count the words of texts: what holds a letter or a digit, whatever the aligner's tokens are.

    Args:
        texts: Strings without nulls ``[text]``.
        kind: ``words``: an elided article is a word, a clitic such as ``'s`` is not.
            ``whitespace``: what stands between white space.
        language: As for `tokenize`.

    Returns:
        int64 ``[text]``.
    """
    require_choice("words", kind, ("words", "whitespace"))
    data, offsets = texts_of(texts)
    properties = codepoints.properties()
    if kind == "words":
        spans = wordbreak.find_tokens(data, offsets, _clitics(texts, language), 1, properties)
    else:
        spans = utf8.split_at_white_space(data, offsets, properties)
    return cuts.count_wordlike(data, offsets, *spans, properties)


def find_cuts(texts: Texts, tokens: Texts, language: Language = None) -> pa.ListArray:
    """Tell between which tokens a tag may stand.

    A place is free if no border there falls inside a word, a grapheme cluster, a number, a URL, an
    e-mail address, a placeholder, a tag or a run of one punctuation mark. The parts of a compound
    with hyphens are words, and so is an elided article or pronoun (l', qu', dell'); an English
    clitic is not. Place ``i`` is both the start of token ``i`` and the end of token ``i - 1``, and
    is free only if both borders are: between two tokens that touch they are one.

    Args:
        texts: Strings without nulls ``[text]``.
        tokens: Their tokens, as `tokenize` returns them, of any kind.
        language: As for `tokenize`.

    Returns:
        ``list<bool>`` ``[text]``, one more entry than the text has tokens.

    Raises:
        WorkerError: There are not as many lists of tokens as texts.
    """
    data, offsets = texts_of(texts)
    token_offsets, fields = fields_of(tokens)
    if len(token_offsets) != len(offsets):
        raise WorkerError(f"{len(offsets) - 1} texts, but tokens of {len(token_offsets) - 1}")
    spans = wordbreak.find_tokens(
        data, offsets, _clitics(texts, language), 1, codepoints.properties()
    )
    free = cuts.find_cuts(*spans, token_offsets, fields["start"], fields["end"])
    places = token_offsets - token_offsets[0] + np.arange(len(token_offsets))
    return pa.ListArray.from_arrays(
        pa.array(places.astype(np.int32)), pa.array(free), type=schemas.list_of(pa.bool_())
    )


def pair_cuts(table: pa.Table) -> tuple[pa.ListArray, pa.ListArray]:
    """Return the source cuts and the target cuts of rows with tokens (`find_cuts`)."""
    source, target = (
        find_cuts(table.column(side), table.column(f"{side}_tokens"), table.column(f"{side}_lang"))
        for side in ("source", "target")
    )
    return source, target


def train_sentencepiece(texts: Iterable[str], vocabulary: int) -> bytes:
    """Train a unigram model (Kudo 2018) and return its bytes.

    The same texts in the same order give the same bytes, whatever the machine's cores.

    Args:
        texts: Sentences of all languages that the model is for.
        vocabulary: Number of pieces at most; a small corpus gives fewer.

    Raises:
        ConfigError: The texts are too few or have more characters than the vocabulary has room.
    """
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=model,
            model_type="unigram",
            vocab_size=vocabulary,
            hard_vocab_limit=False,
            character_coverage=0.9995,
            num_threads=_TRAINING_THREADS,
            max_sentence_length=1 << 16,
            minloglevel=2,
        )
    except (RuntimeError, OSError) as error:
        raise ConfigError(
            f"no SentencePiece model of {vocabulary} pieces can be trained on this text: {error}"
        ) from error
    return model.getvalue()


def _flat_tokens(
    texts: Texts, config: TokenConfig, language: Language
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    data, offsets = texts_of(texts)
    properties = codepoints.properties()
    if config.kind == "words":
        return wordbreak.find_tokens(data, offsets, _clitics(texts, language), 0, properties)
    if config.kind == "whitespace":
        return utf8.split_at_white_space(data, offsets, properties)
    if config.kind == "pieces":
        raise WorkerError("tokens pieces are cut by the encoder that aligns them")
    processor = _processor(config.model or b"")
    messages = processor.encode(texts.to_pylist(), out_type="serialized_proto", num_threads=1)
    message_offsets = np.zeros(len(messages) + 1, np.int64)
    np.cumsum([len(message) for message in messages], out=message_offsets[1:])
    joined = np.frombuffer(b"".join(messages), np.uint8)
    return pieces.find_pieces(joined, message_offsets, data, offsets, properties)


@functools.lru_cache(maxsize=4)
def _processor(model: bytes) -> sentencepiece.SentencePieceProcessor:
    try:
        return sentencepiece.SentencePieceProcessor(model_proto=model)
    except (RuntimeError, OSError) as error:
        raise ConfigError(f"this is no SentencePiece model: {error}") from error


def _as_column(offsets: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> pa.ListArray:
    return list_column(offsets, {"start": starts, "end": ends}, schemas.list_of(schemas.SPAN))


def _clitics(texts: Texts, language: Language) -> np.ndarray:
    """Return how words part in each text, uint8 ``[text]``."""
    if language is None or isinstance(language, str):
        return np.full(len(texts), _clitics_of(language), np.uint8)
    tags = chunk_of(language)
    if not pa.types.is_dictionary(tags.type):
        tags = tags.dictionary_encode()
    kinds = np.array([_clitics_of(tag) for tag in tags.dictionary.to_pylist()], np.uint8)
    return kinds[tags.indices.to_numpy()]


def _clitics_of(language: str | None) -> int:
    primary = (language or "").split("-")[0].lower()
    return _CLITICS.get(primary, clitics.NO_CLITICS)
