"""The role of paragraphs: aligned as beads of paragraphs, part of the score, or ignored.

Moore (2002) aligns sentences; Joanis et al. (2020, as the NRC's systems for WMT20 do) align
paragraphs by the same method first, and then sentences within each bead of paragraphs. Here a
paragraph is never scored as one long sentence. Most of its words would be compared with words that
do not translate them, so the mean score of a word falls below 0 as a paragraph grows, and leaving
it unaligned costs the same however long it is. Instead, a bead of paragraphs scores as the best
alignment of its sentences, so paragraphs and sentences are found together
(`transforms.kernels.sentences.corners`).
"""

import dataclasses
from collections.abc import Callable
from typing import Literal

import numpy as np

from pairweave.models.sentences.sentence_aligner import DocumentWords, Path

ParagraphOrder = Literal["weigh", "first", "none"]
Search = Callable[[DocumentWords], Path]
"""Finds the best path of a document, in one pass or in both."""


def align_in_order(words: DocumentWords, order: ParagraphOrder, search: Search) -> Path:
    """Return the best path of a document.

    Args:
        words: The document.
        order: ``weigh``: a paragraph's end has a cost inside a bead, or at its end on one side
            only. ``first``: the second pass aligns beads of paragraphs, and sentences within them,
            in the stretches where this is confirmed (`models.sentences.paragraph_stretches`), and
            the others as ``weigh`` does; links can lead past an end of paragraphs at a cost.
            ``none``: paragraphs are ignored, as they are with any value if the numbers of
            paragraphs differ too much.
        search: Finds the path of a document.
    """
    if order == "none":
        return search(_flat(words))
    return search(dataclasses.replace(words, by_paragraph=order == "first"))


def _flat(words: DocumentWords) -> DocumentWords:
    """Return a document as one paragraph."""
    return dataclasses.replace(
        words,
        source_paragraphs=np.zeros(len(words.source), np.int64),
        target_paragraphs=np.zeros(len(words.target), np.int64),
    )
