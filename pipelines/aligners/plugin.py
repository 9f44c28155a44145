"""Word aligners of other packages, by the names of their entry points."""

import functools
from typing import TYPE_CHECKING

from pairweave.pipelines.aligners.job_aligner import JobAligner
from pairweave.pipelines.options.base import WordAlignerOptions
from pairweave.transforms.plugins.entry_points import Plugin, installed, plan_plugin
from pairweave.transforms.plugins.plugin_kind import NamesPlugins
from pairweave.transforms.plugins.word_aligner import ALIGNER

if TYPE_CHECKING:
    from pairweave.pipelines.aligners.job_aligner import Chosen

PLUGIN_ALIGNERS = NamesPlugins(
    ALIGNER, lambda value: () if value in ALIGNER.built_in else (str(value),)
)
"""Marks an option whose value is the name of an aligner, of this package or another."""


class PluginJobAligner(JobAligner):
    """An aligner of another package, whose name is that of its entry point."""

    def __init__(self, name: str) -> None:
        """Set the name."""
        self.name = name  # type: ignore[misc]  # that of the class, in classes with one instance

    def find(self, options: WordAlignerOptions) -> "Chosen":
        """Return the aligner, loaded here once, to report its faults before the run."""
        from pairweave.models.plugin_aligner import PluginAligner
        from pairweave.pipelines.aligners.token_choice import known_tokens

        return PluginAligner(self._plugin), known_tokens(options)

    def settings(self, options: WordAlignerOptions) -> dict[str, object]:
        """Return its entries in a plan: the package, and the hash of its code."""
        plugin = self._plugin
        return {
            "aligner_plugin": {
                "distribution": f"{plugin.distribution} {plugin.version}",
                "entry_point": plugin.value,
                "code": plugin.sha256,
            }
        }

    def needed(self, options: WordAlignerOptions) -> tuple[str, ...]:
        """Return the distribution that contains it."""
        return (self._plugin.distribution,)

    @functools.cached_property
    def _plugin(self) -> Plugin:
        """The plugin; its code is read and hashed once."""
        return plan_plugin(ALIGNER, self.name, "--aligner")[0]


def known_aligner(name: str, built_in: tuple[str, ...]) -> str:
    """Check that an aligner has this name; entry points are read unless this package has it.

    Args:
        name: The name.
        built_in: The aligners of this package that the option may name.

    Raises:
        ValueError: There is no such aligner.
    """
    if name in built_in:
        return name
    others = sorted({each.name for each in installed(ALIGNER)} - ALIGNER.built_in)
    if name not in others:
        more = f" (installed: {', '.join(others)})" if others else ""
        raise ValueError(
            f"no such aligner; expected one of {', '.join(built_in)}, or one of an installed "
            f"package{more}"
        )
    return name
