"""The job ``augment --method fragment``: fragments that are found translated, instead of links."""

import functools

import apache_beam as beam
import pyarrow as pa

from models import store
from models.encoder_store import EncoderReference
from models.lexical_translator import LexicalTranslator
from pipelines.fitting import fitted_aligner
from pipelines.options import AugmentOptions
from pipelines.run import Run
from pipelines.steps import EachShard, tokenize
from transforms.errors import ConfigError
from transforms.fragments import FragmentConfig, find_fragments
from transforms.shards import Batches, MakeShards, Shards
from transforms.tag_config import TagConfig


def token_shards(
    pipeline: beam.Pipeline, rows: Batches, run: Run, wanted: frozenset[int]
) -> tuple[Shards, beam.pvalue.AsSingleton]:
    """Shuffle rows into shards and cut them into words; return them with the fitted model."""
    model = fitted_aligner(pipeline, rows, run)
    shards = (
        rows
        | "Shuffle" >> MakeShards(run.shards, wanted)
        | "Tokenize" >> EachShard(tokenize, model, tokens=run.tokens)
    )
    return shards, model


def fragment_config(options: AugmentOptions, tags: TagConfig) -> FragmentConfig:
    """Return which fragments are sought."""
    return FragmentConfig(
        max_words=options.max_words,
        max_tags=tags.max_tags,
        nesting=tags.nesting,
        share=tags.tagged_share,
        seed=tags.seed,
    )


def check_fragments(run: Run, tags: TagConfig) -> None:
    """Refuse what does not go with fragments, before anything is written.

    Raises:
        ConfigError: Says what.
    """
    options = run.options
    assert isinstance(options, AugmentOptions)
    fragment_config(options, tags)
    if options.aligner == "encoder" or isinstance(run.model, EncoderReference):
        raise ConfigError("--method fragment translates with a fitted hmm; give --aligner hmm")
    if run.tokens is None or run.tokens.model is not None:
        raise ConfigError(
            "--method fragment translates words; give --tokens words or whitespace, and a model "
            "that was fitted on them"
        )
    if options.variants > 1:
        raise ConfigError("--method fragment makes one tagged row of a pair; leave --variants out")
    for name in ("tag_profile", "min_confidence"):
        if getattr(options, name):
            raise ConfigError(f"--method fragment knows no --{name}; leave it out")
    if any(unit.inline_tags == "index" for unit in run.plan.units):
        raise ConfigError(
            "--method fragment tags text without tags of its own; give --inline_tags strip"
        )
    if options.draw != "uniform":
        raise ConfigError("--method fragment draws alike; leave --draw out")


def find(
    table: pa.Table, reference: store.ModelReference, config: FragmentConfig
) -> tuple[pa.Table, dict[str, int]]:
    """Turn TOKENS rows into PHRASES rows of fragments, and count what was done."""
    found = find_fragments(table, translator_of(reference), config)
    return found.table, found.counts


@functools.lru_cache(maxsize=2)
def translator_of(reference: store.ModelReference) -> LexicalTranslator:
    """Return a fitted model as a translator, once in a process."""
    fitted = store.load(reference)
    return LexicalTranslator(fitted.model.parts, fitted.tokens)
