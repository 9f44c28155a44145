"""One line with all settings that determine a result."""

from collections.abc import Mapping
from typing import Any


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
