"""The rules that pairs must pass: those of ``filter``, and of the block ``filter:`` of other jobs.

The block names a detector and rules of other packages, too.
"""

import dataclasses

from pairweave.models.hmm import hmm_reference
from pairweave.models.hmm.pair_scores import scoring_models
from pairweave.models.learned_languages import Learned
from pairweave.pipelines.job_options.filter_options import FilterJobOptions
from pairweave.pipelines.parts.part import Part, Planning, Settled, files_facts
from pairweave.pipelines.steps.scoring_pairs import Minimum
from pairweave.transforms.filtering import detectors
from pairweave.transforms.filtering.plugin_rules import PlannedRule, plan_rules, rule_settings
from pairweave.transforms.filtering.rule_block import RuleBlock, RuleBlockOptions
from pairweave.transforms.filtering.rule_options import RuleOptions
from pairweave.transforms.filtering.rules import RuleConfig, rule_config
from pairweave.transforms.filtering.score import read_weights


def check_detector(name: str) -> None:
    """Load a detector now, before a worker does.

    Raises:
        ConfigError: It is not installed.
    """
    if name != "none":
        detectors.load(name)


def detector_settings(name: str) -> dict[str, object]:
    """Return the plan's entries for a detector: the digest of its file, and its version."""
    if name == "none":
        return {"detector": name}
    kind, colon, path = name.partition(":")
    digest = files_facts([path])[0]["sha256"] if path else ""
    return {"detector": kind + colon + digest, "detector_version": detectors.version(name)}


def _check_rules(options: FilterJobOptions) -> tuple[PlannedRule, ...]:
    """Check that the detector is installed; load the plugins and hash their code."""
    check_detector(options.detector)
    return plan_rules(options.plugin_rules)


def _plan_rules(options: FilterJobOptions, planning: Planning) -> Settled[RuleConfig]:
    """Hash the detector's file, if it has one."""
    plugins: tuple[PlannedRule, ...] = planning.checked[RULES.name]
    settings = detector_settings(options.detector)
    config = rule_config(options, str(settings["detector"]), plugins)
    if plugins:
        settings["plugin_rules"] = rule_settings(plugins)
    packages = tuple(rule.plugin.distribution for rule in plugins)
    return Settled(config, settings=settings, packages=packages)


RULES = Part("rules", _plan_rules, check=_check_rules)
"""The rules of ``filter``: the detector is that of the plan, which has its file's digest."""


_OF_SCORE = frozenset(RuleBlock.model_fields.keys() - RuleOptions.model_fields.keys())
"""Keys that are in the plan only if pairs are scored."""


@dataclasses.dataclass(frozen=True)
class PlannedRules:
    """The rules that are applied after the screen.

    Attributes:
        config: Their limits, with the detector that the plan names.
        minimum: The minimum score of a pair that passes them; None if there is none.
    """

    config: RuleConfig
    minimum: Minimum | None


def _check_rule_block(options: RuleBlockOptions) -> tuple[PlannedRule, ...]:
    """Check that the detector is installed and that the model can score; load the plugins."""
    block = options.filter
    if block is None:
        return ()
    if block.score_model is not None:
        scoring_models(hmm_reference.named(block.score_model))
    check_detector(block.detector)
    return plan_rules(block.plugin_rules)


def _plan_rule_block(options: RuleBlockOptions, planning: Planning) -> Settled[PlannedRules | None]:
    """Find the model of the minimum score, if there is one."""
    block = options.filter
    if block is None:
        return Settled(None)
    detector = detector_settings(block.detector)
    left_out = {*_OF_SCORE, "plugin_rules"}
    plugins: tuple[PlannedRule, ...] = planning.checked[RULE_BLOCK.name]
    settings = block.model_dump(mode="json", exclude=left_out) | detector
    # Without nesting, so that the signature names each setting.
    settings |= {f"plugin_rules.{name}": each for name, each in rule_settings(plugins).items()}
    config = rule_config(block, detector["detector"], plugins)
    packages = tuple(rule.plugin.distribution for rule in plugins)
    if block.min_score is None or block.score_model is None:
        result = PlannedRules(config, None)
        return Settled(result, settings={"filter": settings}, packages=packages)
    model = hmm_reference.named(block.score_model)
    settings |= {
        "min_score": block.min_score,
        "score_model": model.digest,
        "score_weights": read_weights().digest,
    }
    about = hmm_reference.load(model).about
    return Settled(
        PlannedRules(config, Minimum(block.min_score, model)),
        settings={"filter": settings},
        models=(model,),
        packages=packages,
        learned=(Learned("filter.score_model", model.directory, "a model", about, refused=True),),
    )


RULE_BLOCK = Part("rule_block", _plan_rule_block, check=_check_rule_block)
"""The rules; None if a job has no block. Their kernels are loaded only if it has one."""
