"""Checks that no command writes over what it reads, into a table of `refresh`, or into a run.

The vacuum of a table deletes foreign files, and readers open the rows of a run by their directory.
All options that name an output are checked here, when they are read.
"""

import fnmatch
import glob
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pydantic

from pairweave.pipelines.options.base import PlannedOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_places import Use, places_of
from pairweave.transforms.output import other_outputs, run_files
from pairweave.transforms.storage import files
from pairweave.transforms.storage.hub_places import is_data_set
from pairweave.transforms.storage.whole_files import require_outputs_apart

NIGHT = "refresh"
"""The command whose ``output`` is a table."""

_RUNS = "_runs"

_OWN = re.compile(r"^/_|/part-[0-9a-f]{24}\.parquet$")
"""Files that `refresh` itself writes, by their path below the table."""

_FOLDERS = (run_files.DATA, run_files.REJECTS, run_files.MODELS)
"""Directories below an output that a run or an export writes to."""

_WRITTEN = (*(f"{folder}/*" for folder in _FOLDERS), "_*")
"""Files below an output that a run or an export writes, and that later ones find by patterns."""

_EXAMPLES = (
    *(run_files.PLAN, run_files.MANIFEST, run_files.CARD, "report.html", "symbols.txt"),
    *(run_files.data_name(0, 1), run_files.rejects_name(0, 1)),
    *(f"{run_files.MODELS}/hmm/about.json", run_files.unit_receipt_name(0)),
)
"""A file of each kind that a run writes."""


def check(options: pydantic.BaseModel, *, is_night: bool = False) -> None:
    """Check the outputs among a command's options, without requests to stores.

    Args:
        options: The options.
        is_night: Whether the command is a night of `refresh`, whose output is a table.

    Raises:
        ConfigError: An output is in a table or among the files of a run; names the option and the
            table or the run. Or it is another output, or a file that is read; names it. (Jobs check
            the latter themselves, once their input is planned.)
    """
    places = [place for place in places_of(options) if not files.is_uri(place.path)]
    written = [place for place in places if place.use.is_written]
    for place in written:
        is_table = is_night and place.option == "output"
        require_outside_tables(place.option, place.path, is_table=is_table)
        require_outside_runs(place.option, place.path)
    if not isinstance(options, PlannedOptions):
        read = [place.path for place in places if place.use in (Use.FILE, Use.FILES)]
        require_outputs_apart(
            [path for path in read if not Path(path).is_dir()], [place.path for place in written]
        )


def require_outside_tables(option: str, path: str, *, is_table: bool = False) -> None:
    """Check that an output is not a table of `refresh`, is not inside one, nor writes into one.

    The runs of a night are the exception: a scheduler starts them inside a table, below ``_runs``.

    Args:
        option: The option that names it.
        path: The output: a file or a directory, on a disk or in a store, which is queried.
        is_table: Whether the output is a table, which may exist already.

    Raises:
        ConfigError: The output is such a place; names the table.
    """
    for table, below in _ancestors(path):
        if (is_table and not below) or (below[:1] == [_RUNS] and len(below) > 1):
            continue
        if other_outputs.is_table(table):
            what = "is inside the table of refresh" if below else "is the table of refresh"
            raise ConfigError(
                f"--{option} {path}: {what} {table}, where refresh alone may write and its vacuum "
                "deletes all other files; give a place outside of it"
            )
    for table in () if is_table else (files.join(path, folder) for folder in _FOLDERS):
        if other_outputs.is_table(table):
            raise ConfigError(
                f"--{option} {path}: its files would be written into the table of refresh {table}, "
                "where refresh alone may write; give another directory"
            )


def require_outside_runs(option: str, path: str) -> None:
    """Check that an output is not one of the files of a run, nor in one of its directories.

    Readers open the rows of a run by their directory, so a foreign file there would be read as
    rows, or could not be read. Other names in the directory of a run are the user's own.

    Args:
        option: The option that names it.
        path: The output: a file or a directory, on a disk or in a store, which is queried.

    Raises:
        ConfigError: The output is such a place; names the run.
    """
    for run, below in _ancestors(path):
        if below and run_files.is_own(below[0]) and run_files.is_run(run):
            raise ConfigError(
                f"--{option} {path}: is inside the run {run}, which must stay as its manifest "
                "describes it; give a place outside of it"
            )


def require_no_input_inside(table: str, inputs: Iterable[str]) -> None:
    """Check that a night does not read the files of its own table.

    The user's own files may be in the same directory as those of the table.

    Raises:
        ConfigError: An input is in the table; names it.
    """
    root = _real(table).rstrip("/") + "/"
    for name in inputs:
        real = _real(name)
        if real.startswith(root) and _OWN.search("/" + real.removeprefix(root)):
            raise ConfigError(
                f"{name}: is an input and in the table that the night writes, {table}; give "
                "patterns of input files that match nothing in the table, or another --output"
            )


def require_apart(option: str, path: str, inputs: Iterable[str]) -> None:
    """Check that no input is in a place where files of an output are written.

    Raises:
        ConfigError: An input is in such a place; names it.
    """
    root = _real(path).rstrip("/") + "/"
    for name in inputs:
        real = _real(name)
        below = real.removeprefix(root)
        if below != real and any(fnmatch.fnmatch(below, p) for p in _WRITTEN):
            raise ConfigError(
                f"--{option} {path}: {name} is an input and in a directory that the command "
                "writes to; give another directory, so that no output is among the inputs"
            )


def require_unmatched(option: str, path: str, patterns: Iterable[str]) -> None:
    """Check that no pattern of input files matches what a run is going to write.

    Such a run would read its own files when it is repeated.

    Args:
        option: The option that names the output.
        path: The directory of the output.
        patterns: Names or glob patterns of input files.

    Raises:
        ConfigError: A pattern does; names it.
    """
    root = _real(path).rstrip("/")
    for pattern in patterns:
        if is_data_set(pattern) or not glob.has_magic(pattern):
            continue
        words = _real(pattern).split("/")
        for name in _EXAMPLES:
            if _matches(words, f"{root}/{name}".split("/")):
                raise ConfigError(
                    f"--{option} {path}: the input {pattern} matches files that the command writes "
                    f"there, such as {name}; give another directory, so that no output is among "
                    "the inputs"
                )


def _matches(pattern: list[str], path: list[str]) -> bool:
    """Tell whether a glob pattern matches a path, both cut at slashes."""
    if not pattern or not path:
        return not pattern and not path
    if pattern[0] == "**":
        is_last = len(pattern) == 1
        return is_last or _matches(pattern[1:], path) or _matches(pattern, path[1:])
    return fnmatch.fnmatchcase(path[0], pattern[0]) and _matches(pattern[1:], path[1:])


def _real(path: str) -> str:
    """Return the real place of a file or directory, with all links resolved."""
    return path if files.is_uri(path) else os.path.realpath(path)


def _ancestors(path: str) -> Iterator[tuple[str, list[str]]]:
    """Yield a path and the directories above it, each with the rest of the path below it."""
    if files.is_uri(path):
        scheme, _, rest = path.partition("://")
        words = rest.strip("/").split("/")
        for count in range(len(words), 1, -1):  # the first word is the bucket
            yield f"{scheme}://{'/'.join(words[:count])}", words[count:]
        return
    real = Path(os.path.realpath(path))
    for place in (real, *real.parents):
        yield str(place), list(real.relative_to(place).parts)
