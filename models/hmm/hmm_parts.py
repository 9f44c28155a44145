"""The parts of a fitted statistical aligner, in memory."""

import dataclasses
from typing import Any

import numpy as np

from pairweave.models.hmm.hmm_config import HmmConfig
from pairweave.models.hmm.hmm_vocabulary import Cut, Vocabulary
from pairweave.models.hmm.respelling import Respelling, spellings_of
from pairweave.transforms.kernels.hmm.agreement import Model
from pairweave.transforms.kernels.hmm.lexicon import Lexicon
from pairweave.transforms.kernels.hmm.model1 import Spellings
from pairweave.transforms.kernels.hmm.sides import Side, Words


@dataclasses.dataclass(frozen=True)
class Parts:
    """A fitted model.

    Attributes:
        config: The settings.
        source: Words of the source side.
        target: Words of the target side.
        source_words: Statistics of the source words.
        target_words: Statistics of the target words.
        lexicon: Which words and stems translate which.
        jumps: Weights of the jump distances, float32 ``[direction, distance]``.
        source_factors: Factors of the weights after each source word, float32
            ``[source word + 2, bucket]`` (`transforms.kernels.hmm.agreement.Model`).
        target_factors: The same after each target word.
        last_share: Probability that a common last word has the last state, regardless of the jump.
        report: Counts and likelihoods of the fit; they do not affect links.
        respelling: How letters of one script are spelled in the other; None if both sides have the
            same script.
        syllables: Whether signs of Korean and Japanese are spelled out before words are compared.
    """

    config: HmmConfig
    source: Vocabulary
    target: Vocabulary
    source_words: Words
    target_words: Words
    lexicon: Lexicon
    jumps: np.ndarray
    source_factors: np.ndarray
    target_factors: np.ndarray
    last_share: float
    report: dict[str, Any]
    respelling: Respelling | None = None
    syllables: bool = False

    @property
    def model(self) -> Model:
        """Return both HMMs in the form for kernels."""
        return Model(
            self.source_words,
            self.target_words,
            self.lexicon,
            self.jumps,
            self.source_factors,
            self.target_factors,
            self.config.null_probability,
            self.last_share,
        )

    def sides(self, source: Cut, target: Cut) -> tuple[Side, Side]:
        """Return both sides of some pairs in the form for kernels, in one script.

        Args:
            source: Tokens of the sources, from `hmm_vocabulary.cut`.
            target: Tokens of the targets, from the same.
        """
        sides = self.source.side(*source), self.target.side(*target)
        if self.respelling is None and not self.syllables:
            return sides
        one, other = map(self._spelled, sides)
        return one, other

    def _spelled(self, side: Side) -> Side:
        offsets, letters = spellings_of(
            Spellings(side.letter_offsets, side.letters), self.respelling, syllables=self.syllables
        )
        return side._replace(letter_offsets=offsets, letters=letters)


def know_words(
    vocabulary: Vocabulary,
    mass: np.ndarray,
    null: np.ndarray,
    prior: float,
    stem_mass: np.ndarray | None = None,
) -> Words:
    """Collect the statistics of the words of one side.

    Args:
        vocabulary: The words.
        mass: Expected links of each word, float32.
        null: Probability of each word given nothing, then that of an unseen word, float32.
        prior: Number of occurrences that the back-off counts as.
        stem_mass: Expected links of each stem; by default the sum over its words.

    Returns:
        Arrays that end with an unseen word, which counts as if seen once.
    """
    stems = vocabulary.stems
    count = vocabulary.stem_count
    if stem_mass is None:
        stem_mass = np.bincount(stems, mass, minlength=count)
    stem_total = np.bincount(stems, vocabulary.counts, minlength=count)
    total = int(vocabulary.counts.sum()) + 1
    return Words(
        np.append(stems, np.int32(-1)),
        np.append(mass, np.float32(0.0)),
        np.append(vocabulary.counts / stem_total[stems], 1.0).astype(np.float32),
        np.append(vocabulary.counts / total, 1.0 / total).astype(np.float32),
        null,
        np.append(stem_mass, 0.0).astype(np.float32),
        np.append(1.0 / (stem_total + 1.0), 1.0).astype(np.float32),
        np.float32(prior),
    )
