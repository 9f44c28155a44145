"""Translations as sources of their references, on their way to an aligner and back."""

import pyarrow as pa

from pairweave.models.aligner import AlignerReference
from pairweave.pipelines.aligners.job_aligner import JobAligner
from pairweave.transforms.links.monolingual import add_comparison, as_monolingual
from pairweave.transforms.links.phrase_extraction import unlinked
from pairweave.transforms.links.symmetrize import SymmetrizeConfig, symmetrize
from pairweave.transforms.shards.merge import pairs_of
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.text.tokens import TokenConfig, add_tokens


def cut_translations(
    pairs: pa.Table, reference: AlignerReference, aligner: JobAligner, tokens: TokenConfig | None
) -> pa.Table:
    """Return PAIRS rows with translations as sources, cut as the aligner wants them.

    Args:
        pairs: Pairs with translations.
        reference: The loaded aligner.
        aligner: What it is.
        tokens: How text is cut; None for the tokens that it was fitted on.
    """
    return aligner.cut(as_monolingual(pairs), reference, tokens)


def compare_linked(shard: Shard, config: SymmetrizeConfig) -> Shard:
    """Turn the LINKED rows that an aligner made of translations into COMPARED rows.

    A pair without a translation has no tokens there and no links.
    """
    links = symmetrize(shard.table, config)
    return shard.with_table(add_comparison(pairs_of(shard.kept), links))


def compare_nothing(pairs: pa.Table, tokens: TokenConfig) -> pa.Table:
    """Turn PAIRS rows into COMPARED rows as if no pair had a translation.

    That cuts targets into tokens, where no method compares them with translations.
    """
    place = pairs.schema.get_field_index("translation")
    field = pairs.schema.field(place)
    bare = pairs.set_column(place, field, pa.nulls(pairs.num_rows, field.type))
    cut = add_tokens(as_monolingual(bare), tokens)
    return add_comparison(bare, unlinked(cut))
