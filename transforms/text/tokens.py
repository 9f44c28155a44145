"""Turns PAIRS rows into TOKENS rows: text as ranges of code points of the original string."""

import dataclasses
import functools
import io
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import sentencepiece

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import list_column, texts_of
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.kernels.text import (
    clitics,
    korean,
    sentencepiece_ranges,
    utf8,
    word_breaks,
)
from pairweave.transforms.kernels.text.utf8 import FlatTexts
from pairweave.transforms.option_values import require_choice
from pairweave.transforms.plugins.entry_points import Plugin
from pairweave.transforms.text import codepoints, plugin_tokens
from pairweave.transforms.text.iso_languages import primary_tag
from pairweave.transforms.text.korean_endings import ending_table

KINDS = ("words", "whitespace", "sentencepiece", "pieces")

_OF_PLUGIN = "plugin "
"""Beginning of the kind of tokens of another package; the plugin follows (`Plugin.to_text`)."""

Texts: TypeAlias = pa.Array | pa.ChunkedArray
Language: TypeAlias = str | pa.Array | pa.ChunkedArray | None
Spans: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]


# Italian and the languages of Italy elide before any vowel; French and Occitan elide only the words
# of a short list.
_CLITICS = {
    "en": clitics.ENGLISH,
    **dict.fromkeys(("fr", "oc"), clitics.FRENCH),
    **dict.fromkeys(("it", "co", "fur", "lij", "lmo", "nap", "sc", "scn", "vec"), clitics.ITALIAN),
    "ca": clitics.CATALAN,
    "tr": clitics.TURKISH,
    **dict.fromkeys(("fi", "sv"), clitics.FINNISH),
    "ko": clitics.KOREAN,
}

# Languages whose words may have the endings that Korean attaches to nouns; unknown text may be
# Korean.
_MAYBE_KOREAN = dict.fromkeys(("ko", "und", ""), True)

# The result depends on the number of training threads, so this number is fixed; it does not depend
# on the number of cores that run them.
_TRAINING_THREADS = 4

MAX_PIECE_CHARS = 16
"""The longest piece that SentencePiece trains by default, in code points."""


@dataclasses.dataclass(frozen=True, slots=True)
class TokenConfig:
    """Settings of splitting text into tokens.

    Attributes:
        kind: ``words``: words, numbers, punctuation marks, placeholders and URLs
            (`transforms.kernels.text.word_breaks.find_tokens`). ``whitespace``: the text between
            runs of Unicode white space. ``sentencepiece``: the pieces of a model. ``pieces``: those
            of the aligning encoder, which is needed to cut them
            (`models.encoder.pieces.add_piece_tokens`). ``plugin`` and a plugin: those of another
            package's tokenizer (`of_plugin`).
        model: The bytes of a SentencePiece model, only for that kind.
    """

    kind: str = "words"
    model: bytes | None = None

    def __post_init__(self) -> None:
        if self.plugin is None:
            require_choice("tokens", self.kind, KINDS)
        if self.kind == "sentencepiece" and not self.model:
            raise ConfigError("tokens sentencepiece need a model; give sentencepiece:MODEL")
        if self.kind != "sentencepiece" and self.model is not None:
            raise ConfigError(f"tokens {self.kind} take no SentencePiece model")

    @classmethod
    def of_plugin(cls, plugin: Plugin) -> "TokenConfig":
        """Return the tokens of another package's tokenizer.

        The kind names the whole plugin. So a model that is fitted on such tokens records the code
        that cut them, and is loaded with the same code on any machine.
        """
        return cls(f"{_OF_PLUGIN}{plugin.to_text()}")

    @property
    def plugin(self) -> Plugin | None:
        """Return the tokenizer of another package; None if these are pairweave's own tokens."""
        if not self.kind.startswith(_OF_PLUGIN):
            return None
        return Plugin.from_text(self.kind.removeprefix(_OF_PLUGIN))

    @property
    def shown(self) -> str:
        """Return the name of the tokens in messages."""
        return self.kind if self.plugin is None else str(self.plugin)


def tokenize(texts: Texts, config: TokenConfig, language: Language = None) -> pa.ListArray:
    """Split texts into tokens.

    Args:
        texts: Strings without nulls ``[text]``.
        config: Which tokens.
        language: BCP 47 tag of all texts, or one for each ``[text]``. The splitting of words with
            an apostrophe depends on it; any language may be unknown.

    Returns:
        ``list<struct<start, end>>`` ``[text]``: half-open ranges of code points, ascending,
        disjoint and not empty. No token begins or ends with white space, and a text of only white
        space has none.

    Raises:
        ConfigError: The SentencePiece model cannot be loaded.
        WorkerError: A text is null, or the tokens are an encoder's pieces.
    """
    offsets, starts, ends = _flat_tokens(texts, config, language)
    return list_column(offsets, {"start": starts, "end": ends}, schemas.SPAN_LIST)


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

    For a SentencePiece model, all pieces are counted, and the longest token is the longest word: no
    piece is long.

    Returns:
        int64 ``[text]`` twice; the longest of no tokens is 0.
    """
    if config.kind == "sentencepiece":
        pieces_of_texts = np.diff(sentencepieces(texts, config)[0])
        return pieces_of_texts, token_counts(texts, TokenConfig(), language)[1]
    offsets, starts, ends = _flat_tokens(texts, config, language)
    counts = np.diff(offsets).astype(np.int64)
    longest = np.zeros(len(counts), np.int64)
    filled = np.flatnonzero(counts)
    if len(filled):
        longest[filled] = np.maximum.reduceat(ends - starts, offsets[:-1][filled])
    return counts, longest


def train_sentencepiece(
    texts: Iterable[str],
    vocabulary: int,
    model_type: str = "unigram",
    **settings: Any,  # noqa: ANN401 - as SentencePiece's trainer takes them
) -> bytes:
    """Train a SentencePiece model and return its bytes.

    The same texts in the same order give the same bytes, regardless of the number of CPU cores.

    Args:
        texts: Sentences of all languages that the model is for.
        vocabulary: Maximum number of pieces; a small corpus gives fewer.
        model_type: ``unigram`` (Kudo 2018) or ``bpe`` (Sennrich et al. 2016).
        settings: Further options of SentencePiece's trainer.

    Raises:
        ConfigError: The texts are too few or have more characters than fit the vocabulary.
    """
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=model,
            model_type=model_type,
            vocab_size=vocabulary,
            hard_vocab_limit=False,
            character_coverage=0.9995,
            num_threads=_TRAINING_THREADS,
            max_sentence_length=1 << 16,
            minloglevel=2,
            **settings,
        )
    except (RuntimeError, OSError) as error:
        raise ConfigError(
            f"no SentencePiece model of {vocabulary} pieces can be trained on this text: {error}"
        ) from error
    return model.getvalue()


def _flat_tokens(
    texts: Texts, config: TokenConfig, language: Language
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    plugin = config.plugin
    if plugin is not None:
        return plugin_tokens.cut(plugin, texts, _tags(len(texts), language))
    if config.kind == "words":
        return cut_words(texts, language)[1]
    if config.kind == "whitespace":
        return utf8.split_at_white_space(*texts_of(texts), codepoints.properties())
    if config.kind == "pieces":
        raise WorkerError("tokens pieces are cut by the encoder that aligns them")
    return shown_pieces(*sentencepieces(texts, config))


def sentencepieces(texts: Texts, config: TokenConfig) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Split texts into all the pieces that a SentencePiece model counts.

    Args:
        texts: Strings without nulls ``[text]``.
        config: Names the model.

    Returns:
        Start of each text's pieces, int64 ``[text + 1]``, and the pieces' starts and ends,
        int32 ``[piece]``: ascending, disjoint, empty where a piece shows nothing of the text
        (`transforms.kernels.text.sentencepiece_ranges.find_pieces`).

    Raises:
        ConfigError: The model cannot be loaded.
    """
    data, offsets = texts_of(texts)
    processor = _processor(config.model or b"")
    messages = processor.encode(texts.to_pylist(), out_type="serialized_proto", num_threads=1)
    message_offsets = np.zeros(len(messages) + 1, np.int64)
    np.cumsum([len(message) for message in messages], out=message_offsets[1:])
    joined = np.frombuffer(b"".join(messages), np.uint8)
    behind = int(marks_words_behind(config))
    return sentencepiece_ranges.find_pieces(
        joined, message_offsets, data, offsets, codepoints.properties(), behind
    )


def shown_pieces(
    offsets: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pieces that show a part of the text, which are its tokens.

    Args:
        offsets: Start of each text's pieces ``[text + 1]``.
        starts: First code point of each piece ``[piece]``.
        ends: End of each piece, exclusive ``[piece]``.

    Returns:
        Token offsets int64 ``[text + 1]``, and the tokens' starts and ends ``[token]``.
    """
    shown = starts < ends
    before = np.zeros(len(shown) + 1, np.int64)
    np.cumsum(shown, out=before[1:])
    return before[offsets], starts[shown], ends[shown]


def marks_words_behind(config: TokenConfig) -> bool:
    """Tell whether a SentencePiece model marks the ends of words (treat_whitespace_as_suffix)."""
    return _processor(config.model or b"").encode("a", out_type=str)[-1].endswith("\u2581")


@functools.lru_cache(maxsize=4)
def _processor(model: bytes) -> sentencepiece.SentencePieceProcessor:
    try:
        return sentencepiece.SentencePieceProcessor(model_proto=model)
    except (RuntimeError, OSError) as error:
        raise ConfigError(f"this is not a SentencePiece model: {error}") from error


def cut_words(
    texts: Texts, language: Language, *, whole_words: bool = False
) -> tuple[FlatTexts, Spans]:
    """Split texts into words, numbers, punctuation marks, placeholders and URLs.

    Words of Korean text are split into a noun and its endings. Text in an unknown language counts
    as Korean if it has Hangul.

    Args:
        texts: Strings without nulls ``[text]``.
        language: As for `tokenize`.
        whole_words: Whether to find the spans that no tag may split
            (`transforms.kernels.text.word_breaks.find_tokens`).

    Returns:
        The texts; and offsets, starts and ends of their words.
    """
    rules = each_language(len(texts), language, _CLITICS, np.uint8)
    maybe_korean = each_language(len(texts), language, _MAYBE_KOREAN, np.bool_)
    flat = texts_of(texts)
    properties = codepoints.properties(whole_words=whole_words)
    spans = word_breaks.find_tokens(*flat, rules, int(whole_words), properties)
    if maybe_korean.any():
        data = flat.data[flat.offsets[0] : flat.offsets[-1]]
        # Bytes below the first lead wrap around to large numbers.
        if (data - np.uint8(korean.FIRST_LEAD) <= korean.LAST_LEAD - korean.FIRST_LEAD).any():
            endings, properties = ending_table(), codepoints.properties()
            spans = korean.split_endings(*flat, maybe_korean, *spans, endings, properties)
    return flat, spans


def each_language(
    texts: int, language: Language, numbers: Mapping[str, int], kind: type[np.generic]
) -> np.ndarray:
    """Return a number for the language of each text ``[text]``.

    Args:
        texts: Number of texts.
        language: As for `tokenize`.
        numbers: The numbers by the first parts of language tags, which are empty for no tag; other
            languages have 0.
        kind: The type of the numbers.
    """
    if language is None or isinstance(language, str):
        return np.full(texts, numbers.get(primary_tag(language), 0), kind)
    if isinstance(language, pa.ChunkedArray):
        # Each chunk has its own dictionary.
        chunks = [each_language(len(c), c, numbers, kind) for c in language.chunks]
        return np.concatenate([np.zeros(0, kind), *chunks])
    tags = language if pa.types.is_dictionary(language.type) else language.dictionary_encode()
    names = tags.dictionary.to_pylist()
    return np.array([numbers.get(primary_tag(name), 0) for name in names], kind)[
        tags.indices.to_numpy()
    ]


def _tags(texts: int, language: Language) -> list[str]:
    """Return the language tag of each text."""
    if language is None or isinstance(language, str):
        return [language or "und"] * texts
    return [tag or "und" for tag in language.to_pylist()]
