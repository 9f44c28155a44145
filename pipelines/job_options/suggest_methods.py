"""Checks for options of ``suggest`` that no method in use needs."""

from pairweave.pipelines.aligners.aligner_options import AlignerSettings
from pairweave.pipelines.job_options.suggest_options import SuggestOptions
from pairweave.pipelines.options.base import SegmenterOptions, TranslatorOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.option_marks import mark_of
from pairweave.transforms.option_values import dashed
from pairweave.transforms.suggestions.suggestion_options import (
    OF_METHODS,
    AlignedConfig,
    FilterConfig,
    RandomConfig,
)


def _limits_of(*methods: str) -> set[str]:
    """Return the limits of an example that apply to only some methods."""
    fields = FilterConfig.model_fields.items()
    return {name for name, field in fields if mark_of(field, OF_METHODS) == list(methods)}


OF_RANDOM = {*RandomConfig.model_fields, "fit_lengths"}
OF_ALIGNMENT = {
    *AlignedConfig.model_fields,
    *SymmetrizeConfig.model_fields,
    *_limits_of("alignment"),
    # All methods use tokens.
    *(AlignerSettings.model_fields.keys() - {"tokens"}),
    *TranslatorOptions.model_fields,
}
OF_SPANS = {*_limits_of("random", "alignment"), *SegmenterOptions.model_fields}


def check_methods(options: SuggestOptions) -> None:
    """Refuse given options that no method in use needs."""
    chosen = options.model_fields_set
    used = options.used_methods
    # A golden set is also compared with examples of the method alignment.
    of_random = OF_RANDOM - ({"fit_lengths"} if "alignment" in used else set())
    for method, names in (("random", of_random), ("alignment", OF_ALIGNMENT)):
        if method not in used and chosen & names:
            raise ConfigError(
                f"{dashed(sorted(chosen & names))}: for the method {method}, "
                f"{_why_unused(options, method)}"
            )
    if used == {"parallel"} and chosen & OF_SPANS:
        raise ConfigError(
            f"{dashed(sorted(chosen & OF_SPANS))}: for the methods random and alignment; parallel "
            "masks whole sentences, of any length. Leave it out, or name one of them in --methods"
        )
    if "mix" in chosen and not {"parallel"} < set(options.methods):
        raise ConfigError(
            "--mix: the ratio of parallel to other examples, so --methods must name parallel and "
            "another method"
        )
    if "hint_letters" in chosen and options.hint != "letters":
        raise ConfigError("--hint_letters: applies to --hint letters; give both")


def _why_unused(options: SuggestOptions, method: str) -> str:
    if method in options.methods:
        return f"of which --mix {options.mix:g} makes no examples; leave it out"
    return "which --methods does not name; leave it out, or name the method"
