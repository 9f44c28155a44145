"""The job ``augment --method glossary``: tags around the terms of a glossary."""

from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.parts.glossary_part import GLOSSARY
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.steps import MapWholeShards, timed
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_marks import reasons_of
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.tags.glossary import Glossary, TermConfig, find_terms
from pairweave.transforms.tags.tag_config import TagConfig


def find_terms_of(run: Run[AugmentOptions], tags: TagConfig) -> MapWholeShards:
    """Return the step that finds terms in symmetrized shards, to be tagged in the given way."""
    terms = pick(TermConfig, tags, share=tags.tagged_share)
    return MapWholeShards(find_on_shard, glossary=run.need(GLOSSARY), terms=terms)


def find_on_shard(shard: Shard, glossary: Glossary, terms: TermConfig) -> Shard:
    """Turn a shard's links into the PHRASES rows of its terms, with their counts."""
    with timed(shard.table.num_rows):
        tagged = find_terms(shard.table, glossary, terms)
        return shard.with_table(tagged.table).with_notes(counts=tagged.counts)


def check_glossary(run: Run[AugmentOptions]) -> None:
    """Refuse options that do not apply to terms, before anything is written.

    Raises:
        ConfigError: There are such options.
    """
    why = reasons_of(AugmentOptions, "glossary")
    for name in sorted(why.keys() & run.options.model_fields_set):
        raise ConfigError(f"--method glossary does not take --{name}: {why[name]}; leave it out")
    if any(unit.inline_tags == "index" for unit in run.plan.units):
        raise ConfigError(
            "--method glossary tags text without tags of its own; give --inline_tags strip"
        )
