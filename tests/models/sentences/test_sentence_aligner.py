import dataclasses
import functools
import itertools

import numpy as np
import pyarrow as pa
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.sentences import (
    bead_weights,
    document_progress,
    linked_beads,
    sentence_aligner,
)
from pairweave.models.sentences.sentence_aligner import (
    DocumentWords,
    align_by_length,
    align_by_words,
    band_about,
    texts_of_words,
    unaligned,
)
from pairweave.transforms.errors import InputError
from pairweave.transforms.kernels.hmm.emissions import emissions, heads_of
from pairweave.transforms.kernels.hmm.sides import Side
from pairweave.transforms.kernels.scratch import make_scratch
from pairweave.transforms.kernels.sentences import beads, word_scores
from pairweave.transforms.sentences.sentence_words import cut_words
from pairweave.transforms.text.tokens import TokenConfig
from tests.makers.corpora import sentence
from tests.makers.documents import document
from tests.makers.hmm_corpora import plain_table
from tests.oracles import slow_sentences


@pytest.fixture(scope="module")
def model():
    return fit(plain_table([sentence(number) for number in range(300)]), HmmConfig())


def words_of(source, target):
    """Return a document pair of paragraphs of sentences, cut into words."""
    paragraphs = [
        np.repeat(np.arange(len(side)), [len(lines) for lines in side]) for side in (source, target)
    ]
    cut = [
        cut_words(pa.array(list(itertools.chain(*side)), pa.string()), TokenConfig(), language)
        for side, language in ((source, "en"), (target, "de"))
    ]
    return DocumentWords(*cut, *paragraphs)


def spans(path):
    """Yield the sentence numbers of both sides of each bead of a path of counts."""
    row = column = 0
    for source, target in zip(path.sources.tolist(), path.targets.tolist(), strict=True):
        yield tuple(range(row, row + source)), tuple(range(column, column + target))
        row, column = row + source, column + target


def test_words_find_what_was_merged_split_and_left_out(model):
    source, target, gold = document(1_000, 60)
    words = words_of(source, target)
    path = align_by_words(words, align_by_length(words), model)
    actual = set(spans(path))
    both = {bead for bead in gold if all(bead)}
    assert len(actual & both) > 0.8 * len(both)
    right = [score for bead, score in zip(spans(path), path.scores, strict=True) if bead in both]
    assert min(right) > 0


def test_every_sentence_is_in_one_bead(model):
    source, target, _ = document(5_000, 40)
    words = words_of(source, target[:3])
    first = align_by_length(words)
    for path in (first, align_by_words(words, first, model)):
        assert path.sources.sum() == sum(map(len, source))
        assert path.targets.sum() == sum(map(len, target[:3]))
    assert ((first.scores >= 0) & (first.scores <= 1)).all()


def test_what_is_no_translation_scores_below_what_is(model):
    source, target, _ = document(1_000, 40)
    _, other, _ = document(90_000, 40)
    scores = []
    for side in (target, other):
        words = words_of(source, side)
        path = align_by_words(words, align_by_length(words), model)
        both = (path.sources > 0) & (path.targets > 0)
        scores.append(path.scores[both].mean() if both.any() else -1.0)
    assert scores[0] > 0.5 > scores[1] + 0.5


def test_a_document_of_one_sentence_is_told_from_a_pair_that_is_no_translation(model):
    pairs = [sentence(number) for number in range(1_000, 1_040)]
    right, wrong = [], []
    for scores, shift in ((right, 0), (wrong, 20)):
        for number, (source, _) in enumerate(pairs):
            words = words_of([[source]], [[pairs[(number + shift) % len(pairs)][1]]])
            path = align_by_words(words, align_by_length(words), model)
            scores.append(path.scores[(path.sources > 0) & (path.targets > 0)].sum())
    assert min(right) > 0 > max(wrong)


def test_a_word_is_as_frequent_as_in_its_document_and_in_the_text_of_the_model(model):
    words = words_of(*document(1_000, 1)[:2])
    parts = model.parts
    for text, side, known in zip(
        texts_of_words(words.source, words.target, parts),
        (words.source, words.target),
        (parts.source_words, parts.target_words),
        strict=True,
    ):
        for at, word in enumerate(text.side.words.tolist()):
            expected = known.unigram[word if word >= 0 else -1]
            counts = len(side.frequency) * side.frequency[at] + 100 * expected
            assert text.frequency[at] == pytest.approx(counts / (len(side.frequency) + 100))


def _probabilities(texts, parts, i, j):
    """Return p(t | s) and p(s | t) of two sentences, by the aligner's own emissions."""
    one, other = (
        Side(text.side.offsets[at : at + 2], *text.side[1:])
        for text, at in zip(texts, (i, j), strict=True)
    )
    words = parts.source_words, parts.target_words
    heads, owned = heads_of(parts.target_words), make_scratch(0)
    forward, reverse, _ = emissions(one, other, 0, *words, parts.lexicon, heads, owned)
    states, count = forward.width, reverse.width
    return forward.values[:count, :states], reverse.values[:states, :count]


def test_scores_of_words_are_those_of_the_slow_twin(model):
    source, target, _ = document(2_000, 6)
    words = words_of(source, target)
    parts = model.parts
    texts = texts_of_words(words.source, words.target, parts)
    rows, columns = len(words.source), len(words.target)
    band = band_about(np.linspace(0, columns, rows + 1).astype(np.int64), columns, 3)
    known = parts.source_words, parts.target_words
    forward, reverse = word_scores.score_words(*texts, known, parts.lexicon, band, 3, 0.2)
    probabilities = functools.cache(lambda i, j: _probabilities(texts, parts, i, j))
    checked = 0
    for i, j in itertools.product(range(rows), range(columns)):
        place = j + 1 - band.low[i + 1]
        if not 0 <= place < band.high[i + 1] - band.low[i + 1]:
            continue
        at = band.begins[i + 1] + place
        frequencies = [
            text.frequency[text.side.offsets[number] : text.side.offsets[number + 1]]
            for text, number in zip(texts, (i, j), strict=True)
        ]
        for run in range(3):
            if i >= run and forward[at, run] > -1e29:
                chances = np.hstack([probabilities(i - back, j)[0] for back in range(run + 1)])
                expected = slow_sentences.word_score(chances.tolist(), frequencies[1], 0.2)
                assert forward[at, run] == pytest.approx(expected, abs=1e-3)
                checked += 1
            if j >= run and reverse[at, run] > -1e29:
                chances = np.hstack([probabilities(i, j - back)[1] for back in range(run + 1)])
                expected = slow_sentences.word_score(chances.tolist(), frequencies[0], 0.2)
                assert reverse[at, run] == pytest.approx(expected, abs=1e-3)
                checked += 1
    assert checked > 100


def test_paragraphs_count_only_where_both_sides_mark_them():
    source, target, _ = document(0, 20)
    assert words_of(source, target).comparable_paragraphs
    assert not words_of(source, [list(itertools.chain(*target))]).comparable_paragraphs


def test_paragraphs_are_compared_if_one_side_has_up_to_twice_as_many():
    lines = [["a b c."] for _ in range(8)]
    for few, many in ((2, 4), (3, 6), (4, 8)):
        assert words_of(lines[:few], lines[:many]).comparable_paragraphs
        assert words_of(lines[:many], lines[:few]).comparable_paragraphs
    for few, many in ((2, 5), (3, 7)):
        assert not words_of(lines[:few], lines[:many]).comparable_paragraphs
        assert not words_of(lines[:many], lines[:few]).comparable_paragraphs


def test_a_band_reaches_from_corner_to_corner():
    band = band_about(np.array([0, 5, 50, 50]), 60, 3)
    assert (band.low[0], band.high[-1]) == (0, 61)
    # Each row reaches where the next one begins.
    assert (band.high[:-1] > band.low[1:]).all()


def test_a_path_that_touches_the_edge_of_the_widest_band_says_where(model, monkeypatch):
    source, target, _ = document(1_000, 60)
    words = words_of(source, target)
    first = align_by_length(words)
    assert not len(align_by_words(words, first, model).at_edge)
    rows, columns = len(words.source), len(words.target)
    # All of the source first, then all of the target: as far off as a path can be.
    wrong = unaligned(rows, columns)
    assert not len(align_by_words(words, wrong, model).at_edge)
    monkeypatch.setattr(sentence_aligner, "_MIN_HALF", 4)
    monkeypatch.setattr(sentence_aligner, "_CHEAP_POSITIONS", 0)
    monkeypatch.setattr(sentence_aligner, "POSITIONS", 16 * (rows + 1))
    path = align_by_words(words, wrong, model)
    assert path.sources.sum() == rows
    assert path.targets.sum() == columns
    assert len(path.at_edge)
    assert (np.diff(path.at_edge) > 0).all()
    assert 0 < path.at_edge.min() <= path.at_edge.max() <= rows


@pytest.mark.parametrize("limit", ["PRODUCTS", "ROW_BYTES"])
def test_a_document_of_too_many_words_is_refused_by_name(model, monkeypatch, limit):
    source, target, _ = document(1_000, 60)
    words = dataclasses.replace(words_of(source, target), name="chapter.en")
    first = align_by_length(words)
    wide = align_by_words(words, first, model)
    # Within the least band there is room: the result is about that of the wide one.
    enough = {"PRODUCTS": 2_000_000, "ROW_BYTES": 200_000}[limit]
    monkeypatch.setattr(sentence_aligner, "_MIN_HALF", 10)
    monkeypatch.setattr(sentence_aligner, limit, enough)
    assert (align_by_words(words, first, model).sources == wide.sources).all()
    monkeypatch.setattr(sentence_aligner, limit, enough // 100)
    with pytest.raises(InputError, match=r"^chapter\.en: its sentences have too many words") as bad:
        align_by_words(words, first, model)
    assert bad.value.code == "document_too_long"


def test_nothing_is_aligned_with_an_empty_side():
    path = unaligned(2, 1)
    assert list(spans(path)) == [((0,), ()), ((1,), ()), ((), (0,))]


@pytest.mark.parametrize("words", [1_000, 1_499, 1_500, 3_000])
def test_long_sentences_of_equal_lengths_belong_together(words):
    side = [[" ".join(["word"] * words)] * 10]
    path = align_by_length(words_of(side, side))
    assert list(spans(path)) == [((row,), (row,)) for row in range(10)]
    assert min(path.scores) > 0.99


@pytest.mark.parametrize("words", [1_300, 1_510, 1_600, 2_500])
@pytest.mark.parametrize("extra", [140, 180])
def test_a_sentence_between_long_ones_stays_alone(words, extra):
    lines = [" ".join(["word"] * count) for count in (*[words] * 4, extra, *[words] * 4)]
    path = align_by_length(words_of([[*lines[:4], *lines[5:]]], [lines]))
    pairs = [((row,), (row + (row > 3),)) for row in range(8)]
    assert list(spans(path)) == [*pairs[:4], ((), (4,)), *pairs[4:]]


def test_probabilities_of_kinds_leave_none_over():
    for priors in (bead_weights.FIRST_PRIORS, bead_weights.PRIORS):
        assert sum(priors.values()) == pytest.approx(1, abs=0.02)


def test_beads_are_as_probable_either_way_round():
    for priors in (bead_weights.FIRST_PRIORS, bead_weights.PRIORS):
        assert priors == {(target, source): prior for (source, target), prior in priors.items()}


@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize("by_paragraph", [False, True])
def test_a_document_aligned_in_blocks_gets_the_same_beads(model, monkeypatch, by_paragraph, rows):
    source, target, _ = document(3_000, 12)
    words = dataclasses.replace(words_of(source, target), by_paragraph=by_paragraph)
    first = align_by_length(words)
    second = align_by_words(words, first, model)
    monkeypatch.setattr(beads, "BLOCK_ROWS", rows)
    again = align_by_length(words)
    for one, other in ((first, again), (second, align_by_words(words, again, model))):
        for field in ("sources", "targets", "scores", "at_edge"):
            np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


def test_a_long_alignment_says_how_far_it_is(model, monkeypatch, caplog):
    source, target, _ = document(3_000, 12)
    words = dataclasses.replace(words_of(source, target), name="novel.en")
    count = len(words.source)
    caplog.set_level("INFO", "pairweave")
    align_by_words(words, align_by_length(words), model)
    assert not caplog.messages  # it is done at once
    monkeypatch.setattr(beads, "BLOCK_ROWS", count // 2)
    monkeypatch.setattr(linked_beads, "_PRODUCTS", 1)
    monkeypatch.setattr(document_progress, "PROGRESS_SECONDS", -1.0)
    align_by_words(words, align_by_length(words), model)
    said = [message.split(": ") for message in caplog.messages]
    assert {document for document, *_ in said} == {f"aligning novel.en ({count} sentences)"}
    steps = list(dict.fromkeys(step for _, step, _ in said))
    assert steps == [
        "pass 1 of 2, comparing lengths",
        "pass 1 of 2, computing probabilities",
        "pass 2 of 2, comparing words",
        "pass 2 of 2, finding the best paths",
        "pass 2 of 2, comparing links",
    ]
    done = [int(share.removesuffix(" % done")) for _, step, share in said if step == steps[1]]
    assert done == sorted(set(done))
    assert 0 < done[0] < done[-1] < 100


def test_a_search_of_a_wider_band_says_so(monkeypatch, caplog):
    caplog.set_level("INFO", "pairweave")
    monkeypatch.setattr(document_progress, "PROGRESS_SECONDS", -1.0)
    progress = document_progress.DocumentProgress("novel.en", 200_000)
    for _ in range(2):
        progress.of("comparing words")(50, 200)
    assert caplog.messages == [
        "aligning novel.en (200,000 sentences): comparing words: 25 % done",
        "aligning novel.en (200,000 sentences): comparing words, again in a wider band: 25 % done",
    ]
