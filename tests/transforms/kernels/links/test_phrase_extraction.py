import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.links.phrase_extraction import extract_phrases
from tests.makers.links import NO_CUTS, flat, link_sets, phrases_slowly, read_pharaoh, unflat


@st.composite
def sentences(draw):
    """Draw links and the lengths of both sides, which may go beyond the last linked word."""
    links = draw(
        st.frozensets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=14).map(sorted)
    )
    source = max((link[0] + 1 for link in links), default=0) + draw(st.integers(0, 3))
    target = max((link[1] + 1 for link in links), default=0) + draw(st.integers(0, 3))
    return links, source, target


def extract(pairs, max_words=64, *, allow=False, cuts=(NO_CUTS, NO_CUTS)):
    """Extract the phrases of (links, source length, target length)."""
    return unflat(
        *extract_phrases(
            flat([pair[0] for pair in pairs]),
            np.array([pair[1] for pair in pairs], np.int64),
            np.array([pair[2] for pair in pairs], np.int64),
            *cuts,
            max_words,
            1 if allow else None,
        )
    )


def nltk_phrases(pair, max_words):
    # Not at the top: it loads SciPy's statistics, which takes a second.
    from nltk.translate.phrase_based import phrase_extraction

    links, source, target = pair
    if not source or not target:
        return []
    result = phrase_extraction(" ".join(["s"] * source), " ".join(["t"] * target), links, max_words)
    return sorted((*phrase[0], *phrase[1]) for phrase in result)


def real_pairs(shared_data, aligner):
    links = read_pharaoh(shared_data / "symmetrize" / aligner / "roen.grow-diag")
    lines = (shared_data / "align" / "roen.src-tgt").read_text().splitlines()
    lengths = [[len(side.split()) for side in line.split(" ||| ")] for line in lines]
    return [(pair, *both) for pair, both in zip(links, lengths, strict=True)]


@pytest.mark.parametrize("aligner", ["giza", "fastalign"])
def test_real_phrases_equal_the_given_ones(shared_data, aligner):
    text = (shared_data / "symmetrize" / aligner / "roen.phrases").read_text()
    actual = [
        " ".join(f"{i}-{j - 1}:{k}-{l - 1}" for i, j, k, l in phrases)  # noqa: E741
        for phrases in extract(real_pairs(shared_data, aligner))
    ]
    assert actual == text.splitlines()


@pytest.mark.parametrize("max_words", [64, 7])
@pytest.mark.parametrize("aligner", ["giza", "fastalign"])
def test_real_phrases_with_unaligned_words_are_those_of_nltk(shared_data, aligner, max_words):
    # NLTK takes time with the cube of the length; those over 64 words are 184, 196, 199 and 226.
    pairs = [pair for pair in real_pairs(shared_data, aligner) if max(pair[1:]) <= 30]
    pairs += real_pairs(shared_data, aligner)[195:199:3]
    actual = extract(pairs, max_words, allow=True)
    assert actual == [nltk_phrases(pair, max_words) for pair in pairs]


@given(pairs=st.lists(sentences(), max_size=3), max_words=st.integers(1, 9))
def test_phrases_equal_those_of_trying_every_span(pairs, max_words):
    expected = [phrases_slowly(*pair, max_words) for pair in pairs]
    assert extract(pairs, max_words) == expected


@given(pairs=st.lists(sentences(), max_size=3), max_words=st.integers(1, 9))
def test_phrases_with_unaligned_words_are_those_of_nltk(pairs, max_words):
    expected = [nltk_phrases(pair, max_words) for pair in pairs]
    assert extract(pairs, max_words, allow=True) == expected


@given(pair=sentences())
def test_phrases_are_those_of_nltk_whose_words_all_have_links(pair):
    sources, targets = {link[0] for link in pair[0]}, {link[1] for link in pair[0]}
    expected = [
        phrase
        for phrase in nltk_phrases(pair, 64)
        if sources.issuperset(range(*phrase[:2])) and targets.issuperset(range(*phrase[2:]))
    ]
    assert extract([pair]) == [expected]


@given(pair=sentences())
def test_turning_the_sides_turns_the_phrases(pair):
    links, source, target = pair
    turned = extract([([(j, i) for i, j in links], target, source)])[0]
    assert sorted((i, j, k, l) for k, l, i, j in turned) == extract([pair])[0]  # noqa: E741


@given(pairs=st.lists(sentences(), min_size=1, max_size=3), allow=st.booleans(), data=st.data())
def test_cuts_take_away_the_phrases_whose_borders_they_forbid(pairs, allow, data):
    sides = [
        [
            data.draw(st.lists(st.booleans(), min_size=pair[side] + 1, max_size=pair[side] + 1))
            for pair in pairs
        ]
        for side in (1, 2)
    ]
    cuts = [np.array(list(itertools.chain(*side)), np.bool_) for side in sides]
    expected = [
        [
            phrase
            for phrase in phrases
            if all(source[border] for border in phrase[:2])
            and all(target[border] for border in phrase[2:])
        ]
        for phrases, source, target in zip(extract(pairs, allow=allow), *sides, strict=True)
    ]
    assert extract(pairs, allow=allow, cuts=cuts) == expected


def test_a_crossing_gives_its_words_and_the_whole():
    assert extract([([(0, 1), (1, 0)], 2, 2)]) == [[(0, 1, 1, 2), (0, 2, 0, 2), (1, 2, 0, 1)]]


def test_a_phrase_holds_no_unaligned_word():
    # Source word 1 and target word 2 have no link.
    assert extract([([(0, 0), (2, 1), (3, 3)], 4, 4)]) == [
        [(0, 1, 0, 1), (2, 3, 1, 2), (3, 4, 3, 4)]
    ]


def test_unaligned_words_adjoin_both_sides_if_allowed():
    assert extract([([(1, 1)], 2, 3)], allow=True) == [
        [
            (0, 2, 0, 2),
            (0, 2, 0, 3),
            (0, 2, 1, 2),
            (0, 2, 1, 3),
            (1, 2, 0, 2),
            (1, 2, 0, 3),
            (1, 2, 1, 2),
            (1, 2, 1, 3),
        ]
    ]


def test_the_limit_holds_on_both_sides():
    assert extract([([(0, 0), (0, 1), (0, 2), (1, 3)], 2, 4)], 2) == [[(1, 2, 3, 4)]]


def test_a_link_given_twice_changes_nothing():
    assert extract([([(0, 0), (0, 0), (1, 1)], 2, 2)]) == extract([([(0, 0), (1, 1)], 2, 2)])


def test_pairs_without_links_or_words_have_no_phrases():
    assert extract([([], 3, 2), ([], 0, 0), ([(0, 0)], 1, 1)]) == [[], [], [(0, 1, 0, 1)]]
    assert extract([([], 3, 2), ([], 0, 0)], allow=True) == [[], []]


def test_the_longest_sentence_still_fits_16_bits():
    pair = ([(32766, 32766)], 32767, 32767)
    assert extract([pair]) == [[(32766, 32767, 32766, 32767)]]


@given(links=link_sets)
def test_the_whole_of_fully_linked_sentences_is_a_phrase(links):
    links = sorted(links | {(i, i) for i in range(140)})
    assert (0, 140, 0, 140) in extract([(links, 140, 140)], 140)[0]
