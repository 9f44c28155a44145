"""Choose the translator of a job from its options."""

from collections.abc import Iterable

from pairweave.models.translators import translator_reference
from pairweave.models.translators.translator import TranslatorConfig, parse_translator
from pairweave.models.translators.translator_reference import TranslatorReference
from pairweave.pipelines.options.base import PlannedOptions, TranslatorOptions
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.units import Unit


def choose_translator(options: PlannedOptions, units: Iterable[Unit]) -> TranslatorReference | None:
    """Return the translator of a job, if it has one.

    Args:
        options: The job's options.
        units: The input, whose languages the translator must support.

    Raises:
        ConfigError: There is no such model, it does not support a language, or options are given
            that need one.
    """
    if not isinstance(options, TranslatorOptions):
        return None
    if options.translator is None:
        given = sorted(options.model_fields_set & unused_translator_options(options))
        if given:
            names = ", ".join(f"--{name}" for name in given)
            raise ConfigError(f"{names}: without --translator nothing is translated")
        return None
    backend, model = parse_translator(options.translator)
    config = pick(TranslatorConfig, options, backend=backend, model=model)
    languages = {(unit.source_lang, unit.target_lang) for unit in units}
    return translator_reference.find(config, sorted(languages))


def unused_translator_options(options: PlannedOptions) -> set[str]:
    """Return the options that have no effect if a job has no translator."""
    if not isinstance(options, TranslatorOptions) or options.translator is not None:
        return set()
    return set(TranslatorOptions.model_fields)
