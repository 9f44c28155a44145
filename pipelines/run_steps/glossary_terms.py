"""The job ``augment --method glossary``: tags around the terms of a glossary."""

import functools

import apache_beam as beam

from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.parts.glossary_part import GLOSSARY
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.step_times import timed
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.shards.shard import Shard, Shards
from pairweave.transforms.tags.glossary import Glossary, TermConfig, find_terms
from pairweave.transforms.tags.tag_config import TagConfig

_NO_SCORE = "terms have no score"

UNKNOWN = {
    "draw": _NO_SCORE,
    "max_words": "the glossary sets how long a term is",
    "min_confidence": _NO_SCORE,
    "nesting": "terms that are tagged do not overlap",
    "split_share": "a term is tagged in one part",
    "tag_profile": "lengths, positions and numbers of tags follow from the terms",
    "tag_share": "only --max_tags limits the tags of a pair",
    "unaligned_words": "a word of a term may lack a link",
    "variants": "it makes one tagged row per pair",
}
"""Options of tags that do not apply to terms, and why."""


class FindTerms(beam.PTransform[Shards, Shards]):
    """Finds the terms of a glossary in symmetrized shards: PHRASES rows, and their counts."""

    def __init__(self, run: Run[AugmentOptions], tags: TagConfig) -> None:
        super().__init__()
        terms, glossary = term_config(tags), run.need(GLOSSARY)
        assert glossary is not None
        self._find = functools.partial(find_on_shard, glossary=glossary, terms=terms)

    def expand(self, shards: Shards) -> Shards:
        """Find the terms of each shard."""
        return shards | "Table" >> beam.Map(self._find).with_output_types(Shard)


def find_on_shard(shard: Shard, glossary: Glossary, terms: TermConfig) -> Shard:
    """Find the terms of a glossary in the pairs of a shard."""
    with timed(shard.table.num_rows):
        found = find_terms(shard.table, glossary, terms)
        return shard.with_table(found.table).with_notes(counts=found.counts)


def check_glossary(run: Run[AugmentOptions]) -> None:
    """Refuse options that do not apply to terms, before anything is written.

    Raises:
        ConfigError: There are such options.
    """
    for name in sorted(UNKNOWN.keys() & run.options.model_fields_set):
        raise ConfigError(
            f"--method glossary does not take --{name}: {UNKNOWN[name]}; leave it out"
        )
    if any(unit.inline_tags == "index" for unit in run.plan.units):
        raise ConfigError(
            "--method glossary tags text without tags of its own; give --inline_tags strip"
        )


def term_config(tags: TagConfig) -> TermConfig:
    """Return the settings of tagging terms."""
    return pick(
        TermConfig,
        tags,
        share=tags.tagged_share,
        words=tags.words,
        segmenter=tags.segmenter,
    )
