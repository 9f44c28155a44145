"""Someone else's aligner in a job: from options to what workers load."""

from pairweave.models.external import external_store
from pairweave.models.external.external_config import ExternalConfig
from pairweave.models.external.external_process import identity
from pairweave.models.external.external_store import ExternalReference
from pairweave.pipelines.options.base import AlignerOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.text.tokens import TokenConfig

EXTERNAL_ONLY = ("program", "program_path", "program_timeout")
PLACE = ("program_path", "program_timeout")
"""Where the program lies and how long it may take: neither may change an output byte."""


def external_config(options: AlignerOptions) -> ExternalConfig:
    """Return the settings of the program.

    Raises:
        ConfigError: None is named, or a setting is not one of its own.
    """
    if options.program is None:
        raise ConfigError(
            "--aligner external needs --program: fast_align, systran-align, awesome-align or "
            "simalign"
        )
    return ExternalConfig(
        program=options.program,
        path=options.program_path,
        model=options.model,
        layer=options.layer,
        head=options.head if "head" in options.model_fields_set else None,
        timeout_seconds=options.program_timeout,
    )


def choose_external(
    options: AlignerOptions, tokens: TokenConfig | None
) -> tuple[ExternalReference | None, TokenConfig]:
    """Return the program that aligns, None if it is to learn first, and how text is cut.

    Raises:
        ConfigError: The program is not there, cannot align shards one by one, or has other tokens.
    """
    config = external_config(options)
    if config.about.way == "whole corpus":
        raise ConfigError(
            f"--program {config.program} cannot align a corpus shard by shard: "
            f"{config.about.why_whole}; compare it by pairweave evaluate aligners, and align with "
            "another"
        )
    if tokens is None:
        raise ConfigError(
            "--tokens sentencepiece: a model is trained for --aligner hmm alone; "
            "give sentencepiece:MODEL, words or whitespace"
        )
    if config.about.way == "pair by pair":
        return external_store.find(config), tokens
    identity(config)
    if options.model is None:
        return None, tokens
    return external_store.find_learned(config, options.model), tokens


def unknown_options(options: AlignerOptions) -> set[str]:
    """Return the options that mean nothing to the program, of those of the other aligners."""
    config = external_config(options)
    unknown = {"vocabulary", "decode"}
    if config.about.way != "fitted":
        unknown.add("fit_pairs")
    if not config.about.heads:
        unknown |= {"layer", "head"}
    return unknown


def plan_settings(options: AlignerOptions) -> dict[str, object]:
    """Return what the plan says of the program beside the options: its version, and its head."""
    config = external_config(options)
    settings: dict[str, object] = {"program_version": identity(config)}
    if config.about.heads:
        settings["head"] = config.extraction
    return settings
