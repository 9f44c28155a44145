"""Beads that are chosen by the links of their words."""

import functools
import itertools

import numpy as np
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.hmm.hmm_vocabulary import cut_pairs
from pairweave.models.sentences import linked_beads
from pairweave.models.sentences.bead_weights import KINDS, MAX_SENTENCES, NOTHING, WEIGHTS
from pairweave.models.sentences.linked_beads import best_by_links, link_scores
from pairweave.models.sentences.paragraph_order import align_in_order
from pairweave.models.sentences.sentence_aligner import (
    align_by_length,
    align_by_words,
    band_about,
    texts_of_words,
)
from pairweave.transforms.kernels.hmm import pair_scores
from pairweave.transforms.kernels.scratch import make_scratch
from pairweave.transforms.kernels.sentences import beads, lexical, word_scores
from tests.makers.corpora import sentence
from tests.makers.documents import document
from tests.makers.hmm_corpora import plain_table
from tests.models.sentences.test_sentence_aligner import spans, words_of
from tests.oracles import slow_sentences

SIZES = list(zip(KINDS.sources.tolist(), KINDS.targets.tolist(), strict=True))


@pytest.fixture(scope="module")
def model():
    return fit(plain_table([split(sentence(number)) for number in range(300)]), HmmConfig())


def split(pair):
    """Return a pair with its punctuation as words, as the words of a document are cut."""
    return tuple(side.replace(",", " ,").replace(".", " .") for side in pair)


def joined(lines, numbers):
    return " ".join(lines[number] for number in numbers)


def slow_link_score(model, pair):
    """Return the score of a bead by its links, from the table of its words."""
    table = plain_table([split(pair)])
    parts = model.parts
    (pair,) = cut_pairs(table)
    sides = parts.sides(*pair)
    columns = pair_scores.score_pairs(*sides, parts.model, make_scratch())[..., 0]
    total = 0.0
    for direction, side, known in (
        (0, sides[1], parts.target_words),
        (1, sides[0], parts.source_words),
    ):
        alone = -sum(np.log(float(known.unigram[word])) for word in side.words)
        likelihood, coverage, *_ = columns[direction].tolist()
        total += 0.08 * (likelihood * len(side.words) + alone)
        total += 0.12 * coverage * alone - 0.03 * (1 - coverage) * alone
    return total


def sides_of(words, model):
    return tuple(text.side for text in texts_of_words(words.source, words.target, model.parts))


def test_links_score_a_bead_as_they_score_its_sentences_as_one_pair(model):
    source, target, gold = document(2_000, 15)
    flat = [list(itertools.chain(*side)) for side in (source, target)]
    both = [bead for bead in gold if all(bead)]
    ends = [[(part[at][0], part[at][-1] + 1) for part in both] for at in range(2)]
    firsts_and_lasts = tuple(tuple(np.array(side).T.copy()) for side in ends)
    actual = link_scores(firsts_and_lasts, sides_of(words_of(source, target), model), model.parts)
    assert {len(bead[0]) for bead in both} == {len(bead[1]) for bead in both} == {1, 2}
    for score, bead in zip(actual, both, strict=True):
        pair = [joined(lines, numbers) for lines, numbers in zip(flat, bead, strict=True)]
        assert score == pytest.approx(slow_link_score(model, pair), rel=1e-4)


def scored(words, model):
    """Return a band that holds every position, and what scores its beads by their words."""
    rows, columns = len(words.source), len(words.target)
    band = band_about(np.linspace(0, columns, rows + 1).astype(np.int64), columns, columns)
    parts, made = model.parts, words.as_kernels_take_it()
    texts = texts_of_words(words.source, words.target, parts)
    known = parts.source_words, parts.target_words
    scores = word_scores.score_words(*texts, known, parts.lexicon, band, MAX_SENTENCES, NOTHING)
    return band, [
        functools.partial(beads.score_priors, band, KINDS, made, WEIGHTS),
        functools.partial(lexical.add_words, band, KINDS, made, WEIGHTS, scores),
    ]


def values_of(band, scorers):
    values = np.empty((int(band.begins[-1]), len(SIZES)))
    for score in scorers:
        score(0, len(band.low), values)
    return values


def test_links_choose_the_best_of_the_paths_that_are_nearly_as_good(model, monkeypatch):
    monkeypatch.setattr(linked_beads, "_PRODUCTS", 1_000)
    source, target, _ = document(2_000, 4)
    words = words_of(source, target)
    flat = [list(itertools.chain(*side)) for side in (source, target)]
    band, scorers = scored(words, model)
    values = values_of(band, scorers)

    @functools.cache
    def of_links(row, position, kind):
        sources, targets = SIZES[kind]
        if not sources or not targets:
            return 0.0
        ranges = range(row - sources, row), range(position - targets, position)
        pair = [joined(lines, numbers) for lines, numbers in zip(flat, ranges, strict=True)]
        return slow_link_score(model, pair)

    def by_words(path):
        return sum(
            values[band.begins[row] + position - band.low[row], kind]
            for row, position, kind in path
        )

    def by_both(path):
        return by_words(path) + sum(of_links(*bead) for bead in path)

    rows, columns = map(len, flat)
    paths = list(slow_sentences.all_beads(rows, columns, SIZES))
    best = max(map(by_words, paths))
    near = {bead for path in paths if best - by_words(path) <= 8.0 for bead in path}
    assert len(near) > rows + 2
    wanted = max((path for path in paths if near >= set(path)), key=by_both)
    actual = best_by_links(band, scorers, sides_of(words, model), model.parts, lambda _: _quiet)
    assert actual.tolist() == [kind for *_, kind in wanted]


def _quiet(done, whole):
    assert 0 < done <= whole


def moved_clause():
    """Return two sentences, and their translations, in which a clause is in the other sentence."""
    one, two, three = (sentence(number) for number in (1_000, 1_003, 1_006))
    source = [f"{one[0][:-1]} and {two[0]}", three[0]]
    target = [one[1], f"{two[1][:-1]} und {three[1]}"]
    return source, target


def test_sentences_between_which_a_clause_has_moved_are_one_bead(model, monkeypatch):
    source, target = moved_clause()
    around = [sentence(number) for number in range(1_100, 1_110)]
    sides = [
        [*(pair[at] for pair in around[:5]), *moved, *(pair[at] for pair in around[5:])]
        for at, moved in enumerate((source, target))
    ]
    words = words_of(*[[side] for side in sides])
    first = align_by_length(words)
    assert ((5, 6), (5, 6)) in spans(align_by_words(words, first, model))
    monkeypatch.setattr(linked_beads, "link_scores", lambda spans, *_: np.zeros(len(spans[0][0])))
    assert ((5, 6), (5, 6)) not in spans(align_by_words(words, first, model))


def test_unrelated_sides_have_no_more_than_so_many_beads_judged(model, monkeypatch):
    judged = []

    def count(spans, *rest):
        judged.append(len(spans[0][0]))
        return link_scores(spans, *rest)

    monkeypatch.setattr(linked_beads, "link_scores", count)
    words = words_of(document(1_000, 40)[0], document(90_000, 40)[1])
    wide = align_by_words(words, align_by_length(words), model)
    sentences = len(words.source) + len(words.target)
    most = sum(judged)
    assert most <= 5 * sentences
    monkeypatch.setattr(linked_beads, "MAX_CLOSE", 1)
    judged.clear()
    narrow = align_by_words(words, align_by_length(words), model)
    assert 0 < sum(judged) <= 2 * sentences < most
    for path in (wide, narrow):
        assert (path.sources.sum(), path.targets.sum()) == (len(words.source), len(words.target))


@pytest.mark.parametrize("counts", [(100, 130), (30, 60)])
@pytest.mark.parametrize("order", ["weigh", "first"])
def test_of_sentences_that_are_repeated_none_is_lost(model, counts, order):
    around = [sentence(number) for number in range(1_000, 1_040)]
    repeated = "No comment.", "Kein Kommentar."
    words = words_of(
        *(
            [
                [*(pair[at] for pair in around[:20]), *[repeated[at]] * count],
                [pair[at] for pair in around[20:]],
            ]
            for at, count in enumerate(counts)
        )
    )
    path = align_in_order(
        words, order, lambda part: align_by_words(part, align_by_length(part), model)
    )
    assert (path.sources.sum(), path.targets.sum()) == (len(words.source), len(words.target))
    assert ((3,), (3,)) in spans(path)


def test_an_aligner_that_has_seen_no_word_loses_no_sentence():
    seen = fit(plain_table([("", "")]), HmmConfig())
    source, target, _ = document(1_000, 10)
    words = words_of(source, target)
    path = align_by_words(words, align_by_length(words), seen)
    assert (path.sources.sum(), path.targets.sum()) == (len(words.source), len(words.target))


def test_a_bead_with_a_side_without_words_gains_nothing(model):
    pairs = [sentence(number) for number in range(1_000, 1_010)]
    source, target = [side for side, _ in pairs], [side for _, side in pairs]
    target[5:9] = [""]
    words = words_of([source], [target])
    numbers = (([5, 5, 9], [6, 9, 10]), ([5, 5, 6], [6, 6, 7]))
    ends = tuple(tuple(map(np.array, side)) for side in numbers)
    scores = link_scores(ends, sides_of(words, model), model.parts)
    assert scores[:2].tolist() == [0.0, 0.0]
    assert scores[2] > 5.0
