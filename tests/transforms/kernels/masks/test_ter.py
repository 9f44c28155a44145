import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import lib_ter

from pairweave.transforms.kernels.masks import ter
from tests.makers.translations import real_triples
from tests.oracles import slow_ter

LETTERS = "".join(chr(0x4E00 + number) for number in range(100))
"""Words that all differ."""


def arrays(sides):
    """Return word lists as offsets and numbers, equal for equal words."""
    numbers = {}
    for words in sides[0] + sides[1]:
        for word in words:
            numbers.setdefault(word, len(numbers))
    made = []
    for side in sides:
        offsets = np.cumsum([0, *map(len, side)])
        made += [offsets, np.array([numbers[word] for words in side for word in words], np.uint64)]
    return made


def aligned(pairs):
    """Return what the kernel finds for each pair: edits, shifts, links."""
    sides = [source for source, _ in pairs], [target for _, target in pairs]
    offsets, *others = arrays(sides)
    edits, shifts, partners = ter.align_pairs(offsets, *others)
    result = []
    for pair, (start, end) in enumerate(itertools.pairwise(offsets)):
        links = [(i, j) for i, j in enumerate(partners[start:end].tolist()) if j >= 0]
        result.append((int(edits[pair]), int(shifts[pair]), links))
    return result


def sentences(letters, longest):
    return st.lists(st.sampled_from(letters), max_size=longest)


@st.composite
def edited(draw, letters, longest):
    """Draw a sentence and what a few moves, changes and losses make of it."""
    words = draw(sentences(letters, longest))
    other = list(words)
    for _ in range(draw(st.integers(0, 5))):
        if not other:
            break
        start = draw(st.integers(0, len(other) - 1))
        length = draw(st.integers(0, 12))
        moved = other[start : start + length]
        other[start : start + length] = draw(sentences(letters, 3))
        place = draw(st.integers(0, len(other)))
        if draw(st.booleans()):
            other[place:place] = moved
    return words, other


short = st.tuples(sentences("ab", 9), sentences("abc", 9))


@given(st.lists(short | edited("abcdefgh", 20), max_size=4))
def test_edits_shifts_and_links_equal_the_plain_twins(pairs):
    assert aligned(pairs) == [slow_ter.align(*pair) for pair in pairs]


@settings(max_examples=15)
@given(st.one_of(edited("abcdefghijklmnopqrstuvwxyz", 75), edited("abc", 40)))
def test_limits_and_beam_equal_the_plain_twins(pair):
    assert aligned([pair]) == [slow_ter.align(*pair)]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("a", "x" * 30 + "a" + "y" * 30),  # one row that reaches beyond the beam
        ("ab", "x" * 120 + "ab"),
        ("ab" + "x" * 120, "ab"),
        ("abcdefghijkl" + "x" * 51, "x" * 51 + "abcdefghijkl"),  # too far to shift
        ("abcdefghijkl" + "xyz", "xyz" + "abcdefghijkl"),  # longer than a shift
        ("ab" * 20, "ba" * 20),  # more candidates than are tried
        (LETTERS[:25] + LETTERS[60:], LETTERS[60:] + LETTERS[25:50]),  # the beam's last cell
        (LETTERS[:26] + LETTERS[60:], LETTERS[60:] + LETTERS[26:52]),  # the one behind it
        (LETTERS[60:] + LETTERS[26:50], LETTERS[:24] + LETTERS[60:]),
        (LETTERS[60:] + LETTERS[26:51], LETTERS[:25] + LETTERS[60:]),
    ],
)
def test_awkward_pairs_equal_the_plain_twins(source, target):
    assert aligned([(source, target)]) == [slow_ter.align(source, target)]


@pytest.mark.parametrize(
    ("lost", "kept", "added", "start", "end"),
    [(60, 31, 9, 25, 35), (74, 36, 13, 15, 20), (62, 38, 1, 5, 17)],
)
def test_a_path_along_the_edge_of_the_beam_equals_the_plain_twins(lost, kept, added, start, end):
    source = [*range(100, 100 + lost), *range(kept)]
    target = [*range(kept), *range(200, 200 + added)]
    moved = target[start:end]
    target[start:end] = []
    pair = source, [*target, *moved]
    assert aligned([pair]) == [slow_ter.align(*pair)]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("", "", (0, 0, [])),
        ("", "a b", (2, 0, [])),
        ("a b", "", (2, 0, [])),
        ("a b c", "a b c", (0, 0, [(0, 0), (1, 1), (2, 2)])),
        ("a b c", "a x c", (1, 0, [(0, 0), (1, 1), (2, 2)])),
        ("a b c", "a c", (1, 0, [(0, 0), (2, 1)])),
        ("a c", "a b c", (1, 0, [(0, 0), (1, 2)])),
        # Snover et al. (2006), section 2.1: a moved phrase is one edit.
        ("b c d a", "a b c d", (1, 1, [(0, 1), (1, 2), (2, 3), (3, 0)])),
        (
            "this week the saudis denied information published in the new york times",
            "saudi arabia denied this week information published in the american new york times",
            (
                4,
                1,
                [
                    *[(0, 3), (1, 4), (2, 0), (3, 1), (4, 2), (5, 5)],
                    *[(6, 6), (7, 7), (8, 8), (9, 10), (10, 11), (11, 12)],
                ],
            ),
        ),
    ],
)
def test_edits_by_hand(source, target, expected):
    assert aligned([(source.split(), target.split())]) == [expected]
    assert slow_ter.align(source.split(), target.split()) == expected


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (LETTERS[:20], LETTERS[10:20] + LETTERS[:10], (1, 1)),  # ten words are shifted at once,
        (LETTERS[:22], LETTERS[11:22] + LETTERS[:11], (2, 2)),  # eleven are not
        (LETTERS[:51], LETTERS[1:51] + LETTERS[0], (1, 1)),  # by fifty places,
        (LETTERS[:52], LETTERS[1:52] + LETTERS[0], (2, 0)),  # by fifty-one not
    ],
)
def test_limits_by_hand(source, target, expected):
    [actual] = aligned([(source, target)])
    assert actual[:2] == expected
    assert actual == slow_ter.align(source, target)


@given(edited("abcdefgh", 20))
def test_edits_lie_between_the_difference_of_lengths_and_the_longer_length(pair):
    [(edits, shifts, links)] = aligned([pair])
    lengths = sorted(map(len, pair))
    assert lengths[1] - lengths[0] <= edits <= lengths[1]
    assert 0 <= shifts <= edits
    assert len({i for i, _ in links}) == len({j for _, j in links}) == len(links)
    same = sum(pair[0][i] == pair[1][j] for i, j in links)
    # Of the words of both sides, kept ones cost nothing and replaced ones one edit a pair.
    assert edits == sum(lengths) - len(links) - same + shifts


class Word(str):
    """A word that knows where it stood."""

    __slots__ = ("place",)


def sacrebleu_path(source, target):
    """Return edits, shifts and links, by sacreBLEU's own shifts, distances and traces."""
    words = []
    for place, word in enumerate(source):
        words.append(Word(word))
        words[-1].place = place
    distance = lib_ter.BeamEditDistance(target)
    shifts = tried = 0
    while True:
        saved, shifted, tried = lib_ter._shift(words, target, distance, tried)
        if tried >= lib_ter._MAX_SHIFT_CANDIDATES or saved <= 0:
            break
        words = shifted
        shifts += 1
    cost, trace = distance(words)
    row = column = 0
    links = []
    for step in trace:
        if step in (lib_ter._OP_NOP, lib_ter._OP_SUB):
            links.append((words[row].place, column))
        row += step != lib_ter._OP_INS
        column += step != lib_ter._OP_DEL
    return cost + shifts, shifts, sorted(links)


@given(st.lists(st.tuples(sentences("abcd", 12).filter(bool), sentences("abcd", 12).filter(bool))))
def test_edits_and_links_equal_those_of_sacrebleu(pairs):
    actual = aligned(pairs)
    assert actual == [sacrebleu_path(*pair) for pair in pairs]
    edits = [(cost, len(target)) for (cost, _, _), (_, target) in zip(actual, pairs, strict=True)]
    assert edits == [lib_ter.translation_edit_rate(*pair) for pair in pairs]


@pytest.mark.slow
@pytest.mark.parametrize("year", ["wmt16", "wmt17", "wmt18"])
def test_edits_of_real_translations_equal_those_of_sacrebleu(shared_data, year):
    from sacrebleu.metrics.ter import TER

    metric = TER()
    texts = [(source, target) for _, target, source in real_triples(shared_data, [year])[::2]]
    pairs = [tuple(metric._preprocess_segment(text).split() for text in pair) for pair in texts]
    actual = aligned(pairs)
    expected = [lib_ter.translation_edit_rate(*pair)[0] for pair in pairs]
    assert [edits for edits, _, _ in actual] == expected
    some = slice(None, None, 10)
    assert actual[some] == [sacrebleu_path(*pair) for pair in pairs[some]]
    score = metric.corpus_score(
        [source for source, _ in texts[some]], [[target for _, target in texts[some]]]
    )
    assert score.num_edits == sum(edits for edits, _, _ in actual[some])
    assert score.ref_length == sum(len(target) for _, target in pairs[some])
