"""The settings of a run in the form for people."""

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

Json = Mapping[str, Any]


def used_settings(configuration: Json) -> str:
    """Return the options that made a run as YAML, without those that were not used.

    A 0 is a value like any other.
    """
    settings = {
        name: value
        for name, value in configuration.items()
        if value is not False and value not in (None, [], "")
    }
    return yaml.safe_dump(settings, sort_keys=True, allow_unicode=True)


def flat_settings(value: Json, prefix: str = "") -> Iterable[tuple[str, str]]:
    """Yield nested settings as dotted names and texts, sorted by name."""
    for name, item in sorted(value.items()):
        if isinstance(item, Mapping):
            yield from flat_settings(item, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _text(item)


def _text(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_text(item)}" for name, item in sorted(value.items()))
    if isinstance(value, list | tuple):
        return "; ".join(_text(item) for item in value) or "none"
    return str(value)
