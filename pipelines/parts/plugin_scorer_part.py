"""The scorer of another package that ``filter`` uses."""

from pairweave.models.similarity.similarity_options import SimilarityOptions
from pairweave.pipelines.job_options.filter_options import FilterJobOptions
from pairweave.pipelines.parts.part import Part, Planning, Settled
from pairweave.transforms.plugins.entry_points import Plugin, plan_plugin
from pairweave.transforms.plugins.pair_scorer import SCORER


class PluginScorerPart(Part[FilterJobOptions, Plugin | None]):
    """The scorer; None if it is one of pairweave's own, and then no entry point is read."""

    name = "plugin_scorer"
    options = SimilarityOptions

    def check(self, options: FilterJobOptions) -> Plugin | None:
        """Load the scorer, so that its faults are found before the input is read."""
        if not options.scored_by_plugin:
            return None
        return plan_plugin(SCORER, options.scorer, "--scorer")[0]

    def plan(self, options: FilterJobOptions, planning: Planning) -> Settled[Plugin | None]:
        """Settle the scorer that the check found."""
        plugin: Plugin | None = planning.checked[self.name]
        if plugin is None:
            return Settled(None)
        return Settled(
            plugin,
            settings={"scorer": plugin.name, "scorer_plugin": plugin.facts},
            packages=(plugin.distribution,),
        )


PLUGIN_SCORER = PluginScorerPart()
