"""Marks of an option, declared on its field for all code that needs them.

Marks in a field's ``json_schema_extra`` say how plans, nightly refreshes, recipes, templates and
help treat the option::

    glossary: Annotated[str | None, FILE_OF_LAUNCHER] = Field(None, ..., json_schema_extra=UNSAID)

Code that depends on marks reads the fields and names no option. The places that options name are
declared in `option_places`.
"""

from collections.abc import Iterable, Iterator, Mapping

import pydantic
from pydantic import JsonValue
from pydantic.fields import FieldInfo

Marks = dict[str, JsonValue]

UNSAID: Marks = {"unsaid": True}
"""Marks an option that a plan leaves out if it has its default."""

UNPLANNED: Marks = {"unplanned": True}
"""Marks an option that no plan has, because it changes no output byte, such as the engine."""

PLANNED_OTHERWISE: Marks = {"planned_otherwise": True}
"""Marks an option that can change output bytes, but that the plan lists by another entry, such as
the digest of the file that the option names, or lists only if its step is in use."""

OF_ONE_RUN: Marks = {"of_one_run": True}
"""Marks an option that sets the division of a run. It may change files but not the fate of a pair,
so the nights of a table may have different values."""

OF_COMMAND: Marks = {"of_command": True}
"""Marks an option that is given on the command line, not in the options file of a run that a
scheduler or a template starts: the engine, the machine, what is printed."""

NAMES_INPUT: Marks = {"names_input": True}
"""Marks an option of a corpus that names its files, or says which of them belong together."""

SHAPES_TEXT: Marks = {"shapes_text": True}
"""Marks an option of a corpus that sets how its texts are changed when they are read."""

GIVES_PAIRS = "gives_pairs"
"""The mark that `gives_pairs` makes."""


def gives_pairs(kind: str) -> Marks:
    """Mark an option of a corpus that names the source of its pairs (files, runs, ...)."""
    return {GIVES_PAIRS: kind}


AGREES: Marks = {"agrees": True}
"""Marks an option whose value a step of a recipe shares with the steps that it reads from."""

REJECTS = "rejects"
"""The mark that `rejects` makes."""


def rejects(reason: str) -> Marks:
    """Mark a limit whose larger values pass more pairs, with the reject reason for other pairs."""
    return {REJECTS: reason}


ONLY_IN_RUNS: Marks = {"only_in_runs": True}
"""Marks an option of word alignment for workers and shards, which commands do not have."""

IN_SHORT = "in_short"
"""The mark that `in_short` makes."""


def in_short(text: str) -> Marks:
    """Mark an option with a shorter help text for the first screen of help."""
    return {IN_SHORT: text}


NOT_BY = "not_by"
"""The mark that `not_by` makes."""


def not_by(**why: str) -> Marks:
    """Mark an option that some methods of a job do not take, with a reason for each method."""
    reasons: dict[str, JsonValue] = {**why}
    return {NOT_BY: reasons}


def reasons_of(kind: type[pydantic.BaseModel], method: str) -> dict[str, str]:
    """Return the options of a class that a method does not take, each with the reason."""
    reasons = {name: mark_of(field, NOT_BY) for name, field in kind.model_fields.items()}
    return {
        name: str(why[method])
        for name, why in reasons.items()
        if isinstance(why, dict) and method in why
    }


NOT_AT_NIGHT = "not_at_night"
"""The mark that `not_at_night` makes."""


def not_at_night(why: str) -> Marks:
    """Mark an option that the file of a nightly refresh may not have, with the reason."""
    return {NOT_AT_NIGHT: why}


VALUES_NOT_AT_NIGHT = "values_not_at_night"
"""The mark that `values_not_at_night` makes."""


def values_not_at_night(**why: str) -> Marks:
    """Mark an option with the values that a nightly refresh does not take, and their reasons."""
    reasons: dict[str, JsonValue] = {**why}
    return {VALUES_NOT_AT_NIGHT: reasons}


NOT_IN_STEPS = "not_in_steps"
"""The mark that `not_in_steps` makes."""


def not_in_steps(why: str) -> Marks:
    """Mark an option that a step of a recipe may only have with its default, with the reason."""
    return {NOT_IN_STEPS: why}


SET_BY_CALLER: Marks = {"set_by_caller": True}
"""Marks an option that a job in a file of several jobs does not have: the command sets it."""

_LISTED_AFTER = "listed_after"
_LISTED_BEFORE = "listed_before"


def listed_after(name: str) -> Marks:
    """Mark an option that is listed after another one, in classes that have both."""
    return {_LISTED_AFTER: name}


def listed_before(name: str) -> Marks:
    """Mark an option that is listed before another one, in classes that have both."""
    return {_LISTED_BEFORE: name}


def in_order(fields: Mapping[str, FieldInfo]) -> list[str]:
    """Return the names of options in the order in which help lists them.

    This is the order of declaration, base classes first, except for options that are marked by
    `listed_after` or `listed_before`.
    """
    beside: dict[tuple[str, str], list[str]] = {}
    unmarked = []
    for name, field in fields.items():
        for side in (_LISTED_BEFORE, _LISTED_AFTER):
            other = mark_of(field, side)
            if other in fields:
                beside.setdefault((side, str(other)), []).append(name)
                break
        else:
            unmarked.append(name)

    def listed(names: Iterable[str]) -> Iterator[str]:
        for name in names:
            yield from listed(beside.get((_LISTED_BEFORE, name), ()))
            yield name
            yield from listed(beside.get((_LISTED_AFTER, name), ()))

    return list(listed(unmarked))


NOT_OF_FUNCTIONS: Marks = {"not_of_functions": True}
"""Marks an option of files that Python's functions on tables do not have."""

UNLISTED: Marks = {"unlisted": True}
"""Marks an option of files or of long runs that Python's functions take, but that their help does
not list."""


def mark_of(field: FieldInfo, mark: Mapping[str, object] | str) -> JsonValue:
    """Return the value of an option's mark; None if the option does not have the mark."""
    marks = field.json_schema_extra
    if not isinstance(marks, dict):
        return None
    return marks.get(mark if isinstance(mark, str) else next(iter(mark)))


def marked(kind: type[pydantic.BaseModel], *marks: Mapping[str, object] | str) -> frozenset[str]:
    """Return the options of a class that have one of some marks."""
    return frozenset(
        name
        for name, field in kind.model_fields.items()
        if any(mark_of(field, mark) is not None for mark in marks)
    )
