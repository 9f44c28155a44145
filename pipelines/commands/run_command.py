"""The command ``run``: the jobs of a recipe, one after the other."""

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence

import yaml

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.command_line.command_table import job_of
from pairweave.pipelines.engines import engine_flags, engines
from pairweave.pipelines.engines.local import worker
from pairweave.pipelines.process import terminal
from pairweave.pipelines.recipes import rejected_share, summary
from pairweave.pipelines.recipes.recipe import read_recipe
from pairweave.pipelines.recipes.recipe_options import RecipeOptions
from pairweave.pipelines.recipes.step import Step
from pairweave.transforms.errors import (
    ClaimedError,
    ConfigError,
    FullError,
    PairweaveError,
    SetAsideError,
    WorkerError,
)
from pairweave.transforms.output import run_files
from pairweave.transforms.output.documents.manifest_model import read_manifest
from pairweave.transforms.storage import files


def main(name: str, arguments: Sequence[str]) -> int:
    """Run a recipe from the command line."""
    options, extra = flags.parse_command(RecipeOptions, name, arguments)
    path = options.config
    files.check_store(options.output)
    steps = read_recipe(path, options.output, options.of_engine(), options.max_rejected)
    used = {getattr(step.options, "engine", "local") for step in steps}
    engine_flags.check_used(used, engine_flags.given_options(extra))
    if options.plan_only:
        return max([_show(path, number, steps, extra) for number in range(len(steps))])
    if any(engines.forks_workers(getattr(step.options, "engine", ""), extra) for step in steps):
        worker.prepare_forks()  # Do this before a step starts a thread.
    for number, step in enumerate(steps):
        _say_step(number, steps)
        with _named(path, step, steps):
            _start(step, extra)
            _check_rejected(step)
    terminal.say("\n" + "\n".join(summary.write(options.output, steps)))
    return 0


def _start(step: Step, extra: Sequence[str]) -> int:
    """Run a step as its job does; return the exit status."""
    return int(job_of(step.job).start(step.options, extra))


def _check_rejected(step: Step) -> None:
    """Stop if a step rejected most of its input.

    Raises:
        ConfigError: It rejected more than the recipe allows, or its manifest is damaged.
    """
    output = step.options.output
    manifest = read_manifest(files.join(output, run_files.MANIFEST))
    rejected_share.check(step.job, manifest, step.max_rejected, output)


def _show(path: str, number: int, steps: Sequence[Step], extra: Sequence[str]) -> int:
    """Print the plan of a step, or its options if a step that it reads from has not run."""
    step = steps[number]
    _say_step(number, steps)
    directories = {each.name: each.options.output for each in steps}
    missing = [
        name
        for name in step.reads
        if not files.exists(files.join(directories[name], run_files.MANIFEST))
    ]
    if not missing:
        with _named(path, step, steps):
            options = step.options.model_copy(update={"plan_only": True})
            return _start(dataclasses.replace(step, options=options), extra)
    set_options = step.options.model_dump(mode="json", exclude_unset=True)
    text = yaml.safe_dump(set_options, sort_keys=True, allow_unicode=True)
    lines = [f"reads from {', '.join(missing)}, which has not run; its options"]
    terminal.say("\n".join([*lines, *(f"  {line}" for line in text.splitlines())]))
    return 0


def _say_step(number: int, steps: Sequence[Step]) -> None:
    step = steps[number]
    gap = "\n" if number else ""
    place = f"{gap}step {number + 1} of {len(steps)}: {step.name}"
    terminal.say(place if step.name == step.job else f"{place} ({step.job})")


@contextlib.contextmanager
def _named(path: str, step: Step, steps: Sequence[Step]) -> Iterator[None]:
    """Prefix the message of an error with the recipe and the step."""
    place = f"{path}: step {step.name}"
    try:
        yield
    except ClaimedError as error:
        again = [dependent.options.output for dependent in _made_from(step, steps)]
        raise ConfigError(
            f"{place}: {error}. To make this step again, delete {' and '.join(again)}"
        ) from error
    except ConfigError as error:
        raise ConfigError(f"{place}: {error}") from error
    except SetAsideError as error:
        raise SetAsideError(f"{place}: {error}") from error
    except FullError as error:
        raise FullError(f"{place}: {error}") from error
    except PairweaveError as error:
        raise WorkerError(f"{place}: {error}") from error


def _made_from(step: Step, steps: Sequence[Step]) -> list[Step]:
    """Return a step and all steps that read from it, directly or indirectly."""
    dependents = {step.name: step}
    for candidate in steps:
        if not dependents.keys().isdisjoint(candidate.reads):
            dependents[candidate.name] = candidate
    return [
        candidate for candidate in dependents.values() if files.list_names(candidate.options.output)
    ]
