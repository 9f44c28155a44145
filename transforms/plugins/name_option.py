"""Options whose value is a name: one of pairweave's own, or an installed plugin's."""

from typing import Any

import pydantic

from pairweave.transforms.option_places import Metavar
from pairweave.transforms.plugins.entry_points import known_name
from pairweave.transforms.plugins.plugin_kind import PluginKind, names_one


def own_or_plugin(kind: PluginKind, own: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the annotations of such an option: its check, its help, and the plugin it may name.

    Args:
        kind: The kind of plugins.
        own: pairweave's own names that the option takes.
    """

    def check(name: str | None) -> str | None:
        return None if name is None else known_name(kind, name, own)

    return (
        pydantic.AfterValidator(check),
        names_one(kind),
        Metavar("{" + ",".join(own) + "}"),
    )
