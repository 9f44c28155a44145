"""Pairs prepared for drawing tags: data that does not depend on the seed is computed once."""

import dataclasses
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.arrow.flat_columns import chunk_of
from pairweave.transforms.links.kept_links import with_links
from pairweave.transforms.links.phrase_extraction import PhraseConfig, extract_phrases
from pairweave.transforms.streaming.seeds import pass_seed
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.tags.tags import Taggable, draw_tags, find_taggable

_COLUMNS = ("id", "corpus", "source_lang", "target_lang", "source", "target")
_TOKENS = ("source_tokens", "target_tokens")


@dataclasses.dataclass(frozen=True)
class Drawing:
    """Settings of drawing a run's tags.

    Attributes:
        phrases: The phrase pairs.
        tags: The tags; the seed is that of the first pass.
        reserved: A pair with a text that matches this is left out (RE2); empty to leave out none.
        links: Whether rows keep their links.
    """

    phrases: PhraseConfig
    tags: TagConfig
    reserved: str = ""
    links: bool = False


class DrawablePairs(NamedTuple):
    """Pairs from which tags can be drawn without further preparation.

    Attributes:
        pairs: Their texts and tokens, and their links if rows keep them.
        taggable: The data that their tags are drawn from.
        fits: Whether each pair may be used, bool ``[pair]``.
    """

    pairs: pa.Table
    taggable: Taggable
    fits: np.ndarray

    def take(self, rows: np.ndarray) -> "DrawablePairs":
        """Return some of the pairs ``[pair]``."""
        pairs = self.pairs.take(pa.array(rows)).combine_chunks()
        return DrawablePairs(pairs, self.taggable.take(rows), self.fits[rows])

    @property
    def nbytes(self) -> int:
        """Return their size in memory."""
        return int(self.pairs.nbytes) + self.taggable.phrases.boxes.nbytes


def prepare(pairs: pa.Table, drawing: Drawing) -> DrawablePairs:
    """Prepare pairs (`transforms.schemas.SYMMETRIZED`)."""
    phrases = extract_phrases(pairs, drawing.phrases)
    columns = [*_COLUMNS, *_TOKENS, *(["links"] if drawing.links else [])]
    fits = np.ones(len(pairs), np.bool_)
    for side in ("source", "target") if drawing.reserved else ():
        is_reserved = pc.match_substring_regex(pairs.column(side), drawing.reserved)
        fits &= ~chunk_of(is_reserved).to_numpy(zero_copy_only=False)
    return DrawablePairs(pairs.select(columns), find_taggable(phrases, drawing.tags), fits)


def draw_pass(drawable: DrawablePairs, drawing: Drawing, number: int) -> pa.Table:
    """Draw the rows of pairs in one pass (`transforms.schemas.TAGGED`), in the pairs' order.

    Args:
        drawable: The pairs; those that may not be used get no row.
        drawing: How tags are drawn.
        number: The number of the pass, from 0.
    """
    if not drawable.fits.all():
        drawable = drawable.take(np.flatnonzero(drawable.fits))
    tags = drawing.tags.changed(seed=pass_seed(drawing.tags.seed, number))
    rows, _ = draw_tags(drawable.pairs, drawable.taggable, tags)
    return with_links(rows, drawable.pairs) if drawing.links else rows
