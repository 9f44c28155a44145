"""The translator of sources without a translation."""

from pairweave.models.translators import translator_reference
from pairweave.models.translators.translator import TranslatorConfig, parse_translator
from pairweave.models.translators.translator_reference import TranslatorReference
from pairweave.pipelines.options.text_options import TranslatorOptions
from pairweave.pipelines.parts.part import Part, Planning, Settled
from pairweave.transforms.config import pick
from pairweave.transforms.option_values import refuse_given


def _plan_translator(
    options: TranslatorOptions, planning: Planning
) -> Settled[TranslatorReference | None]:
    """Find the translator, which must know the languages of the input.

    Raises:
        ConfigError: There is no such model, it does not support a language, or options are
            given that need one.
    """
    own = TranslatorOptions.model_fields.keys()
    if options.translator is None:
        refuse_given(options, own, "{applies} to --translator, which is not given; leave {it} out")
        return Settled(None, left_out=frozenset(own))
    backend, model = parse_translator(options.translator)
    config = pick(TranslatorConfig, options, backend=backend, model=model)
    languages = {(unit.source_lang, unit.target_lang) for unit in planning.plan.units}
    reference = translator_reference.find(config, sorted(languages))
    return Settled(
        reference,
        settings={"translator": reference.digest},
        models=(reference,),
        packages=tuple(translator_reference.packages(reference)),
        recorded={"translator": reference.digest},
    )


TRANSLATOR = Part("translator", _plan_translator)
"""The translator; None if nothing is translated."""
