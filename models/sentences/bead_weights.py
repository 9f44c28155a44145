"""Kinds of beads, their prior probabilities, and the weights of the parts of a score.

Constants without another source were chosen on the development documents of
`tests/benchmarks/bench_bitext.py`, where the result hardly changes around them.
"""

import numpy as np

from pairweave.transforms.kernels.sentences.beads import Kinds, Weights

FIRST_PRIORS = {(1, 1): 0.94, (2, 1): 0.02, (1, 2): 0.02, (1, 0): 0.01, (0, 1): 0.01}
"""Probabilities of the beads of the first pass (Moore 2002, section 3.1)."""

PRIORS = {
    (1, 1): 0.8,
    (2, 1): 0.05,
    (1, 2): 0.05,
    (2, 2): 0.02,
    (1, 0): 0.01,
    (0, 1): 0.01,
    (3, 1): 0.01,
    (1, 3): 0.01,
    (3, 2): 0.005,
    (2, 3): 0.005,
    (4, 1): 0.005,
    (1, 4): 0.005,
    (3, 3): 0.002,
    (5, 1): 0.002,
    (1, 5): 0.002,
    (4, 2): 0.002,
    (2, 4): 0.002,
}
"""Probabilities of the beads of the second pass. Beads with at most one sentence per side are as in
the first pass except 1-1, which is reduced to make room for the rest: rounded shares of gold beads.
"""

NOTHING = 0.2
"""Probability that the null word generates a word, as in the aligner (`models.hmm.hmm_config`)."""

WORDS_WEIGHT = 0.15
"""Weight of the sum of both directions. It is below 0.5, the mean of both directions, because words
of one sentence are not independent evidence; 0.15 is best (strict F1 is within 0.01 of that from
0.1 to 0.25)."""

LENGTH_WEIGHT = 0.15
"""Weight of ``(l - m)**2 / (l + m)``, with ``l`` and ``m`` words on the sides: a variance of
6.7 words per word. Values from 0.05 to 0.2 are equally good."""

LIKELIHOOD_WEIGHT = 0.08
COVERED_WEIGHT = 0.12
UNCOVERED_WEIGHT = 0.03
"""Weights of the evidence of links (`models.sentences.linked_beads`), each of the sum of both
directions in nats. Strict F1 changes by at most 0.1 on average if either of the first two is a
third larger or smaller; without a cost for words that have no partner, it is 0.9 lower."""

ENCODER_WEIGHT = 32.0
"""Weight of a bead's gain by vectors (`transforms.kernels.sentences.embedded`), without words.
8 and 16 lose 3 and 1 % of strict F1 on the development documents."""

YISI_WEIGHT = 10.0
"""Weight of a bead's gain by YiSi-2 (`transforms.kernels.sentences.piecewise`), without words. With
20, strict F1 is within 0.6 of that on the development documents; 5 loses 3 on one of them."""

BOTH_WEIGHT = 2.0
"""The same weight when words are scored too; values from 1 to 4 are equally good."""

BOTH_YISI_WEIGHT = 2.0
"""The weight of a gain by YiSi-2 when words are scored too; 1 and 4 are within 0.9."""

LEAVE_PERCENTILE = 20.0
"""Percentile of random pairs' costs that is the cost of skipping a sentence (Thompson and Koehn
2019)."""

INSIDE_COST = 0.5
UNEQUAL_COST = 1.0
"""Cost of a paragraph's end inside a bead, or at its end on one side only. Costs from 0.5 to 2 are
about as good; a prohibitive cost is worse, because translators do move paragraph breaks."""

UNMET_COST = 2.0
"""Additional cost of a paragraph's end that meets none of the other side, with paragraphs first. If
every end of a document meets one at this cost, its paragraphs correspond, and the path is that of
any higher cost. Chosen on the development documents: where paragraphs are cut at gold beads, most
meet at 1 to 2; some ends of `candide-fr`, whose translators moved paragraph breaks, do not
(`tests/benchmarks/bench_paragraphs.py`). Where paragraphs are kept to, links have to outweigh the
same cost for a bead that passes a corner; if none may, `candide-fr` loses up to 0.5 and the
documents that are cut at gold beads gain."""

WEIGHTS = Weights(WORDS_WEIGHT, LENGTH_WEIGHT, INSIDE_COST, UNEQUAL_COST)
WITHOUT_PARAGRAPHS = Weights(WORDS_WEIGHT, LENGTH_WEIGHT, 0.0, 0.0)


def kinds_of(priors: dict[tuple[int, int], float]) -> Kinds:
    """Return kinds of beads in the form of the kernels, most frequent first."""
    sizes = sorted(priors, key=lambda size: (-priors[size], size))
    return Kinds(
        np.array([source for source, _ in sizes], np.int64),
        np.array([target for _, target in sizes], np.int64),
        np.log([priors[size] for size in sizes]),
    )


FIRST_KINDS = kinds_of(FIRST_PRIORS)
KINDS = kinds_of(PRIORS)
MAX_SENTENCES = int(max(KINDS.sources.max(), KINDS.targets.max()))
"""Maximum number of sentences on one side of a bead."""
