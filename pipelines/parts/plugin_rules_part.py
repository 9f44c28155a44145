"""The rules of other packages that ``filter`` applies; the block ``filter:`` may name some too."""

from pairweave.pipelines.job_options.filter_options import FilterJobOptions
from pairweave.pipelines.parts.part import Part, Planning, Settled
from pairweave.transforms.filtering.plugin_rules import PlannedRule, plan_rules, rule_settings
from pairweave.transforms.filtering.rule_options import RuleOptions


class PluginRulesPart(Part[FilterJobOptions, tuple[PlannedRule, ...]]):
    """The rules; none if the option is not given, and then no entry point is read."""

    name = "plugin_rules"
    options = RuleOptions

    def check(self, options: FilterJobOptions) -> tuple[PlannedRule, ...]:
        """Load the rules now, and not on a worker, and hash their code."""
        return plan_rules(options.plugin_rules)

    def plan(
        self, options: FilterJobOptions, planning: Planning
    ) -> Settled[tuple[PlannedRule, ...]]:
        """Settle the rules that the check found."""
        planned: tuple[PlannedRule, ...] = planning.checked[self.name]
        if not planned:
            return Settled(())
        return Settled(
            planned,
            settings={"plugin_rules": rule_settings(planned)},
            packages=tuple(rule.plugin.distribution for rule in planned),
        )


PLUGIN_RULES = PluginRulesPart()
