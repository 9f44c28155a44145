"""Checks of the place of workers that a user names: ``--environment_type`` and its configuration.

Beam reads them when the job is sent, after the input was read, and the engine only when it starts
the workers.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from pairweave.transforms.errors import ConfigError

_KINDS = ("DOCKER", "EXTERNAL", "LOOPBACK", "PROCESS")
_URN = "beam:"
_OTHERWISE = ("environment_option", "environment_options")
"""Options of Beam that give the same as a configuration."""

_ADDRESS = re.compile(r"(\w+://)?[^\s/]+:\d{1,5}/?")

_CONFIGURATIONS = {
    "EXTERNAL": ("url", "HOST:PORT of the worker pool next to each task manager"),
    "PROCESS": ("command", """'{"command": "PROGRAM"}', the program that starts a worker"""),
}
"""For each kind that needs a configuration: the key of its JSON, and what is expected."""


def check(values: Mapping[str, str]) -> None:
    """Check the place of workers, without any request.

    Args:
        values: Values of the user's Beam options, by name.

    Raises:
        ConfigError: It has a kind that Beam does not know, or lacks its configuration.
    """
    kind, config = values.get("environment_type"), values.get("environment_config")
    if kind is None:
        if config is not None:
            raise ConfigError(
                f"--environment_config {config}: give --environment_type too, such as EXTERNAL for "
                "a worker pool or PROCESS for a program"
            )
        return
    if kind.upper() not in _KINDS and not kind.startswith(_URN):
        raise ConfigError(f"--environment_type {kind}: expected one of {', '.join(_KINDS)}")
    if kind.upper() not in _CONFIGURATIONS or not values.keys().isdisjoint(_OTHERWISE):
        return
    key, expected = _CONFIGURATIONS[kind.upper()]
    if config is None:
        raise ConfigError(f"--environment_type {kind}: needs --environment_config={expected}")
    is_address = kind.upper() == "EXTERNAL" and _ADDRESS.fullmatch(config)
    if not is_address and not _field(config, key):
        raise ConfigError(f"--environment_config {config}: expected {expected}")


def _field(text: str, key: str) -> Any:  # noqa: ANN401 - any JSON
    """Return a field of a JSON object; None if the text is something else."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value.get(key) if isinstance(value, dict) else None
