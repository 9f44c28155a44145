"""The methods of ``suggest`` that make examples, and checks for options that none of them uses."""

import math
from collections.abc import Sequence

from pairweave.pipelines.options.aligner_options import AlignerSettings
from pairweave.pipelines.options.base import TranslatorOptions
from pairweave.pipelines.options.suggest_options import FitLengthsOptions, SuggestOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.link_options import SymmetrizeOptions
from pairweave.transforms.suggestions.suggestion_options import AlignedOptions, RandomOptions

OF_RANDOM = {*RandomOptions.model_fields, *FitLengthsOptions.model_fields}
OF_ALIGNMENT = {
    *AlignedOptions.model_fields,
    *SymmetrizeOptions.model_fields,
    "min_confidence",
    # All methods use tokens.
    *(AlignerSettings.model_fields.keys() - {"tokens"}),
    *TranslatorOptions.model_fields,
}
OF_SPANS = {"min_suggestion_words", "max_suggestion_words", "max_masked_share", "segmenter"}


def used_methods(options: SuggestOptions) -> set[str]:
    """Return the methods that make examples: ``mix`` can exclude some of those named."""
    named: set[str] = set(options.methods)
    if options.mix == 0 and named != {"parallel"}:
        return named - {"parallel"}
    if math.isinf(options.mix) and "parallel" in named:
        return {"parallel"}
    return named


def check_methods(options: SuggestOptions) -> None:
    """Refuse given options that no method in use needs.

    Raises:
        ConfigError: There are such options.
    """
    given = options.model_fields_set
    used = used_methods(options)
    # A golden set is also compared with examples of the method alignment.
    of_random = OF_RANDOM - ({"fit_lengths"} if "alignment" in used else set())
    for method, names in (("random", of_random), ("alignment", OF_ALIGNMENT)):
        if method not in used and given & names:
            raise ConfigError(
                f"{_flags(given & names)}: for the method {method}, {_why_unused(options, method)}"
            )
    if used == {"parallel"} and given & OF_SPANS:
        raise ConfigError(
            f"{_flags(given & OF_SPANS)}: for the methods random and alignment; parallel masks "
            "whole sentences, of any length. Leave it out, or name one of them in --methods"
        )
    if "mix" in given and not {"parallel"} < set(options.methods):
        raise ConfigError(
            "--mix: the ratio of parallel to other examples, so --methods must name parallel and "
            "another method"
        )
    if "hint_letters" in given and options.hint != "letters":
        raise ConfigError("--hint_letters: applies to --hint letters; give both")


def limit_notice(options: SuggestOptions) -> str | None:
    """Return a notice if the screen may reject sources that ``max_source_words`` would accept."""
    words, tokens = options.max_source_words, options.max_tokens
    if "max_source_words" not in options.model_fields_set or tokens >= words * options.max_ratio:
        return None
    return (
        f"--max_tokens {tokens} applies to every side, so a source of up to --max_source_words "
        f"{words} words is rejected as too_long if its target or translation is longer than "
        f"{tokens} tokens (Chinese and Japanese have one per character); leave --max_tokens out to "
        "accept them"
    )


def _why_unused(options: SuggestOptions, method: str) -> str:
    if method in options.methods:
        return f"of which --mix {options.mix:g} makes no examples; leave it out"
    return "which --methods does not name; leave it out, or name the method"


def _flags(names: Sequence[str] | set[str]) -> str:
    return ", ".join(f"--{name}" for name in sorted(names))
