"""Conversion between text and a translation model's pieces; the languages of its vocabulary.

The files are those of the published models: ``source.spm`` and ``target.spm``
(OPUS-MT), ``sentencepiece.bpe.model`` (M2M-100, NLLB), ``tokenizer.json`` (NLLB), or one
``sentencepiece.model`` for both sides (OpenNMT). No torch.
"""

import dataclasses
import json
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import sentencepiece

from pairweave.models.translators.language_codes import find_code, is_known, same_language
from pairweave.transforms.errors import ConfigError

END = "</s>"
MARIAN = ("source.spm", "target.spm")
FAIRSEQ = "sentencepiece.bpe.model"
TOKENIZER = "tokenizer.json"
OPENNMT = "sentencepiece.model"
ABOUT = "tokenizer_config.json"

FILES = (*MARIAN, FAIRSEQ, TOKENIZER, OPENNMT, ABOUT)
"""The tokenizer files that a model's directory may contain."""

_FORMS = (
    re.compile(r">>(\S+)<<"),
    re.compile(r"__([a-z]{2,3})__"),
    re.compile(r"([a-z]{3}_[A-Z][a-z]{3})"),
)
"""Language codes in vocabularies: OPUS-MT, M2M-100, NLLB."""


_SPECIAL = re.compile(r"<s>|<pad>|<unk>|<mask>|madeupword\d+")


class PieceModel(Protocol):
    """Cuts text into pieces and joins pieces to text."""

    def cut(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the pieces of each text, without special ones."""
        ...

    def cut_target(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the pieces of each text of the target language."""
        ...

    def join(self, pieces: Sequence[str]) -> str:
        """Return the text of a translation's pieces."""
        ...


@dataclasses.dataclass(frozen=True)
class Languages:
    """The languages that a vocabulary names.

    Attributes:
        tokens: The token of each language code; empty for a model of one pair of languages.
        on_source: Whether each text is preceded by its own language (M2M-100, NLLB); otherwise the
            source is preceded by the target language (OPUS-MT).
        pair: The languages that a model of one pair declares, if any.
    """

    tokens: Mapping[str, str]
    on_source: bool
    pair: tuple[str | None, str | None]

    def prefixes(self, source_lang: str, target_lang: str) -> tuple[list[str], list[str]]:
        """Return the tokens before a source and before a translation.

        Raises:
            ConfigError: The model does not know a language.
        """
        if not self.tokens:
            tags = {"source_lang": source_lang, "target_lang": target_lang}
            for (option, tag), code in zip(tags.items(), self.pair, strict=True):
                if tag != "und" and code and is_known(code) and not same_language(tag, code):
                    raise ConfigError(f"--{option} {tag}: the translator's is {code}")
            return [], []
        target = self._token(target_lang, "target_lang")
        if not self.on_source:
            return [target], []
        return [self._token(source_lang, "source_lang")], [target]

    def special_tokens(self, vocabulary: Collection[str]) -> list[str]:
        """Return the tokens of a vocabulary that must not occur in translations, sorted."""
        names = set(self.tokens.values())
        return sorted(token for token in vocabulary if token in names or _SPECIAL.fullmatch(token))

    def _token(self, tag: str, option: str) -> str:
        if tag == "und":
            raise ConfigError(
                f"--{option} is needed: the translator knows {len(self.tokens)} languages"
            )
        return self.tokens[find_code(tag, self.tokens, option)]


class SentencePieces:
    """Pieces by SentencePiece models."""

    def __init__(self, source: Path, target: Path) -> None:
        """Load the models.

        Raises:
            ConfigError: A file is not a SentencePiece model.
        """
        self._source = _processor(source)
        self._target = self._source if target == source else _processor(target)

    def cut(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the pieces of each text, without special ones."""
        return self._source.encode(list(texts), out_type=str, num_threads=1)

    def cut_target(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the pieces of each text of the target language."""
        return self._target.encode(list(texts), out_type=str, num_threads=1)

    def join(self, pieces: Sequence[str]) -> str:
        """Return the text of a translation's pieces."""
        return self._target.decode_pieces(list(pieces))


class TokenizerPieces:
    """Pieces by a ``tokenizer.json``."""

    def __init__(self, path: Path) -> None:
        """Load the file.

        Raises:
            ConfigError: The library is not installed, or the file is not a tokenizer.
        """
        try:
            import tokenizers
        except ModuleNotFoundError as error:
            raise ConfigError(
                f"{path}: needs tokenizers, which is not installed; "
                "install it with: pip install 'pairweave[translate]'"
            ) from error
        try:
            self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:
            raise ConfigError(f"{path}: no tokenizer: {error}") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        # Text that looks like a special token is text.
        self._tokenizer.encode_special_tokens = True

    def cut(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the pieces of each text, without special ones."""
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return [encoding.tokens for encoding in encodings]

    def cut_target(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the pieces of each text of the target language."""
        return self.cut(texts)

    def join(self, pieces: Sequence[str]) -> str:
        """Return the text of a translation's pieces."""
        decoder = self._tokenizer.decoder
        return decoder.decode(list(pieces)) if decoder else "".join(pieces)


def load_pieces(directory: Path) -> PieceModel:
    """Load the tokenizer of the model in a directory.

    Raises:
        ConfigError: The directory has no such file, or a broken one.
    """
    if all((directory / name).is_file() for name in MARIAN):
        return SentencePieces(directory / MARIAN[0], directory / MARIAN[1])
    if (directory / TOKENIZER).is_file():
        return TokenizerPieces(directory / TOKENIZER)
    for name in (FAIRSEQ, OPENNMT):
        if (directory / name).is_file():
            return SentencePieces(directory / name, directory / name)
    raise ConfigError(
        f"{directory}: no tokenizer for the model's pieces; copy it next to the model from the "
        f"model that was converted: {' and '.join(MARIAN)}, or {FAIRSEQ}, {TOKENIZER} or "
        f"{OPENNMT}"
    )


def ends_source(directory: Path) -> bool:
    """Tell whether a source ends with `END`: in OPUS-MT, M2M-100 and NLLB, but not in OpenNMT."""
    return any((directory / name).is_file() for name in (*MARIAN, FAIRSEQ, TOKENIZER))


def read_languages(directory: Path, vocabulary: Collection[str]) -> Languages:
    """Return the languages that a model's vocabulary names.

    Args:
        directory: The model's directory.
        vocabulary: Its source pieces.

    Raises:
        ConfigError: ``tokenizer_config.json`` is invalid.
    """
    for form in _FORMS:
        tokens = {
            match[1]: token for token in sorted(vocabulary) if (match := form.fullmatch(token))
        }
        if tokens:
            return Languages(tokens, form is not _FORMS[0], (None, None))
    about = read_object(directory / ABOUT) if (directory / ABOUT).is_file() else {}
    source, target = (about.get(name) for name in ("source_lang", "target_lang"))
    pair = tuple(code if isinstance(code, str) else None for code in (source, target))
    return Languages({}, on_source=False, pair=(pair[0], pair[1]))


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        ConfigError: The file is not a JSON object.
    """
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: expected a JSON object, found {type(value).__name__}")
    return value


def _processor(path: Path) -> sentencepiece.SentencePieceProcessor:
    try:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))
    except (RuntimeError, OSError) as error:
        raise ConfigError(f"{path}: not a SentencePiece model: {error}") from error
