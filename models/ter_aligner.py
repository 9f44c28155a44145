"""An aligner of sentences in one language that needs no model: the edits of TER.

Source: Snover et al. (2006), with sacreBLEU's search (`transforms.kernels.masks.ter`). A
translation is edited into its reference. Each word that the cheapest path found keeps or replaces
is linked with its counterpart; a shifted word is linked at its original position.
"""

import hashlib
import json

import numpy as np
import pyarrow as pa

from pairweave.models.aligner import NeedsNoModel, require_countable
from pairweave.models.hmm.hmm_vocabulary import cut_pairs
from pairweave.transforms import schemas
from pairweave.transforms.arrow.flat_columns import list_column
from pairweave.transforms.kernels.masks import ter
from pairweave.transforms.kernels.text import words

VERSION = 1
"""Increased when the same sentences get different links."""

KEPT = np.float32(1.0)
"""Probability of a link between equal words."""

REPLACED = np.float32(0.5)
"""Probability of a link between a word and its replacement.

The path shows that the words are in the same place, not that they mean the same, and several paths
may have the same cost. A value of one half expresses this, and distinguishes these links from links
of equal words.
"""

_WHOLE = 1 << 30


class TerAligner(NeedsNoModel):
    """Links words that the path of edits keeps or replaces; implements `models.aligner.Aligner`.

    Words are equal if they differ only by case, compatibility form or the encoding of accents (as
    in Tercom and in sacreBLEU's default, case is ignored). They are compared by 64-bit hashes. Both
    directions have the same links, because a word has at most one partner.
    """

    @property
    def digest(self) -> str:
        """Return the hex SHA-256 of everything that determines the links."""
        named = {
            "aligner": "ter",
            "version": VERSION,
            "limits": [ter.MAX_SHIFTED, ter.FARTHEST, ter.BEAM, ter.MAX_CANDIDATES],
            "probabilities": [float(KEPT), float(REPLACED)],
        }
        return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()

    def align(self, table: pa.Table) -> pa.Table:
        """Turn TOKENS rows into LINKED rows, in the same order.

        Raises:
            WorkerError: A side has more tokens than links can number.
        """
        schemas.require(table, schemas.TOKENS)
        require_countable(table)
        kind = schemas.LINKED.field("forward").type
        blocks = [_links(*source, *target) for source, target in cut_pairs(table)]
        links = pa.chunked_array(blocks, kind)
        return pa.Table.from_arrays([*table.columns, links, links], schema=schemas.LINKED)


def _links(
    source_offsets: np.ndarray,
    source_letter_offsets: np.ndarray,
    source_letters: np.ndarray,
    target_offsets: np.ndarray,
    target_letter_offsets: np.ndarray,
    target_letters: np.ndarray,
) -> pa.ListArray:
    """Return the links of some pairs, with words in the form of `models.hmm.hmm_vocabulary.cut`."""
    source = words.hash_tokens(source_letter_offsets, source_letters, _WHOLE)
    target = words.hash_tokens(target_letter_offsets, target_letters, _WHOLE)
    _, _, partners = ter.align_pairs(source_offsets, source, target_offsets, target)
    linked = np.flatnonzero(partners >= 0)
    offsets = np.searchsorted(linked, source_offsets)
    pairs = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    chosen = partners[linked]
    same = source[linked] == target[target_offsets[pairs] + chosen]
    return list_column(
        offsets,
        {
            "source": (linked - source_offsets[pairs]).astype(np.int16),
            "target": chosen.astype(np.int16),
            "probability": np.where(same, KEPT, REPLACED),
        },
        schemas.LINKED.field("forward").type,
    )
