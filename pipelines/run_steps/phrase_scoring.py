"""Phrase pairs with scores from the probabilities of their links.

The probabilities of links that the aligner does not make are used within one step only: they take
more memory than the links, and are needed only if the options ask for scores.
"""

import pyarrow as pa

from pairweave.models.aligner import NOTHING
from pairweave.models.hmm import hmm_reference
from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.parts.second_aligner_part import SECOND_ALIGNER
from pairweave.pipelines.run.run import Run
from pairweave.pipelines.steps.aligning import no_links
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.confidence import SOFT_LINK_THRESHOLD, keep_likely, score_phrases
from pairweave.transforms.links.link_options import ConfidenceConfig, SymmetrizeConfig
from pairweave.transforms.links.phrase_extraction import PhraseConfig, extract_phrases
from pairweave.transforms.links.symmetrize import symmetrize


def check_confidence(run: Run[AugmentOptions]) -> None:
    """Refuse scores with two aligners, whose links are joined but not their probabilities."""
    options = run.options
    if run.need(SECOND_ALIGNER) is not None and options.needs_scores:
        raise ConfigError(
            "--min_confidence and --draw confident score phrase pairs by one aligner's "
            "probabilities; leave out these options or --second_aligner"
        )


def aligned_phrases(
    table: pa.Table,
    reference: hmm_reference.HmmReference,
    links: SymmetrizeConfig,
    phrases: PhraseConfig,
    confidence: ConfidenceConfig,
) -> pa.Table:
    """Turn TOKENS rows into PHRASES rows with the scores of a fitted aligner.

    The phrase pairs come from its links; scores use all links of at least `SOFT_LINK_THRESHOLD`.
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
