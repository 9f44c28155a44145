"""SYMMETRIZED rows to PHRASES rows: the phrase pairs that fit the links."""

import dataclasses

import numpy as np
import pyarrow as pa

from transforms import schemas
from transforms.choices import require_choice
from transforms.errors import ConfigError, WorkerError
from transforms.flat_lists import chunk_of, lengths_of, links_of, list_column
from transforms.kernels import phrases as kernel

UNALIGNED_WORDS = ("forbid", "allow")
_EVERYWHERE = np.zeros(0, np.bool_)


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


def extract_phrases(
    table: pa.Table,
    config: PhraseConfig,
    source_cuts: pa.ListArray | None = None,
    target_cuts: pa.ListArray | None = None,
) -> pa.Table:
    """Turn SYMMETRIZED rows into PHRASES rows, in the same order.

    Args:
        table: Pairs with one set of links (`transforms.schemas.SYMMETRIZED`).
        config: The limits of a phrase.
        source_cuts: For each pair a list of booleans, one more than it has source tokens: whether
            a phrase may begin or end before each token and after the last. None: everywhere.
        target_cuts: The same for target tokens.

    Raises:
        WorkerError: The links of a pair are outside its tokens, not sorted, or given twice; or the
            cuts do not fit the tokens.
    """
    schemas.require(table, schemas.SYMMETRIZED)
    offsets, links = links_of(table, "links")
    source_lengths = lengths_of(table.column("source_tokens"))
    target_lengths = lengths_of(table.column("target_tokens"))
    source_flags, target_flags = _EVERYWHERE, _EVERYWHERE
    if source_cuts is not None or target_cuts is not None:
        source_flags = _flags(source_cuts, source_lengths, "source")
        target_flags = _flags(target_cuts, target_lengths, "target")
    phrase_offsets, *columns = kernel.extract_phrases(
        offsets,
        links["source"],
        links["target"],
        source_lengths,
        target_lengths,
        source_flags,
        target_flags,
        config.max_words,
        int(config.unaligned_words == "allow"),
    )
    fields = dict(zip([field.name for field in schemas.PHRASE], columns, strict=True))
    phrases = list_column(phrase_offsets, fields, schemas.list_of(schemas.PHRASE))
    return table.append_column(schemas.PHRASES.field("phrases"), phrases)


def _flags(cuts: pa.ListArray | None, lengths: np.ndarray, side: str) -> np.ndarray:
    """Return the cuts of one side end to end, bool ``[sum(lengths + 1)]``."""
    if cuts is None:
        return np.ones(int(lengths.sum()) + len(lengths), np.bool_)
    if not np.array_equal(lengths_of(cuts), lengths + 1):
        raise WorkerError(f"the {side} cuts must be one more than the tokens of each pair")
    return chunk_of(cuts).flatten().to_numpy(zero_copy_only=False)
