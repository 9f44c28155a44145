"""Which beads there are, how likely each kind is, and what the parts of a score weigh.

Constants without another source were chosen on the development documents that
`tests/benchmarks/bench_bitext.py` measures on, where the result is flat about them.
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
"""Probabilities of the beads of the second pass. Beads of one sentence or none as in the first pass
but for 1-1, which leaves room for the others: these are rounded shares of gold beads."""

NOTHING = 0.2
"""Probability that nothing makes a word, as in the aligner (`models.hmm.hmm_config`)."""

WORDS_WEIGHT = 0.15
"""Of the sum of both directions. Each word is made by the bead's words, and words of one sentence
are no independent evidence of each other; 0.5 would be the mean of both directions, 0.15 is best
(strict F1 is within 0.01 of that from 0.1 to 0.25)."""

LENGTH_WEIGHT = 0.15
"""Of ``(l - m)**2 / (l + m)``, with ``l`` and ``m`` the words of both sides of a bead: its lengths
have a variance of 6.7 words for each word. 0.05 to 0.2 are as good."""

ENCODER_WEIGHT = 32.0
"""Of what a bead gains by its vectors (`transforms.kernels.sentences.embedded`), without words.
8 and 16 lose 3 and 1 % of strict F1 on the development documents."""

BOTH_WEIGHT = 2.0
"""The same beside words; 1 to 4 are as good."""

LEAVE_PERCENTILE = 20.0
"""Of the costs of random pairs: what it costs to leave a sentence out (Thompson and Koehn 2019)."""

INSIDE_COST = 0.5
UNEQUAL_COST = 1.0
"""Of ends of paragraphs, inside a bead or at its end on one side only. Any cost of 0.5 to 2 gains
about as much; one too high for any bead to pay loses, since translations do move paragraphs."""

WEIGHTS = Weights(WORDS_WEIGHT, LENGTH_WEIGHT, INSIDE_COST, UNEQUAL_COST)
WITHOUT_PARAGRAPHS = Weights(WORDS_WEIGHT, LENGTH_WEIGHT, 0.0, 0.0)


def kinds_of(priors: dict[tuple[int, int], float]) -> Kinds:
    """Return kinds of beads as kernels take them, the commonest first."""
    sizes = sorted(priors, key=lambda size: (-priors[size], size))
    return Kinds(
        np.array([source for source, _ in sizes], np.int64),
        np.array([target for _, target in sizes], np.int64),
        np.log([priors[size] for size in sizes]),
    )


FIRST_KINDS = kinds_of(FIRST_PRIORS)
KINDS = kinds_of(PRIORS)
MOST_SENTENCES = int(max(KINDS.sources.max(), KINDS.targets.max()))
"""Sentences of one side of a bead."""
