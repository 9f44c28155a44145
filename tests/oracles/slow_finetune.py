"""Fine-tuning written plainly, from the paper: one pair and one piece at a time."""

import math

from pairweave.transforms.kernels.sampling import STEP_MASK, STEP_MASK_KIND, STEP_MASK_PIECE


def softmax(scores):
    """Return the softmax of a list."""
    greatest = max(scores)
    powers = [math.exp(score - greatest) for score in scores]
    return [power / sum(powers) for power in powers]


def attention(source, target):
    """Return p(target | source) and p(source | target) of one pair's vectors, as lists."""
    scores = [[sum(a * b for a, b in zip(s, t, strict=True)) for t in target] for s in source]
    forward = [softmax(row) for row in scores]
    columns = [softmax([row[j] for row in scores]) for j in range(len(target))]
    reverse = [[columns[j][i] for j in range(len(target))] for i in range(len(source))]
    return forward, reverse


def word_links(forward, reverse, threshold, source_words, target_words):
    """Return the linked cells: those of words of which any pieces are linked."""
    cells = [(i, j) for i in range(len(forward)) for j in range(len(forward[0]))]
    words = {
        (source_words[i], target_words[j])
        for i, j in cells
        if forward[i][j] > threshold
        and reverse[i][j] > threshold
        and source_words[i] >= 0
        and target_words[j] >= 0
    }
    return {(i, j) for i, j in cells if (source_words[i], target_words[j]) in words}


def self_training_loss(forward, reverse, links):
    """Return minus the links' probability by piece, in both directions."""
    return -sum(
        forward[i][j] / len(forward) + reverse[i][j] / len(forward[0]) for i, j in sorted(links)
    )


def consistency_loss(forward, reverse):
    """Return minus the trace of forward times reverse transposed, by the shorter side."""
    rows, columns = len(forward), len(forward[0])
    product = [
        [sum(forward[i][j] * reverse[k][j] for j in range(columns)) for k in range(rows)]
        for i in range(rows)
    ]
    return -sum(product[i][i] for i in range(rows)) / min(rows, columns)


def cross_entropy(scores, label):
    """Return minus the log of the label's softmax."""
    return -math.log(softmax(scores)[label])


def masked_piece_loss(scores, labels, rows, count):
    """Return the mean cross entropy of each row's hidden pieces; 0 where it has none."""
    losses = []
    for row in range(count):
        own = [
            cross_entropy(score, label)
            for score, label, place in zip(scores, labels, rows, strict=True)
            if place == row
        ]
        losses.append(sum(own) / len(own) if own else 0.0)
    return losses


_BITS = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15


def _mix(value):
    value ^= value >> 30
    value = value * 0xBF58476D1CE4E5B9 & _BITS
    value ^= value >> 27
    value = value * 0x94D049BB133111EB & _BITS
    return value ^ value >> 31


def draw(seed, key, step, counter):
    """Return 64 random bits (SplitMix64, keyed)."""
    state = _mix(seed + _GOLDEN & _BITS)
    for part in (key, int(step), counter):
        state = _mix((state ^ part) + _GOLDEN & _BITS)
    return state


def mask_pieces(texts, keys, seed, counter, share, mask, others):
    """Return what the model sees of each text, and which pieces it has to guess."""
    seen, chosen = [], []
    for text, key in zip(texts, keys, strict=True):
        for position, piece in enumerate(text):
            place = (counter << 20) + position
            picked = (draw(seed, key, STEP_MASK, place) >> 11) / 2**53 < share
            kind = (draw(seed, key, STEP_MASK_KIND, place) >> 11) / 2**53
            chosen.append(picked)
            if picked and kind < 0.8:
                seen.append(mask)
            elif picked and kind < 0.9:
                high = draw(seed, key, STEP_MASK_PIECE, place) >> 32
                seen.append(others[high * len(others) >> 32])
            else:
                seen.append(piece)
    return seen, chosen
