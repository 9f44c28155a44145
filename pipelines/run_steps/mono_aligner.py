"""Aligning translations with references: converts pairs for an aligner, and its links back."""

import pyarrow as pa

from pairweave.models.aligner import AlignerReference
from pairweave.pipelines.aligners.job_aligner import JobAligner
from pairweave.transforms.arrow.replaced_columns import replaced
from pairweave.transforms.links.link_options import SymmetrizeConfig
from pairweave.transforms.links.monolingual import add_comparison, as_monolingual
from pairweave.transforms.links.phrase_extraction import unlinked
from pairweave.transforms.links.symmetrize import symmetrize
from pairweave.transforms.shards.merge import pairs_of
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.text.tokens import TokenConfig, add_tokens


def cut_translations(
    pairs: pa.Table, reference: AlignerReference, aligner: JobAligner, tokens: TokenConfig | None
) -> pa.Table:
    """Return PAIRS rows with translations as sources, tokenized for the aligner.

    Args:
        pairs: Pairs with translations.
        reference: Reference to the aligner.
        aligner: Its entry in the registry.
        tokens: How text is cut; None for the tokens that it was fitted on.
    """
    return aligner.cut(as_monolingual(pairs), reference, tokens)


def compare_linked(shard: Shard, config: SymmetrizeConfig) -> Shard:
    """Turn LINKED rows of translations into COMPARED rows.

    A pair without a translation has no translation tokens and no links.
    """
    links = symmetrize(shard.table, config)
    return shard.with_table(add_comparison(pairs_of(shard.kept), links))


def compare_nothing(pairs: pa.Table, tokens: TokenConfig) -> pa.Table:
    """Turn PAIRS rows into COMPARED rows as if no pair had a translation.

    This tokenizes targets when no method compares them with translations.
    """
    nothing = pa.nulls(pairs.num_rows, pairs.column("translation").type)
    bare = replaced(pairs, "translation", nothing)
    cut = add_tokens(as_monolingual(bare), tokens)
    return add_comparison(bare, unlinked(cut))
