"""Sentence alignment by BLEU against a translation, in the style of Sennrich and Volk (2010).

A baseline. Their translation is a machine's; here each word becomes its likeliest translation in a
fitted lexicon. Sentences that match best in order are anchors; between anchors, sentences are
aligned by length, and what lies beside an anchor joins it if that is more alike.
"""

import itertools
from collections import Counter

from tests.oracles import gale_church

HALF = 120


def _grams(words):
    return [Counter(words), Counter(itertools.pairwise(words))]


def _bleu(one, other):
    """Return BLEU of words and pairs of words with brevity both ways, 0 if no pair is shared."""
    product = 1.0
    for ours, theirs in zip(one, other, strict=True):
        shared = sum((ours & theirs).values())
        if not shared:
            return 0.0
        product *= shared / max(ours.total(), theirs.total())
    return product**0.5


def align(translated, target, source_texts, target_texts):
    """Return the beads of two texts.

    Args:
        translated: Words of each source sentence, translated.
        target: Words of each target sentence.
        source_texts: The sentences themselves, for their lengths.
        target_texts: Likewise.
    """
    ours, theirs = [_grams(words) for words in translated], [_grams(words) for words in target]
    rows, columns = len(ours), len(theirs)
    best, back = {}, {}
    for row in range(rows + 1):
        middle = row * columns // max(rows, 1)
        for column in range(max(middle - HALF, 0), min(middle + HALF, columns) + 1):
            choices = [(0.0, "start")] if not row and not column else []
            if (row - 1, column) in best:
                choices.append((best[row - 1, column], "source"))
            if (row, column - 1) in best:
                choices.append((best[row, column - 1], "target"))
            if (row - 1, column - 1) in best:
                score = _bleu(ours[row - 1], theirs[column - 1])
                if score:
                    choices.append((best[row - 1, column - 1] + score, "both"))
            if choices:
                best[row, column], back[row, column] = max(choices, key=lambda item: item[0])
    anchors = []
    row, column = rows, columns
    while row or column:
        step = back[row, column]
        if step == "both":
            anchors.append((row - 1, column - 1))
        row -= step != "target"
        column -= step != "source"
    beads, before = [], (0, 0)
    for anchor in [*anchors[::-1], (rows, columns)]:
        gap = gale_church.align(
            source_texts[before[0] : anchor[0]], target_texts[before[1] : anchor[1]]
        )
        beads += [
            tuple(
                tuple(start + number for number in side)
                for start, side in zip(before, bead, strict=True)
            )
            for bead in gap
        ]
        if anchor != (rows, columns):
            beads.append(((anchor[0],), (anchor[1],)))
        before = anchor[0] + 1, anchor[1] + 1
    return beads
