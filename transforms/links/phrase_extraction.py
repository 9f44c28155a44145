"""Turns SYMMETRIZED rows into PHRASES rows: phrase pairs that are consistent with the links."""

import numpy as np
import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import lengths_of, list_column, weighted_links_of
from pairweave.transforms.kernels.links import phrase_extraction as kernel
from pairweave.transforms.links.link_options import PhraseOptions
from pairweave.transforms.text.segmenter import NONE
from pairweave.transforms.text.whole_words import pair_cuts


class PhraseConfig(PhraseOptions):
    """Settings of extracting phrase pairs.

    With ``unaligned_words`` ``forbid``, every word of a phrase has a link; ``allow`` gives the set
    of NLTK's ``phrase_extraction`` (`transforms.kernels.links.phrase_extraction.extract_phrases`).

    Attributes:
        segmenter: Finds words of scripts without spaces (`transforms.text.segmenter`).
    """

    segmenter: str = NONE


def unlinked(tokens: pa.Table) -> pa.Table:
    """Turn TOKENS rows into SYMMETRIZED rows without a link."""
    return _with_empty(tokens, schemas.SYMMETRIZED)


def without_phrases(pairs: pa.Table) -> pa.Table:
    """Turn PAIRS rows into PHRASES rows without tokens, links and phrase pairs."""
    return _with_empty(pairs, schemas.PHRASES)


def _with_empty(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return rows with empty lists for the columns of a schema that they lack."""
    empty: list[list[object]] = [[]] * rows.num_rows
    columns = [
        rows.column(field.name) if field.name in rows.schema.names else pa.array(empty, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def extract_phrases(table: pa.Table, config: PhraseConfig) -> pa.Table:
    """Turn SYMMETRIZED rows into PHRASES rows, in the same order.

    If tokens are smaller than the units that a tag may not split
    (`transforms.text.whole_words.find_cuts`), a phrase that begins or ends inside such a unit is
    left out. Every score is 1 (`transforms.links.confidence` scores).

    Args:
        table: Pairs with one set of links (`transforms.schemas.SYMMETRIZED`).
        config: The limits of a phrase.

    Raises:
        WorkerError: The links of a pair are outside its tokens, not sorted, or given twice.
    """
    schemas.require(table, schemas.SYMMETRIZED)
    source_cuts, target_cuts = pair_cuts(table, config.segmenter)
    lengths = lengths_of(table.column("source_tokens")), lengths_of(table.column("target_tokens"))
    phrase_offsets, *boxes = kernel.extract_phrases(
        weighted_links_of(table, "links").links,
        *lengths,
        source_cuts.flatten().to_numpy(zero_copy_only=False),
        target_cuts.flatten().to_numpy(zero_copy_only=False),
        config.max_words,
        1 if config.unaligned_words == "allow" else None,
    )
    columns = [*boxes, np.ones(len(boxes[0]), np.float32)]
    fields = dict(zip(schemas.PHRASE.names, columns, strict=True))
    phrases = list_column(phrase_offsets, fields, schemas.PHRASE_LIST)
    return table.append_column(schemas.PHRASES.field("phrases"), phrases)
