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


@pytest.fixture(scope="module")
def search():
    model = fit(plain_table([sentence(number) for number in range(300)]), HmmConfig())
    return lambda words: align_by_words(words, align_by_length(words), model)


def ends(paragraphs):
    return set(np.flatnonzero(np.diff(paragraphs)) + 1)


def test_paragraphs_that_are_aligned_first_are_never_crossed(search):
    source, target, gold = document(1_000, 60)
    words = words_of(source, target)
    path = align_in_order(words, "first", search)
    assert path.sources.sum() == len(words.source)
    assert path.targets.sum() == len(words.target)
    outer = [np.cumsum(sizes) for sizes in (path.sources, path.targets)]
    # Every fifth place ends a paragraph on both sides, so that paragraphs correspond one to one.
    met = set(zip(*(side.tolist() for side in outer), strict=True))
    borders = [sorted(ends(side)) for side in (words.source_paragraphs, words.target_paragraphs)]
    assert len(met & set(itertools.product(*borders))) >= 0.9 * len(borders[0])
    found = set(spans(path))
    both = {bead for bead in gold if all(bead)}
    assert len(found & both) > 0.8 * len(both)


def test_the_first_pass_gives_probabilities_within_paragraphs_too():
    source, target, _ = document(1_000, 60)
    path = align_in_order(words_of(source, target), "first", align_by_length)
    assert path.probable
    assert ((path.scores >= 0) & (path.scores <= 1)).all()


def test_paragraphs_of_one_side_count_for_nothing(search):
    source, target, _ = document(1_000, 30)
    words = words_of(source, [list(itertools.chain(*target))])
    flat = align_in_order(words, "none", search)
    for order in ("first", "weigh"):
        found = align_in_order(words, order, search)
        assert list(spans(found)) == list(spans(flat))
        assert found.scores.tolist() == flat.scores.tolist()


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


def test_lengths_of_the_whole_document_are_usual_in_its_parts():
    source, target, _ = document(1_000, 30)
    words = words_of(source, target)
    part = dataclasses.replace(words, whole=words_of(source[:2], target))
    assert part.as_kernels_take_it().ratio == part.whole.as_kernels_take_it().ratio
