"""Which aligner a job uses, and on which tokens: from options to what workers load."""

import hashlib

import pyarrow as pa

from models import encoder_store, store
from models.encoder_config import EncoderConfig, HeadConfig
from models.encoder_store import EncoderReference
from pipelines.options import AlignerOptions, FitSettings
from transforms import files
from transforms.errors import ConfigError
from transforms.tokens import TokenConfig, tokenize

Reference = store.ModelReference | EncoderReference

HMM_ONLY = ("vocabulary", "fit_pairs", "decode")
ENCODER_ONLY = ("revision", "layer", "head", "precision", "long_pairs", "token_budget")


def choose_aligner(options: FitSettings) -> tuple[Reference | None, TokenConfig | None]:
    """Return the given model, if any, and how text is cut, unless that is still to be trained.

    Raises:
        ConfigError: There is no such model, or options do not fit the aligner.
    """
    if isinstance(options, AlignerOptions):
        check_options(options)
        if options.aligner == "encoder":
            return _encoder(options)
        if options.model is not None:
            return _fitted(options.model, options.tokens)
    return None, _tokens(options.tokens or "words")


def unused_options(options: FitSettings) -> set[str]:
    """Return the options that the job's aligner does not know."""
    if isinstance(options, AlignerOptions) and options.aligner == "encoder":
        return set(HMM_ONLY)
    return set(ENCODER_ONLY)


def check_options(options: AlignerOptions) -> None:
    """Refuse options of another aligner.

    Raises:
        ConfigError: Names them.
    """
    foreign = sorted(unused_options(options) & options.model_fields_set)
    if foreign:
        other = "hmm" if options.aligner == "encoder" else "encoder"
        names = ", ".join(f"--{name}" for name in foreign)
        raise ConfigError(
            f"--aligner {options.aligner} does not know {names}; leave it out, or give "
            f"--aligner {other}"
        )
    if options.aligner == "encoder" and options.model is None:
        raise ConfigError("--aligner encoder needs --model DIRECTORY, or --model OWNER/NAME")


def tokens_text(tokens: TokenConfig | None) -> str:
    """Return what a plan says of tokens."""
    if tokens is None:
        return "sentencepiece"
    if tokens.model is None:
        return tokens.kind
    return f"{tokens.kind}:{hashlib.sha256(tokens.model).hexdigest()}"


def screen_tokens(tokens: TokenConfig | None) -> TokenConfig:
    """Return what the screen counts: words, unless the text is given as tokens."""
    if tokens is not None and tokens.kind == "whitespace":
        return tokens
    return TokenConfig(kind="words")


def _encoder(options: AlignerOptions) -> tuple[EncoderReference, TokenConfig]:
    tokens = _tokens(options.tokens or "words")
    if tokens is None:
        raise ConfigError(
            "--tokens sentencepiece: a model is trained for --aligner hmm alone; "
            "give sentencepiece:MODEL, words or whitespace"
        )
    budget = options.token_budget
    config = EncoderConfig(
        model=options.model or "",
        layer=options.layer,
        head=HeadConfig(options.head),
        precision=options.precision,
        long_pairs=options.long_pairs,
        token_budget=budget if budget == "auto" else int(budget),
        revision=options.revision,
    )
    return encoder_store.find(config), tokens


def _fitted(
    directory: str, given: str | None
) -> tuple[store.ModelReference | None, TokenConfig | None]:
    fitted = store.read(directory)
    tokens = fitted.tokens if given is None else _tokens(given)
    if not _agree(tokens, fitted.tokens):
        raise ConfigError(
            f"--tokens {given}: the model in {directory} was fitted on "
            f"{fitted.tokens.kind}; leave --tokens out, or fit a model on {given}"
        )
    return store.find(directory), tokens


def _agree(tokens: TokenConfig | None, fitted: TokenConfig) -> bool:
    """Tell whether text cut in one way can be aligned by a model fitted on text cut in another.

    Words are words, whether they were found or stood between blanks.
    """
    if tokens is None:
        return False
    return tokens == fitted or (tokens.model is None and fitted.model is None)


def _tokens(name: str) -> TokenConfig | None:
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
    tokenize(pa.array(["a"]), tokens)
    return tokens
