"""The steps from screened rows to phrase pairs, with scores of the aligner's where they count."""

import apache_beam as beam
import pyarrow as pa

from pairweave.models import store
from pairweave.pipelines.options.job_options import AugmentOptions
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.aligning import aligned_shards, linked_shards
from pairweave.pipelines.steps.fitting import fitted_aligner
from pairweave.pipelines.steps.screened_rows import ScreenedRows
from pairweave.pipelines.steps.steps import EachShard, tokenize
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.confidence import (
    BELIEF,
    ConfidenceConfig,
    keep_likely,
    score_phrases,
)
from pairweave.transforms.links.phrases import PhraseConfig, extract_phrases, without_phrases
from pairweave.transforms.links.symmetrize import SymmetrizeConfig, symmetrize
from pairweave.transforms.shards.shard import Shards
from pairweave.transforms.shards.shuffle import MakeShards


def phrase_shards(
    pipeline: beam.Pipeline, rows: ScreenedRows, run: Run, wanted: frozenset[int]
) -> Shards:
    """Shuffle rows into shards, align them and extract their phrase pairs.

    Where no row is to be tagged, nothing is aligned.

    What an aligner believes of links that it does not make is kept inside one step: it is larger
    than the links, and needed only where the options ask for scores.
    """
    options = run.options
    assert isinstance(options, AugmentOptions)
    if options.mix == 0:
        shards = rows.batches | "Shuffle" >> MakeShards(run.shards, wanted)
        return shards | "WithoutPhrases" >> EachShard(without_phrases)
    phrases = pick(PhraseConfig, options, segmenter=run.segmenter)
    confidence = pick(ConfidenceConfig, options)
    if not confidence.scores:
        return aligned_shards(pipeline, rows, run, wanted) | "ExtractPhrases" >> EachShard(
            extract_phrases, config=phrases
        )
    links = pick(SymmetrizeConfig, options)
    if options.aligner != "hmm":
        return linked_shards(pipeline, rows, run, wanted) | "ScorePhrases" >> EachShard(
            scored_phrases, links=links, phrases=phrases, confidence=confidence
        )
    shards = rows.batches | "Shuffle" >> MakeShards(run.shards, wanted)
    model = fitted_aligner(pipeline, rows, run)
    return (
        shards
        | "Tokenize" >> EachShard(tokenize, model, tokens=run.tokens)
        | "ScorePhrases"
        >> EachShard(aligned_phrases, model, links=links, phrases=phrases, confidence=confidence)
    )


def check_confidence(run: Run) -> None:
    """Refuse scores where two aligners' links are joined, for their beliefs are not.

    Raises:
        ConfigError: Says so.
    """
    options = run.options
    assert isinstance(options, AugmentOptions)
    if run.second is not None and pick(ConfidenceConfig, options).scores:
        raise ConfigError(
            "--min_confidence and --draw confident score phrase pairs by one aligner's "
            "probabilities; leave out these options or --second_aligner"
        )


def aligned_phrases(
    table: pa.Table,
    reference: store.ModelReference,
    links: SymmetrizeConfig,
    phrases: PhraseConfig,
    confidence: ConfidenceConfig,
) -> pa.Table:
    """Turn TOKENS rows into PHRASES rows with the scores of a fitted aligner.

    The phrase pairs are those that its own links give; scores count links down to `BELIEF`.
    """
    model = store.load(reference).model
    config = model.config
    if config.decode == "posterior" and config.threshold <= BELIEF:
        return scored_phrases(model.align(table), links, phrases, confidence)
    believed = model.with_threshold(BELIEF).align(table)
    # Posteriors do not depend on the threshold, so likely beliefs are the model's own links.
    if config.decode == "posterior":
        linked = keep_likely(believed, config.threshold)
    else:
        linked = model.align(table)
    found = extract_phrases(symmetrize(linked, links), phrases)
    return score_phrases(found, believed, confidence)


def scored_phrases(
    linked: pa.Table,
    links: SymmetrizeConfig,
    phrases: PhraseConfig,
    confidence: ConfidenceConfig,
) -> pa.Table:
    """Turn LINKED rows into PHRASES rows with scores, where all beliefs are links."""
    found = extract_phrases(symmetrize(linked, links), phrases)
    return score_phrases(found, linked, confidence)
