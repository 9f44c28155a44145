"""Checks of engines' Beam options that would otherwise fail, or wait for ever, during the run."""

import re
import urllib.parse
from collections.abc import Mapping
from pathlib import Path

from pairweave.pipelines.engines.flink import session_cluster
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage.reachable import reach

_PLACE = re.compile(r"(?:https?://)?(?P<host>[\w.-]+|\[[0-9a-fA-F:]+\]):(?P<port>\d{1,5})/?")

ENDPOINTS = {
    "job_endpoint": "Beam's job server",
    "flink_master": "the REST address of Flink's job manager",
}
"""Options that give the host and port of a server, each with the name of the server."""


def check(engine: str, values: Mapping[str, str]) -> None:
    """Check the options of an engine before anything is read.

    Args:
        engine: Its name.
        values: Values of the user's Beam options, by name.

    Raises:
        ConfigError: An option is wrong, or nothing listens at the address that it gives.
    """
    if engine == "prism":
        _check_prism(values.get("prism_location"))
    if engine == "flink":
        _check_count("parallelism", values.get("parallelism"))
        for name in ENDPOINTS:
            _check_endpoint(name, values.get(name))


def _check_prism(location: str | None) -> None:
    if location is None or urllib.parse.urlsplit(location).scheme or Path(location).is_file():
        return
    raise ConfigError(
        f"--prism_location {location}: no such file; leave it out to use the one of `make prism`"
    )


def _check_count(name: str, value: str | None) -> None:
    if value is not None and not (value.isdecimal() and int(value)):
        raise ConfigError(f"--{name} {value}: expected a whole number from 1 on")


def _check_endpoint(name: str, value: str | None) -> None:
    if value is None or (name == "flink_master" and value in ("[local]", "[auto]")):
        return
    if name == "flink_master" and session_cluster.find(value) is not None:
        return
    parsed = _PLACE.fullmatch(value)
    if parsed is None:
        raise ConfigError(f"--{name} {value}: expected HOST:PORT of {ENDPOINTS[name]}")
    fault = reach(parsed["host"].strip("[]"), int(parsed["port"]))
    if fault:
        raise ConfigError(f"--{name} {value}: {ENDPOINTS[name]} cannot be reached: {fault}")
