"""References in a recipe: ``{from: STEP}`` in place of an input or a model."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

import pydantic
from pydantic.fields import FieldInfo

from pairweave.pipelines.aligners.aligner_registry import aligner_of
from pairweave.pipelines.options.base import GraphOptions, PlannedOptions
from pairweave.pipelines.recipes.step import Step
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_places import Use, block_of, role_of
from pairweave.transforms.planning import earlier_run
from pairweave.transforms.storage import files

Values = dict[str, Any]
Reference = Mapping[str, object]


def put_paths(
    kind: type[PlannedOptions], values: Values, find: Callable[[Reference], Step]
) -> tuple[Values, tuple[str, ...]]:
    """Replace references to steps by their directories.

    Args:
        kind: The options of the job.
        values: The keys of a step.
        find: Returns the step that a reference means.

    Returns:
        The keys of the job, and the names of the steps that it reads from.

    Raises:
        ConfigError: A key cannot have a reference, or its step does not write what the key needs.
    """
    read: dict[str, None] = {}

    def step_of(key: str, reference: Reference) -> Step:
        try:
            step = find(reference)
        except ConfigError as error:
            raise ConfigError(f"{key}: {error}") from error
        read[step.name] = None
        return step

    return _with_paths(kind, values, step_of), tuple(read)


def _with_paths(
    kind: type[pydantic.BaseModel], values: Values, step_of: Callable[[str, Reference], Step]
) -> Values:
    """Return the keys of a job or of a block of it, with directories in place of steps.

    Steps are looked up in the order of `_order`, which a summary shows.
    """
    values = _with_input(values, step_of)
    fields = {key: kind.model_fields[key] for key in values if key in kind.model_fields}
    for key in sorted(fields, key=lambda key: _order(fields[key])):
        value, inner = values[key], block_of(fields[key])
        if inner is not None:
            blocks = [
                _with_paths(inner, entry, step_of) if isinstance(entry, dict) else entry
                for entry in listed(value)
            ]
            values[key] = blocks if isinstance(value, list) else blocks[0]
        if any(map(_is_reference, listed(value))):
            find = functools.partial(step_of, key)
            paths = [
                _path_of(key, fields[key], find, entry) if _is_reference(entry) else entry
                for entry in listed(value)
            ]
            values[key] = paths if len(paths) > 1 else paths[0]
    return values


def _names_runs(field: FieldInfo) -> bool:
    role = role_of(field)
    return role is not None and role.use in (Use.RUNS, Use.EARLIER)


def _order(field: FieldInfo) -> int:
    """Return the rank of an option: first options that name runs, then others, then blocks."""
    return 0 if _names_runs(field) else 1 if block_of(field) is None else 2


def _path_of(
    key: str, field: FieldInfo, find: Callable[[Reference], Step], reference: Reference
) -> str:
    """Return the path that an option needs from a step: that of its rows or of its model.

    Raises:
        ConfigError: The option names neither rows nor a model, or its text has more than a
            reference.
    """
    role = role_of(field)
    if _names_runs(field):
        return _output_of(key, find(reference))
    if role is None or role.use is not Use.MODEL or not role.is_whole:
        raise ConfigError(
            f"{key}: only input and options that name a run or a model can be {{from: STEP}}"
        )
    return _model_of(key, find(reference))


def _is_reference(value: object) -> TypeGuard[Reference]:
    return isinstance(value, dict) and "from" in value


def listed(value: object) -> Sequence[object]:
    """Return the values of a key: those of a list, or the only one."""
    return value if isinstance(value, list) else (value,)


def _with_input(values: Values, step_of: Callable[[str, Reference], Step]) -> Values:
    """Return the keys of a job or corpus, with steps among its inputs as ``from_run``."""
    inputs = list(listed(values.get("input", [])))
    references = [entry for entry in inputs if _is_reference(entry)]
    if not references:
        return dict(values)
    runs = [*listed(values.get("from_run", []))]
    runs += [_output_of("input", step_of("input", reference)) for reference in references]
    rest = [entry for entry in inputs if entry not in references]
    values = {key: value for key, value in values.items() if key != "input"}
    return {**values, "from_run": runs, **({"input": rest} if rest else {})}


def _output_of(key: str, step: Step) -> str:
    """Return the directory of a step whose rows are pairs.

    Raises:
        ConfigError: They are not pairs, or include pairs that are not kept.
    """
    if step.job not in earlier_run.JOBS:
        raise ConfigError(
            f"{key}: the step {step.name} is {step.job}, whose output cannot be read as pairs; "
            f"that of {', '.join(earlier_run.JOBS[:-1])} and {earlier_run.JOBS[-1]} can"
        )
    if step.options.writes_every_pair:
        raise ConfigError(
            f"{key}: the step {step.name} has annotate_only, so its rows include pairs that a run "
            "would reject; leave annotate_only out there"
        )
    return step.options.output


def _model_of(key: str, step: Step) -> str:
    """Return the directory of the model that a step makes.

    Raises:
        ConfigError: It makes no model.
    """
    options = step.options
    if not options.WRITES_ROWS:
        return options.output
    aligner = aligner_of(options)
    fits = aligner.can_fit and options.given_model is None
    if not (fits and isinstance(options, GraphOptions) and options.aligns):
        raise ConfigError(
            f"{key}: the step {step.name} makes no model"
            + (
                f"; it has {options.given_model}, which you can give here too"
                * bool(options.given_model)
            )
        )
    return files.join(options.output, aligner.model_name(options))
