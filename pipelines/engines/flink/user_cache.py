"""The user's cache directory, with what Flink needs between two commands."""

import os
from pathlib import Path

from pairweave.transforms.errors import ConfigError


def cache_directory() -> Path:
    """Return pairweave's folder in the user's cache directory, present or not.

    It is below `XDG_CACHE_HOME`, which by its specification is ignored if it is not absolute.

    Raises:
        ConfigError: The user has no home directory, as in a container with an unknown user.
    """
    given = os.environ.get("XDG_CACHE_HOME", "")
    if Path(given).is_absolute():
        return Path(given, "pairweave")
    try:
        return Path.home() / ".cache" / "pairweave"
    except RuntimeError as error:
        raise ConfigError(
            "this user has no home directory for the cache of Flink's files: set HOME, or "
            "XDG_CACHE_HOME to the full path of a directory"
        ) from error
