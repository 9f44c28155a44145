"""Says what a directory without a run is instead."""

from pairweave.transforms.storage import files

RECIPE = "_recipe.json"
"""The summary of a recipe."""

_FIRST_NIGHT = ("_refresh", "nights", "00000001.json")


def what_is_here(directory: str) -> str:
    """Return the end of the message about a directory without a run: what it is, what to give."""
    if files.exists(files.join(directory, RECIPE)):
        return "; it is the output of a recipe, so give the directory of one of its steps"
    if files.exists(files.join(directory, *_FIRST_NIGHT)):
        return "; it is a table of refresh, and pairweave refresh --help lists the commands for it"
    return ""
