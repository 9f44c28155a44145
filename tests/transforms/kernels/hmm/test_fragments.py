"""Fragments that are listed and offered, against plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.hmm.fragments import (
    Meanings,
    Sentences,
    Taken,
    Translations,
    count_occurrences,
    list_fragments,
    next_fragments,
    take_fragments,
)
from pairweave.transforms.kernels.text.spans import FlatSpans

MAX_TAKEN = 3


def crosses(one, other):
    """Tell whether two ranges overlap and neither holds the other."""
    (low, high), (start, end) = one, other
    both = set(range(low, high)) & set(range(start, end))
    return bool(both) and both not in (set(range(low, high)), set(range(start, end)))


@st.composite
def ranges(draw):
    start = draw(st.integers(0, 6))
    return start, draw(st.integers(start + 1, 8))


pairs = st.lists(
    st.tuples(
        st.lists(ranges(), max_size=8),
        st.lists(ranges(), max_size=MAX_TAKEN),
        st.integers(0, 4),
        st.booleans(),
    ),
    min_size=1,
    max_size=4,
)


@given(pairs, st.integers(1, 4), st.sampled_from([0, 1]))
def test_next_fragments_are_those_that_do_not_cross_what_was_taken(drawn, step, free):
    begins = np.cumsum([0] + [len(listed) for listed, *_ in drawn])
    flat = [each for listed, *_ in drawn for each in listed]
    spans = np.array(flat, np.int16).reshape(-1, 2)
    boxes = np.zeros((len(drawn), MAX_TAKEN, 4), np.int16)
    counts = np.zeros(len(drawn), np.int64)
    cursors = np.zeros(len(drawn), np.int64)
    expected, ends = [], []
    active = np.array([pair for pair, each in enumerate(drawn) if each[3]], np.int64)
    for pair, (listed, taken, cursor, is_active) in enumerate(drawn):
        counts[pair] = len(taken)
        for place, each in enumerate(taken):
            boxes[pair, place, :2] = each
        at = min(cursor, len(listed))
        cursors[pair] = begins[pair] + at
        if not is_active:
            ends.append(cursors[pair])
            continue
        actual = []
        while at < len(listed) and len(actual) < step:
            if free or not any(crosses(each, listed[at]) for each in taken):
                actual.append(begins[pair] + at)
            at += 1
        expected.append(actual)
        ends.append(begins[pair] + at)
    fragments = FlatSpans(begins, spans[:, 0].copy(), spans[:, 1].copy())
    already = Taken(boxes, counts, np.zeros(len(drawn), np.int64))
    bounds, actual = next_fragments(active, fragments, cursors, already, step, free)
    assert bounds.tolist() == np.cumsum([0] + [len(each) for each in expected]).tolist()
    assert actual.tolist() == [each for one in expected for each in one]
    assert cursors.tolist() == ends


@given(st.data(), st.integers(1, 4))
def test_listed_fragments_hold_a_word_split_nothing_and_occur_once(data, max_words):
    sentences = data.draw(st.lists(st.lists(st.integers(1, 3), max_size=7), max_size=3))
    words = [word for sentence in sentences for word in sentence]
    wordlike = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    size = len(words) + len(sentences)
    cuts = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    offsets = np.cumsum([0] + [len(sentence) for sentence in sentences])
    keys = np.arange(len(sentences), dtype=np.uint64)
    given_sentences = Sentences(
        offsets, np.array(words, np.uint64), np.array(wordlike, bool), np.array(cuts, bool)
    )
    with np.errstate(over="ignore"):
        actual = list_fragments(np.uint64(1), keys, given_sentences, max_words)
        again = list_fragments(np.uint64(1), keys, given_sentences, max_words)
    for one, other in zip(actual, again, strict=True):
        assert one.tolist() == other.tolist()
    for pair, sentence in enumerate(sentences):
        first = offsets[pair]
        expected = set()
        for start in range(len(sentence)):
            for end in range(start + 1, min(len(sentence), start + max_words) + 1):
                run = sentence[start:end]
                places = sum(sentence[at : at + len(run)] == run for at in range(len(sentence)))
                assert count_occurrences(np.array(sentence), np.array(run)) == places
                whole = cuts[first + pair + start] and cuts[first + pair + end]
                if whole and any(wordlike[first + start : first + end]) and places == 1:
                    expected.add((start, end))
        here = slice(actual.offsets[pair], actual.offsets[pair + 1])
        listed = list(zip(actual.starts[here].tolist(), actual.ends[here].tolist(), strict=True))
        assert len(listed) == len(set(listed))
        assert set(listed) == expected


def test_fragments_are_listed_in_an_order_that_the_key_decides():
    words = np.tile(np.arange(6, dtype=np.uint64), 200)
    offsets = np.arange(0, 1201, 6)
    sentences = Sentences(offsets, words, np.ones(1200, bool), np.ones(1400, bool))
    with np.errstate(over="ignore"):
        actual = list_fragments(np.uint64(1), np.arange(200, dtype=np.uint64), sentences, 1)
    order = actual.starts.reshape(200, 6)
    for place in range(6):
        assert np.bincount(order[:, place], minlength=6).min() > 15


def accepted(translations, *, cuts=(1, 1, 1, 1), target=(11, 12, 13), wordlike=(1, 1, 1)):
    """Return the boxes for the second of three source words, each with one translation."""
    sizes = [len(words) for words in translations]
    known = Translations(
        np.arange(len(translations) + 1, dtype=np.int64),
        np.cumsum([0, *sizes], dtype=np.int64),
        np.array([word for words in translations for word in words], np.uint64),
    )
    ends = np.array([0, 3], np.int64)
    sentence = Sentences(
        ends, np.array(target, np.uint64), np.array(wordlike, np.bool_), np.array(cuts, np.bool_)
    )
    second = FlatSpans(np.array([0, 1]), np.array([1], np.int16), np.array([2], np.int16))
    none = np.zeros(1, np.int64)
    taken = Taken(np.zeros((1, 2, 4), np.int16), none.copy(), none.copy())
    meanings = Meanings(ends, np.arange(3, dtype=np.int64))
    take_fragments(none, second, none + 1, known, meanings, sentence, 0, taken)
    return taken.boxes[0, : taken.counts[0]].tolist()


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ([7], [8], True),
        ([12], [8], False),
        ([7], [12], False),
        ([7], [12, 13], True),  # a translation of several words is no rival
        ([], [], True),
    ],
)
def test_a_word_beside_a_fragment_with_the_same_translation_is_a_rival(before, after, found):
    assert accepted([before, [12], after]) == ([[1, 2, 1, 2]] if found else [])


@pytest.mark.parametrize("cut", range(4))
def test_a_translation_begins_and_ends_where_a_tag_may_stand(cut):
    cuts = [place != cut for place in range(4)]
    assert bool(accepted([[7], [12], [8]], cuts=cuts)) == (cut in (0, 3))


def test_a_translation_has_a_word():
    assert accepted([[7], [12], [8]], wordlike=(1, 0, 1)) == []
