"""Whether a fitted model is of the languages of a run."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pairweave.models.hmm import hmm_reference
from pairweave.pipelines.options.corpora import UNDETERMINED
from pairweave.transforms.errors import ConfigError

if TYPE_CHECKING:
    from pairweave.pipelines.run.run import Run


def check_languages(run: "Run", subject: str) -> None:
    """Refuse a given model that was fitted on other languages, or on the same sides exchanged.

    Counts of an encoder's pieces are such a model, too.

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
