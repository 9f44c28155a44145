"""Choose the tokens of a job from its options."""

import hashlib

import pyarrow as pa

from pairweave.pipelines.options.base import WordAlignerOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.plugins.entry_points import plan_plugin
from pairweave.transforms.plugins.tokenizer import TOKENIZER
from pairweave.transforms.storage import files
from pairweave.transforms.text.tokens import TokenConfig, tokenize


def read_tokens(name: str) -> TokenConfig | None:
    """Return the tokens that an option names; None if their model is still to be trained.

    Raises:
        ConfigError: There is no such SentencePiece model, or no such tokenizer.
    """
    kind, _, path = name.partition(":")
    if kind not in TOKENIZER.built_in:
        return TokenConfig.of_plugin(plan_plugin(TOKENIZER, name, "--tokens")[0])
    if kind != "sentencepiece":
        return TokenConfig(kind=kind)
    if not path:
        return None
    try:
        tokens = TokenConfig(kind=kind, model=files.read_bytes(path))
    except OSError as error:
        raise ConfigError(f"--tokens {name}: {path} cannot be read: {error.strerror}") from error
    # Detect a file that is not a model before the output directory is claimed.
    try:
        tokenize(pa.array(["a"]), tokens)
    except ConfigError as error:
        raise ConfigError(f"--tokens {name}: {error}") from error
    return tokens


def known_tokens(options: WordAlignerOptions, *, pieces: bool = False) -> TokenConfig:
    """Return the tokens for an aligner that cannot train a SentencePiece model.

    Args:
        options: The job's options.
        pieces: Whether the aligner has pieces of its own.

    Raises:
        ConfigError: A SentencePiece model is to be trained, or does not exist.
    """
    tokens = read_tokens(options.tokens or "words")
    if tokens is None:
        raise ConfigError(
            "--tokens sentencepiece: a model is trained only for --aligner hmm; give "
            f"{'pieces, ' * pieces}sentencepiece:MODEL, words or whitespace"
        )
    return tokens


def tokens_text(tokens: TokenConfig | None) -> str:
    """Return the tokens' entry in a plan."""
    if tokens is None:
        return "sentencepiece"
    if tokens.plugin is not None:
        return f"{tokens.plugin.name}:{tokens.plugin.sha256}"
    if tokens.model is None:
        return tokens.kind
    return f"{tokens.kind}:{hashlib.sha256(tokens.model).hexdigest()}"


def screen_tokens(tokens: TokenConfig | None) -> TokenConfig:
    """Return the tokens that the screen counts.

    The screen counts words instead of the pieces of an encoder, because only the step that loads
    the encoder knows them. It also does so for a model that is still to be trained
    (`pipelines.jobs.screened_rows`).
    """
    return TokenConfig() if tokens is None or tokens.kind == "pieces" else tokens
