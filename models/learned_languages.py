"""Checks that models learned from pairs of two languages are used on pairs of these languages."""

import dataclasses
from collections.abc import Iterable, Mapping

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.text.iso_languages import UNDETERMINED, primary_tag
from pairweave.transforms.units import Notice, Plan


@dataclasses.dataclass(frozen=True)
class Learned:
    """A model that was learned from pairs of two languages.

    Attributes:
        option: The option that gives it, such as ``--model``.
        place: Its directory.
        kind: The word for the model in messages, such as ``a model``.
        about: Languages that it was learned from: ``source_lang`` and ``target_lang``.
        refused: Whether every job refuses it for pairs of other languages; otherwise some jobs give
            a notice.
        either_way: Whether it also serves pairs with its languages the other way round.
    """

    option: str
    place: str
    kind: str
    about: Mapping[str, object]
    refused: bool = False
    either_way: bool = False


def check_languages(
    plan: Plan, learned: Iterable[Learned], refuses: str | None, *, translations: bool
) -> tuple[Notice, ...]:
    """Refuse models learned from other languages or from exchanged sides, or return notices.

    A side whose language the model or the input leaves undetermined fits any language.

    Args:
        plan: The files of a run.
        learned: Models that were learned from pairs.
        refuses: The word for the input in a refusal; None for a job that gives notices instead.
        translations: Whether translations are aligned with references, both in the target language.

    Returns:
        A notice for each model of other languages, about the first side that differs.

    Raises:
        ConfigError: A model has other languages, and the job or the model itself refuses that.
    """
    notices = []
    for model in learned:
        is_refused = refuses is not None or model.refused
        sides = ("source_lang", "target_lang")
        if model.either_way and _is_exchanged(model, plan):
            continue
        for side in sides if is_refused or not translations else sides[1:]:
            known = _languages(model.about.get(side))
            ours = _languages(sorted({getattr(unit, side) for unit in plan.units}))
            if not known or ours <= known:
                continue
            if is_refused:
                raise ConfigError(_refusal(model, side, known, ours, refuses or "pairs"))
            message = _message(model, side, known, ours)
            notices.append(Notice("other_languages", "options", 1, message))
            break
    return tuple(notices)


def other_languages(model: Learned, languages: Mapping[str, str]) -> str | None:
    """Return what to tell of a model that was learned from other languages than those of a text.

    Args:
        model: The model.
        languages: The text's language by side, ``source_lang`` and ``target_lang``.

    Returns:
        The message; None if the languages agree, or are undetermined.
    """
    for side, name in languages.items():
        known, ours = _languages(model.about.get(side)), _languages([name])
        if known and not ours <= known:
            return _message(model, side, known, ours)
    return None


def _is_exchanged(model: Learned, plan: Plan) -> bool:
    """Return True if both languages of a model are those of the other sides of the pairs."""
    for side, other in (("source_lang", "target_lang"), ("target_lang", "source_lang")):
        known = _languages(model.about.get(side))
        if not known or not _languages({getattr(unit, other) for unit in plan.units}) <= known:
            return False
    return True


def _refusal(model: Learned, side: str, known: set[str], ours: set[str], subject: str) -> str:
    return (
        f"{model.option} {model.place}: was fitted with {side} {', '.join(sorted(known))}"
        f", but the {subject} have {', '.join(sorted(ours))}; give {model.kind} of the "
        f"{subject}' languages, source and target in {'either' if model.either_way else 'their'} "
        f"order, or leave {model.option} out"
    )


def _message(model: Learned, side: str, known: set[str], ours: set[str]) -> str:
    return (
        f"{model.option} was fitted with {side} {', '.join(sorted(known))}, but the pairs have "
        f"{', '.join(sorted(ours))}; links will be poor unless these are alike. Give a "
        "model of the pairs' languages, source and target in their order, or leave "
        f"{model.option} out"
    )


def _languages(names: object) -> set[str]:
    """Return the determined languages, without regions and scripts."""
    listed = names if isinstance(names, list | set) else []
    return {primary_tag(str(name)) for name in listed} - {UNDETERMINED}
