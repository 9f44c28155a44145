import dataclasses
import itertools

import numpy as np
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.sentences.paragraph_order import align_in_order
from pairweave.models.sentences.sentence_aligner import align_by_length, align_by_words
from tests.makers.corpora import sentence
from tests.makers.documents import document
from tests.makers.hmm_corpora import plain_table
from tests.models.sentences.test_sentence_aligner import spans, words_of


def fitted(count):
    return fit(plain_table([sentence(number) for number in range(count)]), HmmConfig())


def searching(model):
    return lambda words: align_by_words(words, align_by_length(words), model)


@pytest.fixture(scope="module")
def search():
    return searching(fitted(300))


def ends(paragraphs):
    return set(np.flatnonzero(np.diff(paragraphs)) + 1)


def positions(path):
    return set(zip(np.cumsum(path.sources).tolist(), np.cumsum(path.targets).tolist(), strict=True))


def cut_at(words, gold, size):
    """Return a document with a paragraph's end after every so many gold beads of two sides."""
    both = [bead for bead in gold if all(bead)][size - 1 : -1 : size]
    cuts = np.array([[side[-1] + 1 for side in bead] for bead in both], np.int64).reshape(-1, 2)
    return dataclasses.replace(
        words,
        source_paragraphs=np.searchsorted(cuts[:, 0], np.arange(len(words.source)), "right"),
        target_paragraphs=np.searchsorted(cuts[:, 1], np.arange(len(words.target)), "right"),
    )


def right(path, gold):
    return len(set(spans(path)) & {bead for bead in gold if all(bead)})


def test_paragraphs_that_are_aligned_first_are_never_crossed(search):
    source, target, gold = document(1_000, 60)
    words = words_of(source, target)
    path = align_in_order(words, "first", search)
    assert path.sources.sum() == len(words.source)
    assert path.targets.sum() == len(words.target)
    # Every fifth place ends a paragraph on both sides, so that paragraphs correspond one to one.
    borders = [sorted(ends(side)) for side in (words.source_paragraphs, words.target_paragraphs)]
    assert set(zip(*borders, strict=True)) <= positions(path)
    both = [bead for bead in gold if all(bead)]
    assert right(path, gold) > 0.8 * len(both)


@pytest.mark.parametrize("known", [300, 12])
@pytest.mark.parametrize("size", [1, 2, 5, 10, 25, 60])
def test_paragraphs_first_lose_to_paragraphs_that_weigh_at_no_size(known, size):
    *sides, gold = document(1_000, 120)
    words = cut_at(words_of(*sides), gold, size)
    first, weighed = (
        right(align_in_order(words, order, searching(fitted(known))), gold)
        for order in ("first", "weigh")
    )
    assert first >= weighed > 0.4 * len(gold)


@pytest.mark.parametrize("length", [65, 256, 300, 600])
def test_long_paragraphs_are_aligned_even_by_a_small_model(length):
    *sides, gold = document(1_000, 120)
    whole = words_of(*sides)
    # As many gold beads as it takes for so many words.
    size = next(
        count
        for count in range(1, len(gold))
        if whole.source.offsets[gold[count][0][-1] + 1 if gold[count][0] else 0] >= length
    )
    words = cut_at(whole, gold, size)
    assert words.comparable_paragraphs
    path = align_in_order(words, "first", searching(fitted(12)))
    assert right(path, gold) > 0.6 * sum(all(bead) for bead in gold)


def test_a_sentence_that_was_moved_across_a_paragraphs_end_is_found(search):
    source, target, gold = document(1_000, 60)
    words = words_of(source, target)
    moved = words_of(source, target)
    # Each paragraph of the target ends a sentence late.
    numbers = words.target_paragraphs
    late = dataclasses.replace(moved, target_paragraphs=np.append(numbers[0], numbers[:-1]))
    actual, whole = (right(align_in_order(part, "first", search), gold) for part in (late, words))
    assert actual >= 0.9 * whole


def test_paragraphs_of_one_side_count_for_nothing(search):
    source, target, _ = document(1_000, 30)
    words = words_of(source, [list(itertools.chain(*target))])
    flat = align_in_order(words, "none", search)
    for order in ("first", "weigh"):
        actual = align_in_order(words, order, search)
        assert list(spans(actual)) == list(spans(flat))
        assert actual.scores.tolist() == flat.scores.tolist()


def test_a_paragraph_without_a_counterpart_has_unaligned_sentences(search):
    source, target, _ = document(1_000, 40)
    source = [part for part in source if part]
    target = [part for part in target if part]
    extra = [sentence(50_000 + number)[0] for number in range(4)]
    words = words_of([*source[:4], extra, *source[4:]], target)
    start = sum(map(len, source[:4]))
    beads = dict(spans(align_in_order(words, "first", search)))
    alone = [beads.get((number,)) for number in range(start, start + len(extra))]
    assert alone == [()] * len(extra)
