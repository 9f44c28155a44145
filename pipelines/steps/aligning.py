"""Aligning the tokens of shards: by an aligner, by given links, by a second aligner; scores."""

import numpy as np
import pyarrow as pa

from pairweave.models.aligner import NOTHING, LoadableReference
from pairweave.models.given_links import GivenLinks
from pairweave.models.hmm import hmm_reference
from pairweave.pipelines.steps.steps import timed
from pairweave.transforms import progress_marks, schemas
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.links.aligner_agreement import Agreement
from pairweave.transforms.links.combine import combine
from pairweave.transforms.links.confidence import SOFT_LINK_THRESHOLD, keep_likely, score_phrases
from pairweave.transforms.links.link_options import ConfidenceConfig, Heuristic, SymmetrizeConfig
from pairweave.transforms.links.phrase_extraction import PhraseConfig, extract_phrases
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.text.tokens import TokenConfig


def align_table(shard: Shard, reference: LoadableReference) -> Shard:
    """Align a shard's pairs; kept rows, rejected rows and working table stay consistent."""
    if reference.digest == NOTHING:
        return shard.with_table(no_links(shard.table))
    aligner = reference.load()
    rows = shard.table.num_rows
    with timed(rows), progress_marks.aligning(rows):
        linked, given_up = aligner.align_or_reject(shard.table)
    return shard.give_up(given_up).with_table(linked)


def no_links(table: pa.Table) -> pa.Table:
    """Return the LINKED rows of a shard without pairs, as when nothing passed the screen.

    Raises:
        WorkerError: The shard has pairs.
    """
    if table.num_rows:
        raise WorkerError(f"{table.num_rows} pairs to align, but there were none to train on")
    return schemas.LINKED.empty_table()


def link_shard(
    shard: Shard, given_links: GivenLinks, tokens: TokenConfig, *, translations: bool = False
) -> Shard:
    """Link a shard's pairs; kept rows, rejected rows and working table stay consistent."""
    wanted = shard.kept.column("translation").is_valid().to_numpy() if translations else None
    linked, given_up = given_links.align(shard.kept, shard.table, tokens, wanted)
    return shard.give_up(given_up).with_table(linked)


def align_with_second(
    shard: Shard, reference: LoadableReference, heuristic: Heuristic, way: str
) -> Shard:
    """Align a shard's pairs by a second aligner, and combine the links of both.

    Args:
        shard: A shard whose working table is `transforms.schemas.SYMMETRIZED`.
        reference: The second aligner.
        heuristic: Heuristic that symmetrizes its links.
        way: ``intersection`` or ``union``.

    Returns:
        The shard with the combined links, and in its notes the agreement of both aligners. Pairs
        that the second aligner cannot align are rejected.
    """
    first = shard.table
    aligner = reference.load()
    with progress_marks.aligning(first.num_rows):
        linked, given_up = aligner.align_or_reject(first.select(schemas.TOKENS.names))
    if given_up:
        stay = np.ones(first.num_rows, np.bool_)
        stay[list(given_up)] = False
        first = first.filter(pa.array(stay))
        shard = shard.give_up(given_up)
    second = symmetrize(linked, SymmetrizeConfig(heuristic=heuristic))
    joined, counts = combine(first, second, way)
    agreement = Agreement(*(int(number) for number in counts.sum(axis=0)))
    return shard.with_table(joined).with_notes(agreement=agreement)


def aligned_phrases(
    table: pa.Table,
    reference: hmm_reference.HmmReference,
    links: SymmetrizeConfig,
    phrases: PhraseConfig,
    confidence: ConfidenceConfig,
) -> pa.Table:
    """Turn TOKENS rows into PHRASES rows with the scores of a fitted aligner.

    The phrase pairs come from its links; scores use all links of at least `SOFT_LINK_THRESHOLD`.
    The probabilities of the further links are used within this step only: they take more memory
    than the links, and are needed only if the options ask for scores.
    """
    if reference.digest == NOTHING:
        return scored_phrases(no_links(table), links, phrases, confidence)
    model = hmm_reference.load(reference).model
    config = model.config
    if config.decode == "posterior" and config.threshold <= SOFT_LINK_THRESHOLD:
        return scored_phrases(model.align(table), links, phrases, confidence)
    believed = model.with_threshold(SOFT_LINK_THRESHOLD).align(table)
    # Posteriors do not depend on the threshold, so those above it are the model's own links.
    if config.decode == "posterior":
        linked = keep_likely(believed, config.threshold)
    else:
        linked = model.align(table)
    extracted = extract_phrases(symmetrize(linked, links), phrases)
    return score_phrases(extracted, believed, confidence)


def scored_phrases(
    linked: pa.Table,
    links: SymmetrizeConfig,
    phrases: PhraseConfig,
    confidence: ConfidenceConfig,
) -> pa.Table:
    """Turn LINKED rows into PHRASES rows with scores, if links include all probabilities."""
    extracted = extract_phrases(symmetrize(linked, links), phrases)
    return score_phrases(extracted, linked, confidence)
