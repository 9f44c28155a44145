"""The parts of the statistical model, fitted on a few pairs."""

import numpy as np
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.hmm.hmm_parts import know_words
from pairweave.models.hmm.hmm_vocabulary import collect_vocabulary
from tests.makers.hmm_corpora import plain_table

PAIRS = plain_table([("a house", "ein Haus"), ("a mouse", "eine Maus")] * 3)


def test_jumps_of_each_direction_are_probabilities():
    jumps = fit(PAIRS, HmmConfig(hmm_iterations=1)).parts.jumps
    assert jumps.sum(axis=1).tolist() == pytest.approx([1.0, 1.0])
    assert (jumps > 0).all()


def test_an_unseen_word_has_no_stem_and_the_share_of_a_word_seen_once():
    vocabulary = collect_vocabulary(PAIRS, "source", 10)
    mass = np.arange(len(vocabulary), dtype=np.float32)
    null = np.ones(len(vocabulary) + 1, np.float32)
    words = know_words(vocabulary, mass, null, 10.0)
    assert words.stem.tolist() == [*vocabulary.stems.tolist(), -1]
    assert words.mass[-1] == 0.0
    assert words.share[-1] == 1.0
    assert words.unigram[-1] == pytest.approx(1 / 13)  # twelve tokens, and this one
    # A stem of -1 is the last one: of no link, and its words are all unseen.
    assert (words.stem_mass[-1], words.stem_share[-1]) == (0.0, 1.0)
    assert words.stem_mass.sum() == mass.sum()
