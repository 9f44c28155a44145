"""Checks of a step before the first step runs, by means of the files that already exist."""

import re
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from pairweave.pipelines.aligners.aligner_registry import aligner_of
from pairweave.pipelines.options.base import PlannedOptions
from pairweave.pipelines.options.corpora import check_run_options, corpora_of
from pairweave.pipelines.parts.rule_parts import check_detector
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.filtering.rule_block import RuleBlockOptions
from pairweave.transforms.option_marks import NOT_IN_STEPS, mark_of
from pairweave.transforms.option_places import Use, places_of
from pairweave.transforms.output import run_files
from pairweave.transforms.planning.earlier_run import input_of_run
from pairweave.transforms.storage import files, hashed_files
from pairweave.transforms.storage.hub_places import is_data_set, parse_place

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
"""Pattern of a model's name on a hub: ``NAME`` or ``OWNER/NAME``."""


def check_step(options: PlannedOptions, outputs: Collection[str]) -> None:
    """Check that a step can run once the steps before it have run.

    Args:
        options: Its options.
        outputs: The directories of the steps before it.

    Raises:
        ConfigError: It does not finish a run, lacks an input, or needs a file or directory that is
            missing and that no step makes; names the key.
    """
    _check_finishes(options)
    _check_files(options)
    runs = list(_runs(options))
    for directory in runs:
        if directory not in outputs:
            input_of_run(directory, None, None, {})
    if runs:
        for corpus in options.corpora or (options,):
            check_run_options(corpus, corpus.model_fields_set)
        _check_no_line_file(options)
    else:
        corpora_of(options)
    _check_earlier(options, outputs)
    _check_model(options, outputs)
    block = options.filter if isinstance(options, RuleBlockOptions) else options
    check_detector(getattr(block, "detector", "none"))
    _check_places(options, outputs)


def written_files(options: PlannedOptions) -> Iterator[str]:
    """Yield the paths of the files that a step writes outside its directory."""
    for place in places_of(options):
        if place.use in (Use.BESIDE, Use.BY_LINE):
            yield files.absolute(place.path)


def _runs(options: PlannedOptions) -> Iterator[str]:
    """Yield the finished runs whose rows a step reads."""
    for corpus in (options, *options.corpora):
        yield from getattr(corpus, "from_run", ())


def _check_finishes(options: PlannedOptions) -> None:
    """Refuse options with which a job does not finish a run."""
    for name, field in type(options).model_fields.items():
        why = mark_of(field, NOT_IN_STEPS)
        if why is not None and getattr(options, name) != field.get_default():
            raise ConfigError(f"{name}: {why}; leave it out")


def _check_files(options: PlannedOptions) -> None:
    """Check that the files exist that the step itself reads."""
    for place in places_of(options):
        if place.use is not Use.FILES:
            continue
        if is_data_set(place.path):
            parse_place(place.path)  # the hub itself is asked when the step runs
        elif not files.match(place.path):
            raise ConfigError(f"{place.option}: {place.path}: no file has this name or matches it")


def _check_earlier(options: PlannedOptions, outputs: Collection[str]) -> None:
    """Check that the earlier corpora of ``filter`` exist, unless a step makes them."""
    for place in places_of(options):
        path = place.path
        if place.use is not Use.EARLIER or path in outputs:
            continue
        if not files.exists(files.join(path, run_files.MANIFEST)) and not files.match(path):
            raise ConfigError(f"{place.option}: {path}: no file or finished run has this name")


def _check_places(options: PlannedOptions, outputs: Collection[str]) -> None:
    """Check that single files and directories on a disk exist, unless a step makes them."""
    for name, path, use, on_hub, *_ in places_of(options):
        if use is Use.PROGRAM and shutil.which(path) is None:
            raise ConfigError(f"{name}: {path}: no such executable program")
        if use not in (Use.FILE, Use.MODEL) or files.is_uri(path) or _is_made(path, outputs):
            continue
        if not (on_hub and _HUB_NAME.fullmatch(path)) and not Path(path).expanduser().exists():
            raise ConfigError(f"{name}: {path}: no file or directory has this name")


def _is_made(path: str, outputs: Collection[str]) -> bool:
    """Tell whether a path is in the directory of a step."""
    return any(f"{path}/".startswith(f"{output}/") for output in outputs)


def _check_no_line_file(options: PlannedOptions) -> None:
    for place in places_of(options):
        if place.use is Use.BY_LINE:
            raise ConfigError(
                f"{place.option}: has a line for each line of the input, but the rows of another "
                "step keep the lines of the files that they were first read from; leave it out"
            )


def _check_model(options: PlannedOptions, outputs: Collection[str]) -> None:
    """Check that a fitted aligner exists, unless a step makes it."""
    model = options.given_model
    if model is None or not aligner_of(options).can_fit or _is_made(model, outputs):
        return
    if not files.exists(files.join(model, hashed_files.ABOUT)):
        raise ConfigError(f"model: {model}: no {hashed_files.ABOUT}, so there is no fitted aligner")
