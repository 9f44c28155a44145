"""One line with all settings that determine a result."""

import re
from collections.abc import Mapping
from typing import Any

_DIGEST = re.compile(r"(?:(?P<kind>[a-z0-9_]+):)?(?P<short>[0-9a-f]{12})[0-9a-f]{52}")
"""Pattern of a SHA-256, optionally preceded by the kind of thing that was hashed."""


class InFull(str):
    """A setting that a signature gives in full, even if it looks like a digest."""

    __slots__ = ()


class Counted(list[Any]):
    """A list of which only the length is in a signature."""

    __slots__ = ()


def signature(settings: Mapping[str, object], version: str) -> str:
    """Join settings and the version, sorted by name, as sacreBLEU does (Post 2018).

    >>> signature({"sym": "grow-diag", "layer": 8, "seed": 13}, "1.4.0")
    'layer:8|seed:13|sym:grow-diag|v:1.4.0'
    """
    named = {**settings, "v": version}
    return "|".join(f"{name}:{_text(named[name])}" for name in sorted(named))


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ",".join(str(item) for item in value) or "none"
    return "none" if value is None else str(value)


def flat_configuration(settings: dict[str, object]) -> dict[str, object]:
    """Return settings for a signature, with digests shortened to 12 characters."""
    flat: dict[str, object] = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            flat |= {f"{name}.{key}": each for key, each in value.items()}
        else:
            flat[name] = value
    return {name: _shortened(value) for name, value in flat.items()}


def _shortened(value: object) -> object:
    """Return a setting with its digests shortened, also digests of files or with a kind."""
    if isinstance(value, Counted):
        return len(value)
    if isinstance(value, list):
        is_files = all(isinstance(each, dict) and "sha256" in each for each in value)
        return [each["sha256"][:12] for each in value] if is_files else value
    if isinstance(value, str) and not isinstance(value, InFull):
        digest = _DIGEST.fullmatch(value)
        if digest:
            return f"{digest['kind']}-{digest['short']}" if digest["kind"] else digest["short"]
    return value
