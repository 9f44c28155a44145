"""Checks that a path is not almost the URI of a store, which would be a folder of that name."""

import re

import pydantic

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_places import places_of
from pairweave.transforms.storage import hub_places, object_stores

_SCHEMES = (*object_stores.SCHEMES, hub_places.SCHEME.removesuffix("://"), "http", "https", "file")
_ONE_SLASH = re.compile(rf"({'|'.join(_SCHEMES)}):/(?!/)", re.IGNORECASE)


def check(options: pydantic.BaseModel) -> None:
    """Check that no path among a command's options begins with a scheme and one slash.

    Raises:
        ConfigError: A path does; names the option and what to give.
    """
    for place in places_of(options):
        near = _ONE_SLASH.match(place.path)
        if near is None:
            continue
        rest = place.path[near.end() :]
        meant = f"/{rest}" if near[1].lower() == "file" else f"{near[1]}://{rest}"
        raise ConfigError(
            f"--{place.option} {place.path}: has one slash after {near[1]}: and would be a path on "
            f"this disk; give {meant}, or ./{place.path} if you mean a folder named {near[1]}:"
        )
