"""Whether a fitted model is of the languages of a run."""

from collections.abc import Mapping

from pairweave.models.hmm import hmm_store
from pairweave.pipelines.options.corpora import UNDETERMINED
from pairweave.transforms.errors import ConfigError


def check_languages(
    reference: hmm_store.ModelReference, languages: Mapping[str, object], subject: str
) -> None:
    """Refuse a model that was fitted on other languages, or on the same sides exchanged.

    A side that the model or the input leaves undetermined fits any.

    Args:
        reference: The model.
        languages: Lists of the input's languages by side (`pipelines.run.run.Run.language_facts`).
        subject: What the input is called in the message.

    Raises:
        ConfigError: Names both.
    """
    about = hmm_store.load(reference).about
    for side, wanted in languages.items():
        known, ours = (_languages(names) for names in (about.get(side), wanted))
        if known and not ours <= known:
            raise ConfigError(
                f"--model {reference.directory}: was fitted with {side} {', '.join(sorted(known))}"
                f", but the {subject} have {', '.join(sorted(ours))}; give a model of the "
                f"{subject}' languages, source and target in their order, or leave --model out"
            )


def _languages(names: object) -> set[str]:
    """Return languages less their regions and scripts, as far as they are determined."""
    listed = names if isinstance(names, list) else []
    return {str(name).partition("-")[0].lower() for name in listed} - {UNDETERMINED}
