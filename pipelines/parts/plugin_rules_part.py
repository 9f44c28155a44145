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
        return planned_rules(options)

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
            packages=distributions(planned),
        )


def planned_rules(options: RuleOptions) -> tuple[PlannedRule, ...]:
    """Return the rules of other packages that options name.

    Raises:
        ConfigError: One cannot be loaded.
    """
    if not options.plugin_rules:
        return ()
    return plan_rules(options.plugin_rules)


def distributions(planned: tuple[PlannedRule, ...]) -> tuple[str, ...]:
    """Return the distributions that contain rules."""
    return tuple(dict.fromkeys(rule.plugin.distribution for rule in planned))


PLUGIN_RULES = PluginRulesPart()
