"""SYMMETRIZED rows to PHRASES rows: the phrase pairs that fit the links."""

import dataclasses

import numpy as np
import pyarrow as pa

from transforms import schemas
from transforms.choices import require_choice
from transforms.errors import ConfigError
from transforms.flat_lists import lengths_of, links_of, list_column
from transforms.kernels import phrases as kernel
from transforms.tokens import pair_cuts

UNALIGNED_WORDS = ("forbid", "allow")


@dataclasses.dataclass(frozen=True, slots=True)
class PhraseConfig:
    """Which phrase pairs are extracted.

    Attributes:
        max_words: Longest phrase on either side, in tokens, 1 to 512.
        unaligned_words: ``forbid``: every word of a phrase has a link. ``allow``: the set of
            NLTK's ``phrase_extraction``; see `transforms.kernels.phrases.extract_phrases`.
    """

    max_words: int = 64
    unaligned_words: str = "forbid"

    def __post_init__(self) -> None:
        if not 1 <= self.max_words <= 512:
            raise ConfigError(f"max_words must be 1 to 512, got {self.max_words}")
        require_choice("unaligned_words", self.unaligned_words, UNALIGNED_WORDS)


def extract_phrases(table: pa.Table, config: PhraseConfig) -> pa.Table:
    """Turn SYMMETRIZED rows into PHRASES rows, in the same order.

    Where tokens are smaller than what a tag may not split (`transforms.tokens.find_cuts`), a
    phrase that begins or ends inside such a thing is left out. Every score is 1
    (`transforms.confidence` scores).

    Args:
        table: Pairs with one set of links (`transforms.schemas.SYMMETRIZED`).
        config: The limits of a phrase.

    Raises:
        WorkerError: The links of a pair are outside its tokens, not sorted, or given twice.
    """
    schemas.require(table, schemas.SYMMETRIZED)
    offsets, links = links_of(table, "links")
    source_cuts, target_cuts = pair_cuts(table)
    phrase_offsets, *boxes = kernel.extract_phrases(
        offsets,
        links["source"],
        links["target"],
        lengths_of(table.column("source_tokens")),
        lengths_of(table.column("target_tokens")),
        source_cuts.flatten().to_numpy(zero_copy_only=False),
        target_cuts.flatten().to_numpy(zero_copy_only=False),
        config.max_words,
        int(config.unaligned_words == "allow"),
    )
    columns = [*boxes, np.ones(len(boxes[0]), np.float32)]
    fields = dict(zip([field.name for field in schemas.PHRASE], columns, strict=True))
    phrases = list_column(phrase_offsets, fields, schemas.list_of(schemas.PHRASE))
    return table.append_column(schemas.PHRASES.field("phrases"), phrases)
