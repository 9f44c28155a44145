"""Word aligners of other packages, by the names of their entry points."""

import functools

from pairweave.pipelines.aligners.job_aligner import Chosen, JobAligner
from pairweave.pipelines.options.base import WordAlignerOptions
from pairweave.transforms.plugins.entry_points import Plugin, plan_plugin
from pairweave.transforms.plugins.word_aligner import ALIGNER


class PluginJobAligner(JobAligner):
    """An aligner of another package, named after its entry point."""

    def __init__(self, name: str) -> None:
        self.name = name  # type: ignore[misc]  # that of the class, in classes with one instance

    def find(self, options: WordAlignerOptions) -> Chosen:
        """Load the aligner once, so that its faults are reported before the run, and return it."""
        from pairweave.models.plugin_aligner import PluginAligner
        from pairweave.pipelines.aligners.token_choice import known_tokens

        return PluginAligner(self._plugin), known_tokens(options)

    def settings(self, options: WordAlignerOptions) -> dict[str, object]:
        """Return its entries in a plan: the package, and the hash of its code."""
        return {"aligner_plugin": self._plugin.facts}

    def needed(self, options: WordAlignerOptions) -> tuple[str, ...]:
        """Return the distribution that contains it."""
        return (self._plugin.distribution,)

    @functools.cached_property
    def _plugin(self) -> Plugin:
        """The plugin; its code is read and hashed once."""
        return plan_plugin(ALIGNER, self.name, "--aligner")[0]
