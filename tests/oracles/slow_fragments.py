"""The slow twin of `transforms.tags.fragments`, in plain Python: one fragment at a time."""

import unicodedata

import numpy as np

from pairweave.transforms.kernels.sampling import STEP_FRAGMENTS, below, draw
from tests.oracles.slow_sound_phrases import is_word


def fold(word):
    """Return a word as it is compared."""
    return unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", word).casefold())


def places(words, wanted):
    """Return where a run of words begins."""
    size = len(wanted)
    return [at for at in range(len(words) - size + 1) if words[at : at + size] == wanted]


def fragments_in_order(seed, key, words, cuts, max_words):
    """Return the ranges of words that may be fragments, in the order that they are tried."""
    listed = [
        (start, end)
        for start in range(len(words))
        for end in range(start + 1, min(len(words), start + max_words) + 1)
        if cuts[start] and cuts[end]
        if any(any(map(is_word, word)) for word in words[start:end])
        if len(places(words, words[start:end])) == 1
    ]
    for step in range(len(listed)):
        bits = np.uint64(draw(*map(np.uint64, (seed, key)), STEP_FRAGMENTS, np.uint64(step)))
        other = step + int(below(bits, np.int64(len(listed) - step)))
        listed[step], listed[other] = listed[other], listed[step]
    return listed


def nest(one, other):
    """Tell whether two boxes are apart on both sides, or one holds the other on both."""

    def holds(a, b):
        return a[0] <= b[0] and b[1] <= a[1] and a[2] <= b[2] and b[3] <= a[3]

    if one[1] <= other[0] or other[1] <= one[0]:
        return one[3] <= other[2] or other[3] <= one[2]
    return holds(one, other) or holds(other, one)


def find_slowly(pair, translate, config, *, translates_words_cheaply):
    """Return the boxes of the fragments that are taken of one pair.

    Args:
        pair: Its ``key``, folded words of ``source`` and ``target``, and both sides' cuts.
        translate: Gives the translations of a list of words as lists, best first.
        config: The settings.
        translates_words_cheaply: Whether words outside a fragment are asked for their translations.
    """
    source, target = pair["source"], pair["target"]
    taken = []
    order = fragments_in_order(
        config.seed, pair["key"], source, pair["source_cuts"], config.max_words
    )
    for start, end in order:
        if len(taken) == config.max_tags:
            break
        spots = [
            (at, at + len(text))
            for text in translate(source[start:end])
            if text
            for at in places(target, text)
        ]
        if not spots:
            continue
        low, high = spots[0]
        if any(at < low or behind > high for at, behind in spots):
            continue
        if not (pair["target_cuts"][low] and pair["target_cuts"][high]):
            continue
        letters = "".join(target[low:high])
        if not (config.punctuation or any(map(is_word, letters))):
            continue
        outside = source[:start] + source[end:] if translates_words_cheaply else []
        meanings = [text[0] for word in outside for text in translate([word]) if len(text) == 1]
        if set(meanings) & set(target[low:high]):
            continue
        box = (start, end, low, high)
        if config.nesting == "free" or all(nest(box, other) for other in taken):
            taken.append(box)
    return taken
