"""Which aligner a job uses, and on which tokens: from options to what workers load."""

import hashlib

import pyarrow as pa

from pairweave.models import store
from pairweave.models.encoder import encoder_store
from pairweave.models.encoder.encoder_config import TRANSPORT_SETTINGS, EncoderConfig, HeadConfig
from pairweave.models.encoder.encoder_store import EncoderReference
from pairweave.models.external import external_store
from pairweave.models.external.external_store import ExternalReference
from pairweave.models.given_links import GivenLinks
from pairweave.models.ter_aligner import TerAligner
from pairweave.pipelines.aligners import external_choice
from pairweave.pipelines.aligners.external_choice import EXTERNAL_ONLY
from pairweave.pipelines.aligners.given_choice import ATTENTION_ONLY
from pairweave.pipelines.options.base import AlignerOptions, AlignerSettings, FitSettings
from pairweave.pipelines.options.job_options import FinetuneOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files
from pairweave.transforms.text.tokens import TokenConfig, tokenize

Reference = store.ModelReference | EncoderReference | ExternalReference | TerAligner | GivenLinks

HMM_ONLY = ("vocabulary", "fit_pairs", "decode")
HOSTING = ("large_model", "model_copies", "accelerator")
ENCODER_ONLY = (
    *("revision", "layer", "head", "head_threshold", "distortion", *TRANSPORT_SETTINGS),
    *("unit", "precision", "long_pairs", "token_budget", "watch_model"),
    *HOSTING,
)


def choose_aligner(options: FitSettings) -> tuple[Reference | None, TokenConfig | None]:
    """Return the given model, if any, and how text is cut, unless that is still to be trained.

    Raises:
        ConfigError: There is no such model, or options do not fit the aligner.
    """
    if isinstance(options, FinetuneOptions):
        config = EncoderConfig(options.model, layer=options.layer, revision=options.revision)
        return encoder_store.find(config), _tokens(options.tokens)
    check_tokens(options)
    if isinstance(options, AlignerSettings):
        check_options(options)
        if options.aligner == "encoder":
            return _encoder(options)
        if options.aligner == "ter":
            return TerAligner(), _known_tokens(options)
        if options.aligner == "given":
            settings = (options.attention_method, options.attention_layer, options.attention_head)
            return GivenLinks(*settings), _known_tokens(options)
        if isinstance(options, AlignerOptions) and options.aligner == "external":
            return external_choice.choose_external(options, _tokens(options.tokens or "words"))
        if options.model is not None:
            return _fitted(options.model, options.tokens)
    return None, _tokens(options.tokens or "words")


def unused_options(options: FitSettings) -> set[str]:
    """Return the options that the job's aligner does not know."""
    if isinstance(options, FinetuneOptions):
        return set()
    aligner = options.aligner if isinstance(options, AlignerSettings) else "hmm"
    if aligner == "encoder":
        return {*HMM_ONLY, *EXTERNAL_ONLY, *ATTENTION_ONLY}
    if aligner == "ter":
        return {*HMM_ONLY, *ENCODER_ONLY, *EXTERNAL_ONLY, *ATTENTION_ONLY}
    if aligner == "given":
        return {*HMM_ONLY, *ENCODER_ONLY, *EXTERNAL_ONLY}
    if isinstance(options, AlignerOptions) and options.aligner == "external":
        known = {"layer", "head"}
        others = {*ENCODER_ONLY, *ATTENTION_ONLY} - known
        return others | external_choice.unknown_options(options)
    return {*ENCODER_ONLY, *EXTERNAL_ONLY, *ATTENTION_ONLY}


def check_options(options: AlignerSettings) -> None:
    """Refuse options of another aligner.

    Raises:
        ConfigError: Names them.
    """
    foreign = sorted(unused_options(options) & options.model_fields_set)
    if foreign:
        others = {
            "hmm": HMM_ONLY,
            "encoder": ENCODER_ONLY,
            "external": EXTERNAL_ONLY,
            "given": ATTENTION_ONLY,
        }
        other = next(name for name, own in others.items() if foreign[0] in own)
        names = ", ".join(f"--{name}" for name in foreign)
        program = f" --program {options.program}" if isinstance(options, AlignerOptions) else ""
        if options.aligner != "external":
            program = ""
        raise ConfigError(
            f"--aligner {options.aligner}{program} does not know {names}; leave it out, or give "
            f"--aligner {other}"
        )
    if options.aligner == "hmm" and options.model is not None:
        unused = sorted({"vocabulary", "fit_pairs", "decode"} & options.model_fields_set)
        if unused:
            raise ConfigError(
                f"{', '.join(f'--{name}' for name in unused)}: of an hmm that is fitted in the "
                "run; the given --model is fitted. Leave it out, or leave --model out"
            )
    if options.aligner == "encoder" and options.model is None:
        raise ConfigError("--aligner encoder needs --model DIRECTORY, or --model OWNER/NAME")
    if options.aligner in ("ter", "given") and options.model is not None:
        raise ConfigError(
            f"--aligner {options.aligner} has no model; leave --model out, or give --aligner hmm"
        )


def check_tokens(options: FitSettings) -> None:
    """Refuse an encoder's pieces where no encoder aligns.

    Raises:
        ConfigError: Says why.
    """
    aligner = options.aligner if isinstance(options, AlignerSettings) else "hmm"
    if options.tokens == "pieces" and aligner != "encoder":
        raise ConfigError(
            f"--tokens pieces: they are the pieces of an encoder, and --aligner {aligner} has "
            "none; give --aligner encoder, or sentencepiece for subwords of your own"
        )
    vocabulary = aligner == "hmm" and "vocabulary" in options.model_fields_set
    if vocabulary and options.tokens != "sentencepiece":
        raise ConfigError(
            "--vocabulary: of a SentencePiece model that is trained in the run; give --tokens "
            "sentencepiece as well, or leave it out"
        )


def find_fitted(options: FitSettings, directory: str) -> Reference | None:
    """Return the model that an earlier attempt of a run fitted, if it can be used as it lies."""
    if isinstance(options, AlignerOptions) and options.aligner == "external":
        return external_store.find_whole(external_choice.external_config(options), directory)
    return store.find_whole(directory)


def model_name(options: FitSettings) -> str:
    """Return where a model that a run fits goes, under its output."""
    if isinstance(options, AlignerOptions) and options.aligner == "external":
        return f"models/{options.program}"
    return "models/hmm"


def program_settings(options: FitSettings) -> dict[str, object]:
    """Return what a plan says of an external program beside the options."""
    if isinstance(options, AlignerOptions) and options.aligner == "external":
        return external_choice.plan_settings(options)
    return {}


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


def _encoder(options: AlignerSettings) -> tuple[EncoderReference, TokenConfig]:
    tokens = _known_tokens(options)
    budget = options.token_budget
    config = EncoderConfig(
        model=options.model or "",
        layer=options.layer,
        head=HeadConfig(
            options.head,
            threshold=options.head_threshold,
            distortion=options.distortion,
            **{name: getattr(options, name) for name in TRANSPORT_SETTINGS},
        ),
        unit=options.unit,
        precision=options.precision,
        long_pairs=options.long_pairs,
        token_budget=budget if budget == "auto" else int(budget),
        revision=options.revision,
        tokens="pieces" if tokens.kind == "pieces" else "given",
    )
    return encoder_store.find(config, watch=options.watch_model), tokens


def _known_tokens(options: AlignerSettings) -> TokenConfig:
    """Return how text is cut for an aligner that is not fitted."""
    tokens = _tokens(options.tokens or "words")
    if tokens is None:
        raise ConfigError(
            "--tokens sentencepiece: a model is trained for --aligner hmm alone; give "
            f"{'pieces, ' if options.aligner == 'encoder' else ''}sentencepiece:MODEL, words or "
            "whitespace"
        )
    return tokens


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
    try:
        tokenize(pa.array(["a"]), tokens)
    except ConfigError as error:
        raise ConfigError(f"--tokens {name}: {error}") from error
    return tokens
