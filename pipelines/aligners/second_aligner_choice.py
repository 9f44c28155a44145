"""Which second aligner a job uses: from options to what workers load.

It is named on one line, with all that it knows: ``hmm:DIRECTORY``, ``encoder:DIRECTORY:layer=8``,
``simalign:DIRECTORY:path=PYTHON``. It gets the same tokens as the first.
"""

from pairweave.models import store
from pairweave.models.encoder import encoder_store
from pairweave.models.encoder.encoder_store import EncoderReference
from pairweave.models.external import external_store
from pairweave.models.external.external_config import PROGRAMS
from pairweave.models.external.external_store import ExternalReference
from pairweave.pipelines.aligners.aligner_names import AlignerName, read_name
from pairweave.pipelines.options.base import AlignerOptions, FitSettings
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.text.tokens import TokenConfig

Reference = store.ModelReference | EncoderReference | ExternalReference

OPTIONS = ("second_aligner", "combine")
_SECOND = "--second_aligner"


def choose_second(options: FitSettings, tokens: TokenConfig | None) -> Reference | None:
    """Return the second aligner of a job; None where one aligns alone.

    Raises:
        ConfigError: It is not there, lacks its model, does not fit the tokens, or cannot align
            shards one by one.
    """
    name = _name(options)
    if name is None:
        if "combine" in options.model_fields_set:
            raise ConfigError("--combine joins the links of two aligners; give --second_aligner")
        return None
    if tokens is None or tokens.kind == "pieces":
        raise ConfigError(
            f"{_SECOND} gets the tokens of the first aligner, which must be words, whitespace or "
            "sentencepiece:MODEL; got pieces that one aligner brings"
        )
    if name.aligner == "attention":
        raise ConfigError(
            f"{_SECOND} {name.text}: attention goes with --aligner given, or to evaluate aligners"
        )
    if name.aligner == "hmm":
        return _fitted(name, tokens)
    if name.aligner == "encoder":
        return encoder_store.find(name.encoder_config())
    return _program(name, options)


def second_settings(options: FitSettings, reference: Reference | None) -> dict[str, object]:
    """Return what the plan says of the second aligner; nothing where there is none."""
    name = _name(options)
    if name is None or reference is None:
        return {}
    assert isinstance(options, AlignerOptions)
    own = {key: value for key, value in name.settings.items() if key != "path"}
    return {
        "second_aligner": " ".join([name.aligner, *(f"{key}={own[key]}" for key in sorted(own))]),
        "second_model": reference.digest,
        "combine": options.combine,
    }


def _name(options: FitSettings) -> AlignerName | None:
    if not isinstance(options, AlignerOptions) or options.second_aligner is None:
        return None
    return read_name(options.second_aligner, _SECOND)


def _fitted(name: AlignerName, tokens: TokenConfig) -> store.ModelReference:
    name.require_settings()
    if name.model is None:
        raise ConfigError(
            f"{_SECOND} hmm: needs a fitted model, as in hmm:DIRECTORY; make one by pairweave "
            "fit, or let hmm be the first aligner, which is fitted on the input"
        )
    fitted = store.read(name.model)
    if tokens != fitted.tokens and (tokens.model or fitted.tokens.model):
        raise ConfigError(
            f"{_SECOND} {name.text}: was fitted on {fitted.tokens.kind}, but the first aligner "
            f"gets {tokens.kind}; give --tokens that both know"
        )
    reference = store.find(name.model)
    assert reference is not None
    return reference


def _program(name: AlignerName, options: FitSettings) -> ExternalReference:
    assert isinstance(options, AlignerOptions)
    assert name.aligner in PROGRAMS
    if name.about.way == "whole corpus":
        raise ConfigError(
            f"{_SECOND} {name.aligner} cannot align a corpus shard by shard: {name.about.why_whole}"
        )
    config = name.program_config(options.program_timeout)
    if name.about.way == "pair by pair":
        return external_store.find(config)
    if name.model is None:
        raise ConfigError(
            f"{_SECOND} {name.aligner}: needs what it learned in an earlier run, as in "
            f"{name.aligner}:OUTPUT/models/{name.aligner}; or let it be the first aligner"
        )
    return external_store.find_learned(config, name.model)
