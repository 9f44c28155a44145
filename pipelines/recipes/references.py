"""References in a recipe: ``{from: STEP}`` in place of an input or a model."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard

from pairweave.pipelines.aligners.aligner_registry import aligner_of
from pairweave.pipelines.aligners.job_aligner import JobAligner
from pairweave.pipelines.options.base import GraphOptions, PlannedOptions
from pairweave.pipelines.recipes.step import Step
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.planning import earlier_run
from pairweave.transforms.storage import files

Values = dict[str, Any]
Reference = Mapping[str, object]


def put_paths(values: Values, find: Callable[[Reference], Step]) -> tuple[Values, tuple[str, ...]]:
    """Replace references to steps by their directories.

    Args:
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

    values = _with_input(values, step_of)
    if "earlier" in values:
        values["earlier"] = [
            _output_of("earlier", step_of("earlier", entry)) if _is_reference(entry) else entry
            for entry in _listed(values["earlier"])
        ]
    if _is_reference(values.get("model")):
        values["model"] = _model_of(step_of("model", values["model"]))
    if isinstance(values.get("corpora"), list):
        values["corpora"] = [
            _with_input(entry, step_of) if isinstance(entry, dict) else entry
            for entry in values["corpora"]
        ]
    for key, value in values.items():
        if any(map(_is_reference, _listed(value))):
            raise ConfigError(f"{key}: only input, model and earlier can be {{from: STEP}}")
    return values, tuple(read)


def _is_reference(value: object) -> TypeGuard[Reference]:
    return isinstance(value, dict) and "from" in value


def _listed(value: object) -> Iterable[object]:
    return value if isinstance(value, list) else (value,)


def _with_input(values: Values, step_of: Callable[[str, Reference], Step]) -> Values:
    """Return the keys of a job or corpus, with steps among its inputs as ``from_run``."""
    inputs = list(_listed(values.get("input", [])))
    references = [entry for entry in inputs if isinstance(entry, dict) and "from" in entry]
    if not references:
        return dict(values)
    runs = [*_listed(values.get("from_run", []))]
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
    if getattr(step.options, "annotate_only", False):
        raise ConfigError(
            f"{key}: the step {step.name} has annotate_only, so its rows include pairs that a run "
            "would reject; leave annotate_only out there"
        )
    return step.options.output


def _model_of(step: Step) -> str:
    """Return the directory of the model that a step makes.

    Raises:
        ConfigError: It makes no model.
    """
    options = step.options
    if isinstance(options, PlannedOptions) and not options.WRITES_ROWS:
        return options.output
    aligner = aligner_of(options)
    fits = type(aligner).fit is not JobAligner.fit and options.given_model is None
    if not (fits and isinstance(options, GraphOptions) and options.aligns):
        raise ConfigError(
            f"model: the step {step.name} makes no model"
            + (
                f"; it has {options.given_model}, which you can give here too"
                * bool(options.given_model)
            )
        )
    return files.join(options.output, aligner.model_name(options))
