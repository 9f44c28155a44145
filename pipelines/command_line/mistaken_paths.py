"""Checks for paths on this disk that are probably meant as something else."""

import re

import pydantic

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_places import places_of
from pairweave.transforms.storage import hub_places, object_stores

_SCHEMES = (*object_stores.SCHEMES, hub_places.SCHEME.removesuffix("://"), "http", "https", "file")
_ONE_SLASH = re.compile(rf"({'|'.join(_SCHEMES)}):/(?!/)", re.IGNORECASE)
_HOME = re.compile("~[^/]*(/|$)")


def check(options: pydantic.BaseModel) -> None:
    """Check the paths among a command's options.

    No path may begin with a scheme and one slash. No output may begin with ``~``, which a shell
    leaves as it is in quotes, in a file and after ``=``.

    Raises:
        ConfigError: A path does; names the option and what to give.
    """
    for place in places_of(options):
        near = _ONE_SLASH.match(place.path)
        if near is not None:
            rest = place.path[near.end() :]
            meant = f"/{rest}" if near[1].lower() == "file" else f"{near[1]}://{rest}"
            raise ConfigError(
                f"--{place.option} {place.path}: has one slash after {near[1]}: and would be a "
                f"path on this disk; give {meant}, or ./{place.path} if you mean a folder named "
                f"{near[1]}:"
            )
        if place.use.is_written and _HOME.match(place.path):
            raise ConfigError(
                f"--{place.option} {place.path}: begins with ~, which would be the name of a "
                f"folder here; give the whole path, or ./{place.path} if you mean that folder"
            )
