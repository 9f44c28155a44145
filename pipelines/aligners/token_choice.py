"""How text is cut: from options to what workers use."""

import hashlib

import pyarrow as pa

from pairweave.pipelines.options.base import AlignedOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files
from pairweave.transforms.text.tokens import TokenConfig, tokenize


def read_tokens(name: str) -> TokenConfig | None:
    """Return how text is cut; None for the pieces of a model that is still to be trained.

    Raises:
        ConfigError: There is no such SentencePiece model.
    """
    kind, _, path = name.partition(":")
    if kind != "sentencepiece":
        return TokenConfig(kind=kind)
    if not path:
        return None
    try:
        tokens = TokenConfig(kind=kind, model=files.read_bytes(path))
    except OSError as error:
        raise ConfigError(f"--tokens {name}: {path} cannot be read: {error.strerror}") from error
    # A file that is no model must not be found out after the directory is claimed.
    try:
        tokenize(pa.array(["a"]), tokens)
    except ConfigError as error:
        raise ConfigError(f"--tokens {name}: {error}") from error
    return tokens


def known_tokens(options: AlignedOptions, *, pieces: bool = False) -> TokenConfig:
    """Return how text is cut for an aligner that trains no tokens of its own.

    Args:
        options: The job's options.
        pieces: Whether the aligner brings pieces.

    Raises:
        ConfigError: A SentencePiece model is to be trained, or is not there.
    """
    tokens = read_tokens(options.tokens or "words")
    if tokens is None:
        raise ConfigError(
            "--tokens sentencepiece: a model is trained for --aligner hmm alone; give "
            f"{'pieces, ' * pieces}sentencepiece:MODEL, words or whitespace"
        )
    return tokens


def tokens_text(tokens: TokenConfig | None) -> str:
    """Return what a plan says of tokens."""
    if tokens is None:
        return "sentencepiece"
    if tokens.model is None:
        return tokens.kind
    return f"{tokens.kind}:{hashlib.sha256(tokens.model).hexdigest()}"


def screen_tokens(tokens: TokenConfig | None) -> TokenConfig:
    """Return what the screen counts.

    Words stand for the pieces of an encoder, which only the step that loads it knows, and for those
    of a model that is still to be trained (`pipelines.steps.screened_rows`).
    """
    if tokens is not None and tokens.kind in ("whitespace", "sentencepiece"):
        return tokens
    return TokenConfig(kind="words")
