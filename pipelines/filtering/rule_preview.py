"""``filter --preview N``: show the results of the rules for the first pairs, without a run."""

import pyarrow as pa

from pairweave.pipelines.aligners.aligner_choice import choose_aligner
from pairweave.pipelines.job_options.filter_options import FilterJobOptions
from pairweave.pipelines.options.corpora import corpora_of
from pairweave.pipelines.parts.screen_part import screen_of
from pairweave.pipelines.process import terminal
from pairweave.transforms import schemas
from pairweave.transforms.config import pick
from pairweave.transforms.filtering.plugin_rules import plan_rules
from pairweave.transforms.filtering.rule_preview import preview_lines
from pairweave.transforms.filtering.rules import RuleConfig
from pairweave.transforms.formats.registry import read_first
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.screen import screen
from pairweave.transforms.units import ReadLimits


def show(options: FilterJobOptions, pairs: int) -> int:
    """Print the results of the screen and the rules for the first pairs of each corpus.

    The input is planned as for a run, so it is read once; nothing is written.

    Raises:
        ConfigError: The options or the input cannot be used.
    """
    limits = pick(ReadLimits, options)
    config_of_rules = pick(RuleConfig, options, plugins=plan_rules(options.plugin_rules))
    plan = make_plan(corpora_of(options), limits, options.unit_rows)
    _, tokens = choose_aligner(options)
    config = screen_of(options, tokens)
    if tokens is None:
        config = config.before_training()
    batches = [screen(batch, config) for batch in read_first(plan.units, limits, pairs)]
    rows = pa.Table.from_batches(batches, schemas.ROWS).unify_dictionaries()
    for line in preview_lines(rows, config_of_rules):
        terminal.say(line)
    return 0
