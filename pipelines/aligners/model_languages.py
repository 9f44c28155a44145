"""Whether a fitted model is of the languages of a run."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pairweave.models.hmm import hmm_reference
from pairweave.pipelines.options.corpora import UNDETERMINED
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.units import Notice, Plan

if TYPE_CHECKING:
    from pairweave.pipelines.run.run import Run


REFUSING = ("bitext", "filter")
"""Jobs that refuse a model of other languages (`check_languages`); the others give a notice."""


def check_languages(run: "Run", subject: str) -> None:
    """Refuse a given model that was fitted on other languages, or on the same sides exchanged.

    Counts of an encoder's pieces, and a map of its vectors, are such models, too.

    A side that the model or the input leaves undetermined fits any.

    Args:
        run: The planned run of a job that the statistical aligner alone can do.
        subject: What the input is called in the message.

    Raises:
        ConfigError: Names both.
    """
    if run.model is not None:
        assert isinstance(run.model, hmm_reference.HmmReference)
        about = hmm_reference.load(run.model).about
        _check(run, subject, about, ("--model", run.model.directory, "a model"))
    counted = None if run.similarity is None else run.similarity.idf
    if counted is not None:
        _check(run, subject, counted.load().about, ("--idf", counted.directory, "counts"))
    fitted = None if run.similarity is None else run.similarity.reference.projection
    if fitted is not None:
        _check(run, subject, fitted.load().about, ("--projection", fitted.directory, "a map"))


def notices_on_languages(
    plan: Plan, reference: object, *, translations: bool = False
) -> tuple[Notice, ...]:
    """Return a notice if a given model was fitted on other languages, or on the sides exchanged.

    Args:
        plan: The files of a run.
        reference: Reference to the aligner; only a fitted one knows its languages.
        translations: Whether translations are aligned with references, both in the target language.
    """
    if not isinstance(reference, hmm_reference.HmmReference):
        return ()
    about = hmm_reference.load(reference).about
    for side in ("target_lang",) if translations else ("source_lang", "target_lang"):
        known = _languages(about.get(side))
        ours = _languages([getattr(unit, side) for unit in plan.units])
        if known and not ours <= known:
            message = (
                f"--model was fitted with {side} {', '.join(sorted(known))}, but the pairs have "
                f"{', '.join(sorted(ours))}; links will be poor unless these are alike. Give a "
                "model of the pairs' languages, source and target in their order, or leave --model "
                "out"
            )
            return (Notice("other_languages", "options", 1, message),)
    return ()


def check_score_model(run: "Run") -> None:
    """Refuse an aligner of the block ``filter:`` that was fitted on other languages.

    Raises:
        ConfigError: Names both.
    """
    if run.minimum is not None:
        model = run.minimum.model
        about = hmm_reference.load(model).about
        _check(run, "pairs", about, ("filter.score_model", model.directory, "a model"))


def _check(
    run: "Run", subject: str, about: Mapping[str, object], given: tuple[str, str, str]
) -> None:
    """Refuse what was fitted on other languages.

    Args:
        run: The planned run.
        subject: What the input is called.
        about: Which languages it was fitted on.
        given: The option, its value, and what it is.

    Raises:
        ConfigError: The run has others.
    """
    option, directory, kind = given
    for side, wanted in run.language_facts().items():
        known, ours = (_languages(names) for names in (about.get(side), wanted))
        if known and not ours <= known:
            raise ConfigError(
                f"{option} {directory}: was fitted with {side} {', '.join(sorted(known))}"
                f", but the {subject} have {', '.join(sorted(ours))}; give {kind} of the "
                f"{subject}' languages, source and target in their order, or leave {option} out"
            )


def _languages(names: object) -> set[str]:
    """Return languages less their regions and scripts, as far as they are determined."""
    listed = names if isinstance(names, list) else []
    return {str(name).partition("-")[0].lower() for name in listed} - {UNDETERMINED}
