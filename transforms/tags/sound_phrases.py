"""Selects phrase pairs at which a translator would put a tag, with weights for draws."""

import numpy as np
import pyarrow as pa

from pairweave.transforms.arrow.flat_columns import fields_of, links_of, texts_of
from pairweave.transforms.kernels.links.links import Links
from pairweave.transforms.kernels.links.settled_borders import count_settled_borders
from pairweave.transforms.kernels.tags.elements import Phrases
from pairweave.transforms.kernels.tags.sound_phrases import TokenMarks, find_sound, mark_tokens
from pairweave.transforms.kernels.text.utf8 import FlatTexts
from pairweave.transforms.text.punctuation import marks

BOTH_SETTLED = 50.0
"""A phrase pair with two settled borders is this many times as likely to be drawn as one with one.

Among the phrase pairs at translators' places in ``help/`` (except test pages), in German, French
and Finnish, 97 to 98 % of the pairs with two such borders are exactly the translator's, and 73 to
82 % of the pairs with one. A value above 50 only makes the second kind rarer.
"""


def keep_sound(table: pa.Table, phrases: Phrases, *, punctuation_tags: bool = False) -> Phrases:
    """Keep the phrase pairs at which a translator would put a tag, with weights for draws.

    A phrase pair is left out in three cases (`transforms.kernels.tags.sound_phrases`): an edge has
    a punctuation mark that the same edge of the other side lacks; it cuts a pair of quotation marks
    or brackets; or a sentence ends inside, on either side. Its weight is 0 if no border is settled
    by a link next to it (`transforms.kernels.links.settled_borders`). Such a phrase pair is not
    drawn, but may become the second part of a split tag, whose parts are separate on one side.

    Args:
        table: Pairs with phrase pairs (`transforms.schemas.PHRASES`).
        phrases: Their phrase pairs.
        punctuation_tags: Whether to keep phrase pairs without a letter or a digit on a side.
    """
    offsets, links = links_of(table, "links")
    source, target = _marks(table, "source"), _marks(table, "target")
    fits = find_sound(phrases.offsets, phrases.boxes, source, target, int(punctuation_tags))
    settled = count_settled_borders(
        Links(offsets, links["source"], links["target"]),
        np.diff(source.token_offsets),
        np.diff(target.token_offsets),
        phrases.offsets,
        phrases.boxes,
    )
    weights = np.array([0, 1, BOTH_SETTLED], np.float32)[settled]
    if len(phrases.weights):
        weights = weights * phrases.weights
    return phrases._replace(weights=weights).only(fits)


def _marks(table: pa.Table, side: str) -> TokenMarks:
    offsets, tokens = fields_of(table.column(f"{side}_tokens"))
    return mark_tokens(
        FlatTexts(*texts_of(table.column(side))),
        offsets,
        tokens["start"],
        tokens["end"],
        marks(),
    )
