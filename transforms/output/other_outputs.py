"""Outputs that are not those of a run: of a recipe, or a table of `refresh`."""

import os

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output import run_files
from pairweave.transforms.storage import files

RECIPE = "_recipe.json"
"""The file in the directory of a recipe with its steps and their numbers of rows."""

_NIGHTS = ("_refresh", "nights")
_FIRST = "00000001.json"


def is_table(directory: str) -> bool:
    """Tell whether a directory or URI is a table of `refresh`."""
    if files.is_uri(directory):
        return files.exists(files.join(directory, *_NIGHTS, _FIRST))
    return os.path.isdir(os.path.join(directory, *_NIGHTS))  # noqa: PTH112, PTH118 - a string


def what_is_here(directory: str) -> str:
    """Return the end of the message about a directory without a run: what it is, what to give."""
    if files.exists(files.join(directory, RECIPE)):
        return "; it is the output of a recipe, so give the directory of one of its steps"
    if is_table(directory):
        return "; it is a table of refresh, and pairweave refresh --help lists the commands for it"
    return ""


def require_run(directory: str) -> None:
    """Check that a directory or URI is the output of a run, finished or not.

    Raises:
        ConfigError: It has no plan; says what it is instead, if that is known.
    """
    if not files.exists(files.join(directory, run_files.PLAN)):
        what = f"there is no run here: {run_files.PLAN} is missing{what_is_here(directory)}"
        raise ConfigError(f"{directory}: {what}")
