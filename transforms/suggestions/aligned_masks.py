"""Masks where a machine translation differs from its reference (Zhu et al., section 4.2).

The links of a pair are cut into *units*: the smallest ranges of tokens on both sides, in the same
order, that no link leaves. Links that cross, and links of one token to many, make one unit, so
there is always a reference range for a translation range. A unit whose two sides hold the same
tokens is **kept**. Any other with tokens on both sides is a **replacement**. Reference tokens
between two units, where the reference's index jumps by two or more, are an **insertion**; so are
those before the first link and behind the last. A translation token without a link is a
**deletion**.

Units that are not kept and stand beside each other become one *region*, and each region one
example, in which the translation fills all others. So a translation token without a link is masked
together with the replacement or insertion beside it; alone it is masked if deletions are wanted.

**Quality judgement** counts placeholders before they are joined: one for each masked translation
token and one for each place of insertion.

Replacing the mask by the suggestion gives a text that reads, from the kept unit before the region
to the one behind it, as the reference does. White space belongs to the masked range or to the
suggestion as `transforms.kernels.masks.mask_borders.find_borders` says: an insertion masks nothing,
and its suggestion brings the blank before it, or behind it at the start of a sentence.
"""

import dataclasses

import numpy as np
import pyarrow as pa

from pairweave.transforms.arrow.flat_lists import fields_of
from pairweave.transforms.config import Config
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.kernels.links.links import WeightedLinks, first_bad_pair
from pairweave.transforms.kernels.masks.mask_borders import find_borders
from pairweave.transforms.kernels.masks.masks import find_regions
from pairweave.transforms.suggestions.masks import METHODS, Masks, any_wordlike
from pairweave.transforms.suggestions.suggestion_options import AlignedOptions
from pairweave.transforms.suggestions.token_view import TokenView

NOT_ASKED = -1
"""The verdict on a pair without a translation, or one that the mix left out."""


class AlignedConfig(AlignedOptions, Config):
    """Which differences become masks.

    The share of placeholders is over them and the tokens that are left.
    """


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """What became of each pair.

    Attributes:
        verdict: `transforms.kernels.masks.masks.JUDGED_GOOD`, ``JUDGED_SAME`` (nothing to suggest)
            or ``JUDGED_BAD`` (too many placeholders), or `NOT_ASKED`, int8 ``[pair]``.
        placeholders: Placeholders before they are joined, int64 ``[pair]``.
    """

    verdict: np.ndarray
    placeholders: np.ndarray


def find_differences(
    table: pa.Table, translation: TokenView, reference: TokenView, config: AlignedConfig
) -> tuple[Masks, Judged]:
    """Find the masks of translations beside their references.

    Args:
        table: Pairs with links (`transforms.schemas.COMPARED`).
        translation: Their translations.
        reference: Their references.
        config: Which differences count.

    Raises:
        WorkerError: The links of a pair are outside its tokens, not sorted, or given twice.
    """
    offsets, fields = fields_of(table.column("links"))
    links = WeightedLinks(offsets, fields["source"], fields["target"], fields["probability"])
    bad = first_bad_pair(*links.links, translation.counts, reference.counts)
    if bad >= 0:
        raise WorkerError(
            f"pair {table.column('id')[bad]}: its links are outside its tokens, or not in "
            "ascending order of (source, target)"
        )
    pair, regions, confidence, parted, verdict, placeholders = find_regions(
        links,
        translation.cut_tokens,
        reference.cut_tokens,
        translation.held_tags,
        reference.held_tags,
        config.max_placeholders,
        config.max_placeholder_share,
        int(config.deletions),
    )
    borders, operation = find_borders(
        pair,
        regions,
        translation.token_offsets,
        translation.starts,
        translation.ends,
        reference.token_offsets,
        reference.starts,
        reference.ends,
    )
    start, end, target_start, target_end = regions
    gone = target_start == target_end
    wordlike = np.where(
        gone,
        any_wordlike(translation, pair, start, end),
        any_wordlike(reference, pair, target_start, target_end),
    )
    masks = Masks(
        method=np.full(len(pair), METHODS.index("alignment"), np.int8),
        pair=pair,
        variant=_numbers(pair),
        operation=operation,
        start=borders[0],
        end=borders[1],
        suggestion_start=borders[2],
        suggestion_end=borders[3],
        words=end - start,
        before=start,
        behind=translation.counts[pair] - end,
        suggestion_first=target_start,
        suggestion_words=target_end - target_start,
        confidence=np.where(np.isfinite(confidence), confidence, np.float32(np.nan)),
        wordlike=wordlike,
        parted=parted,
    )
    return masks, Judged(verdict, placeholders)


def _numbers(pair: np.ndarray) -> np.ndarray:
    """Number the masks of each pair from 0, int16 ``[mask]``."""
    places = np.arange(len(pair))
    begins = np.ones(len(pair), np.bool_)
    begins[1:] = pair[1:] != pair[:-1]
    return (places - np.maximum.accumulate(np.where(begins, places, 0))).astype(np.int16)
