"""The role of paragraphs: aligned before sentences, part of the score, or ignored.

Moore (2002) aligns sentences; Joanis et al. (2020, as the NRC's systems for WMT20 do) align
paragraphs by the same method first, and then sentences within each bead of paragraphs.
"""

import dataclasses
from collections.abc import Callable
from typing import Literal

import numpy as np

from pairweave.models.sentences.sentence_aligner import DocumentWords, Path, unaligned
from pairweave.transforms.sentences.sentence_words import SentenceWords

ParagraphOrder = Literal["weigh", "first", "none"]
Search = Callable[[DocumentWords], Path]
"""Finds the best path of a document, in one pass or in both."""


def align_in_order(words: DocumentWords, order: ParagraphOrder, search: Search) -> Path:
    """Return the best path of a document.

    Args:
        words: The document.
        order: ``weigh``: a paragraph's end has a cost inside a bead, or at its end on one side
            only. ``first``: paragraphs are aligned as if each were one sentence, then the sentences
            within each bead of paragraphs. ``none``: paragraphs are ignored, as they are with any
            value if the numbers of paragraphs differ too much.
        search: Finds the path of the document, of its paragraphs as sentences, or of the sentences
            of one bead of paragraphs.
    """
    if order == "weigh":
        return search(words)
    if order == "none" or not words.comparable_paragraphs:
        return search(_flat(words))
    borders = [_borders(words.source_paragraphs), _borders(words.target_paragraphs)]
    whole = _flat(
        dataclasses.replace(
            words,
            source=dataclasses.replace(words.source, offsets=words.source.offsets[borders[0]]),
            target=dataclasses.replace(words.target, offsets=words.target.offsets[borders[1]]),
        )
    )
    outer = search(whole)
    paths = []
    for source, target, score in zip(*_spans(outer, borders), outer.scores.tolist(), strict=True):
        if len(source) and len(target):
            inner = search(_part(words, source, target))
            # The product of the probabilities of the bead of paragraphs and of the bead within it.
            scores = inner.scores * score if outer.probable else inner.scores
            paths.append(
                dataclasses.replace(inner, scores=scores, at_edge=inner.at_edge + source.start)
            )
        else:
            paths.append(unaligned(len(source), len(target)))
    at_edge = [path.at_edge for path in paths] + [borders[0][outer.at_edge]]
    return Path(
        np.concatenate([path.sources for path in paths]),
        np.concatenate([path.targets for path in paths]),
        np.concatenate([path.scores for path in paths]),
        np.unique(np.concatenate(at_edge)),
        probable=outer.probable,
    )


def _borders(paragraphs: np.ndarray) -> np.ndarray:
    """Return the first sentence of each paragraph, and the number of sentences."""
    return np.concatenate([[0], np.flatnonzero(np.diff(paragraphs)) + 1, [len(paragraphs)]])


def _spans(path: Path, borders: list[np.ndarray]) -> list[list[range]]:
    """Return the sentences of each bead of paragraphs, of both sides."""
    ends = [np.append(0, np.cumsum(sizes)) for sizes in (path.sources, path.targets)]
    return [
        [range(a, b) for a, b in zip(side[:-1].tolist(), side[1:].tolist(), strict=True)]
        for side in (border[end] for border, end in zip(borders, ends, strict=True))
    ]


def _flat(words: DocumentWords) -> DocumentWords:
    """Return a document as one paragraph."""
    return dataclasses.replace(
        words,
        source_paragraphs=np.zeros(len(words.source), np.int64),
        target_paragraphs=np.zeros(len(words.target), np.int64),
    )


def _part(words: DocumentWords, source: range, target: range) -> DocumentWords:
    """Return some sentences of a document, with the statistics of the whole document."""
    return _flat(
        dataclasses.replace(
            words,
            source=_slice(words.source, source),
            target=_slice(words.target, target),
            whole=words.whole or words,
        )
    )


def _slice(side: SentenceWords, sentences: range) -> SentenceWords:
    """Return some sentences of a side; the frequencies of words are those of the whole side."""
    offsets = side.offsets[sentences.start : sentences.stop + 1]
    letters = side.letter_offsets[offsets[0] : offsets[-1] + 1]
    return SentenceWords(
        offsets - offsets[0],
        letters - letters[0],
        side.letters[letters[0] : letters[-1]],
        side.frequency[offsets[0] : offsets[-1]],
    )
