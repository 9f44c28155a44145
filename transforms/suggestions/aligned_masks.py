"""Masks where a machine translation differs from its reference (Zhu et al., section 4.2).

The links of a pair are divided into *units*: the smallest ranges of tokens on both sides, in the
same order, that no link leaves. Crossing links, and links of one token to many, form one unit, so
every translation range has a reference range. A unit with equal tokens on both sides is **kept**.
Any other unit with tokens on both sides is a **replacement**. Reference tokens between two units,
where the reference index jumps by two or more, are an **insertion**; so are those before the first
link and after the last. A translation token without a link is a **deletion**.

Adjacent units that are not kept form one *region*. Each region yields one example, in which the
translation fills all other regions. A translation token without a link is thus masked together with
the adjacent replacement or insertion; on its own it is masked only with the option ``deletions``.

**Quality judgement** counts placeholders before they are joined: one per masked translation token
and one per place of insertion.

Replacing the mask with the suggestion gives the reference's text from the kept unit before the
region to the one after it. `transforms.kernels.masks.mask_borders.find_borders` assigns white space
to the masked range or to the suggestion: an insertion masks nothing, and its suggestion includes
the space before it, or after it at the start of a sentence.
"""

import dataclasses

import numpy as np
import pyarrow as pa

from pairweave.transforms.arrow.flat_columns import fields_of
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.kernels.links.links import WeightedLinks, first_bad_pair
from pairweave.transforms.kernels.masks.mask_borders import find_borders
from pairweave.transforms.kernels.masks.masks import find_regions
from pairweave.transforms.suggestions.masks import METHODS, Masks, any_wordlike
from pairweave.transforms.suggestions.suggestion_options import AlignedConfig
from pairweave.transforms.suggestions.token_view import TokenView

NOT_JUDGED = -1
"""The verdict on a pair without a translation, or one that the mix excludes."""


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """The quality judgement of each pair.

    Attributes:
        verdict: `transforms.kernels.masks.masks.JUDGED_GOOD`, ``JUDGED_SAME`` (nothing to suggest)
            or ``JUDGED_BAD`` (too many placeholders), or `NOT_JUDGED`, int8 ``[pair]``.
        placeholders: Placeholders before they are joined, int64 ``[pair]``.
    """

    verdict: np.ndarray
    placeholders: np.ndarray


def find_differences(
    table: pa.Table, translation: TokenView, reference: TokenView, config: AlignedConfig
) -> tuple[Masks, Judged]:
    """Find the masks of translations by comparing them with their references.

    Args:
        table: Pairs with links (`transforms.schemas.COMPARED`).
        translation: Their translations.
        reference: Their references.
        config: The settings.

    Raises:
        WorkerError: The links of a pair are outside its tokens, unsorted or duplicated.
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
