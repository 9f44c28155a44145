import functools
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="needs the extra `neural`")

import torch

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.sentences import bead_weights, document_progress, piece_aligner, piece_vectors
from pairweave.models.sentences.piece_aligner import (
    DocumentPieces,
    PieceScores,
    align_by_pieces,
    gains_within,
)
from pairweave.models.sentences.piece_vectors import Held, PieceVectors
from pairweave.models.sentences.sentence_aligner import band_about
from pairweave.models.sentences.sentence_encoder import EncodedPieces, encode_pieces, load_pieces
from pairweave.transforms.kernels.sentences import beads, lexical, piecewise
from tests.makers.corpora import sentence
from tests.makers.encoders import write_bert
from tests.models.sentences.test_sentence_aligner import spans, words_of
from tests.oracles import slow_sentences, slow_yisi

KINDS = 9
TABLE = np.random.default_rng(5).standard_normal((KINDS, 6)) + 0.4

sentences = st.lists(st.integers(0, KINDS - 1), max_size=4).map(
    lambda pieces: " ".join(map(str, pieces))
)
texts = st.lists(sentences, min_size=1, max_size=4)


def encode(given):
    """Encode digits: each is a piece with its own vector."""
    pieces = [[int(piece) for piece in text.split()] for text in given]
    ids = np.array([piece for text in pieces for piece in text], np.int64)
    lengths = np.array([len(text) for text in pieces], np.int64)
    return EncodedPieces(ids, lengths, torch.from_numpy(TABLE[ids].astype(np.float32)))


def pieces_of(source, target, held=None, encode=encode):
    held = held or Held()
    return DocumentPieces(
        *(PieceVectors(n, side, encode, held) for n, side in enumerate((source, target)))
    )


def scores_of(source, target):
    return PieceScores(pieces_of(source, target))


def words_for(source, target):
    """Return a document with one word a sentence."""
    return words_of(*([[f"w{number}" for number in range(len(side))]] for side in (source, target)))


class SlowScores:
    """Costs of beads in plain Python; all sentences of a side are in its sample here."""

    def __init__(self, source, target, alpha=piece_aligner.ALPHA):
        self.sides, self.alpha = (source, target), alpha
        self.f, self.cost = functools.cache(self.f), functools.cache(self.cost)

    def pieces(self, side, sentences):
        """Return the pieces of some sentences, joined, and the weight of each."""
        sets = [set(text.split()) for text in self.sides[side]]
        pieces = " ".join(self.sides[side][number] for number in sentences).split()
        counts = [sum(piece in one for one in sets) for piece in pieces]
        weights = [math.log(1 + (len(sets) + 1) / (count + 1)) for count in counts]
        return list(map(int, pieces)), weights

    def f(self, ours, theirs):
        """Return F of the pieces of a bead's sentences, given their ranges."""
        sides = self.pieces(0, ours), self.pieces(1, theirs)
        if not all(pieces for pieces, _ in sides):
            return 0.0
        vectors = (TABLE[pieces] for pieces, _ in sides)
        weights = (weights for _, weights in sides)
        return slow_yisi.score_of_vectors(*vectors, *weights, self.alpha)[0]

    def cost(self, ours, theirs):
        """Return the cost of a bead."""
        singles = [[range(n, n + 1) for n in range(len(side))] for side in self.sides]
        far = [1 - self.f(ours, other) for other in singles[1]]
        others = [1 - self.f(other, theirs) for other in singles[0]]
        apart = sum(far) / len(far) + sum(others) / len(others)
        return 2 * max(1 - self.f(ours, theirs), 0) / max(apart, beads.MIN_APART)

    def leave(self):
        """Return the cost of skipping."""
        counts = [len(side) for side in self.sides]
        costs = [
            self.cost(range(ours, ours + 1), range(theirs, theirs + 1))
            for ours in range(counts[0])
            for theirs in range(counts[1])
        ]
        return np.percentile(costs, bead_weights.LEAVE_PERCENTILE)


def beads_within(band, rows):
    most = bead_weights.MAX_SENTENCES
    for row in range(1, rows + 1):
        for position in range(max(int(band.low[row]), 1), int(band.high[row])):
            for sources in range(1, min(row, most) + 1):
                for targets in range(1, min(position, most) + 1):
                    yield row, position, sources, targets


@settings(deadline=None, max_examples=25)
@given(texts, texts, st.integers(0, 4), st.integers(1, 5), st.sampled_from([0.2, 0.5, 1.0]))
def test_f_of_each_bead_is_that_of_its_joined_pieces(source, target, middle, half, alpha):
    centre = np.minimum(np.arange(len(source) + 1) * middle // 2, len(target))
    band = band_about(centre, len(target), half)
    made = PieceScores(pieces_of(source, target), alpha).within(band, 1.0)
    slow = SlowScores(source, target, alpha)
    for row, position, sources, targets in beads_within(band, len(source)):
        ours, theirs = range(row - sources, row), range(position - targets, position)
        actual = piecewise.bead_yisi(row, position, sources, targets, band, made.yisi)
        cells = ((other + 1, at + 1) for other in ours for at in theirs)
        if all(band.low[other] <= at < band.high[other] for other, at in cells):
            assert actual == pytest.approx(slow.f(ours, theirs), rel=1e-4, abs=1e-5)
        else:
            assert actual == beads.NO_PATH


@settings(deadline=None, max_examples=15)
@example(["3"], ["3"])
@given(texts, texts)
def test_costs_are_relative_to_random_sentences_as_in_plain_python(source, target):
    band = band_about(np.zeros(len(source) + 1, np.int64), len(target), len(target) + 1)
    made = scores_of(source, target).within(band, 1.0)
    slow = SlowScores(source, target)
    assert made.leave == pytest.approx(slow.leave(), rel=1e-3, abs=1e-3)
    for row, position, sources, targets in beads_within(band, len(source)):
        actual = piecewise.bead_cost(row, position, sources, targets, band, made)
        bead = range(row - sources, row), range(position - targets, position)
        assert actual == pytest.approx(slow.cost(*bead), rel=1e-3, abs=1e-3)


@settings(deadline=None, max_examples=15)
@given(texts, texts)
def test_the_path_is_the_best_one(source, target):
    slow = SlowScores(source, target)
    leave = slow.leave()

    def score(ours, theirs):
        count = sum(len(source[n].split()) for n in ours)
        count += sum(len(target[n].split()) for n in theirs)
        gain = leave - slow.cost(ours, theirs)
        return bead_weights.YISI_WEIGHT * gain * math.sqrt(count)

    priors = {size: np.log(chance) for size, chance in bead_weights.PRIORS.items()}
    wanted, _ = slow_sentences.best_path(len(source), len(target), priors, score)
    actual = align_by_pieces(words_for(source, target), scores_of(source, target))
    # Among paths that are equal but for rounding, either may be found.
    sums, row, column = 0.0, 0, 0
    for size in zip(actual.sources.tolist(), actual.targets.tolist(), strict=True):
        bead = range(row, row + size[0]), range(column, column + size[1])
        sums += priors[size] + (score(*bead) if all(size) else 0.0)
        row, column = row + size[0], column + size[1]
    assert (row, column) == (len(source), len(target))
    assert sums == pytest.approx(wanted, rel=1e-4, abs=1e-3)


def test_f_with_exchanged_sides_has_precision_and_recall_exchanged():
    source, target = ["1 2", "3", "4 5 6"], ["2 2 7", "1 8"]
    band = band_about(np.zeros(4, np.int64), 2, 3)
    other = band_about(np.zeros(3, np.int64), 3, 4)
    made = PieceScores(pieces_of(source, target), 0.2).within(band, 1.0)
    turned = PieceScores(pieces_of(target, source), 0.8).within(other, 1.0)
    np.testing.assert_allclose(made.source_apart, turned.target_apart, rtol=1e-5)
    np.testing.assert_allclose(made.target_apart, turned.source_apart, rtol=1e-5)
    for row, position, sources, targets in beads_within(band, 3):
        one = piecewise.bead_yisi(row, position, sources, targets, band, made.yisi)
        two = piecewise.bead_yisi(position, row, targets, sources, other, turned.yisi)
        assert one == pytest.approx(two, rel=1e-5)


def long_text(count=60, seed=2):
    draw = np.random.default_rng(seed)
    return [" ".join(map(str, draw.integers(0, KINDS, draw.integers(1, 8)))) for _ in range(count)]


def arrays_of(made):
    return [*made.yisi.maxima, made.source_apart, made.target_apart, np.array(made.leave)]


def test_vectors_that_are_not_held_are_encoded_again_and_change_no_byte(monkeypatch):
    source, target = long_text(), long_text(50, seed=3)
    band = band_about(np.minimum(np.arange(61), 50), 50, 8)
    calls = []

    def counted(given):
        calls.append(tuple(given))
        return encode(given)

    monkeypatch.setattr(piece_vectors, "BLOCK_CHARACTERS", 60)
    whole = PieceScores(pieces_of(source, target, encode=counted)).within(band, 1.0)
    blocks = len(calls)
    assert blocks == len(set(calls)) > 10
    held = Held(500)
    again = PieceScores(pieces_of(source, target, held, counted)).within(band, 1.0)
    assert len(calls) > 3 * blocks
    assert held._size < 5_000 < 4 * TABLE.shape[1] * sum(len(text.split()) for text in source)
    assert [one.tobytes() for one in arrays_of(whole)] == [
        two.tobytes() for two in arrays_of(again)
    ]


def test_the_amount_that_is_compared_at_a_time_changes_no_score(monkeypatch):
    source, target = long_text(), long_text(50, seed=3)
    band = band_about(np.minimum(np.arange(61), 50), 50, 8)
    whole = scores_of(source, target).within(band, 1.0)
    monkeypatch.setattr(piece_aligner, "_SAMPLED_ROWS", 7)
    monkeypatch.setattr(piece_aligner, "_CELLS", 1)
    parts = scores_of(source, target).within(band, 1.0)
    for one, two in zip(arrays_of(whole), arrays_of(parts), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-5)


def test_a_text_is_aligned_with_itself_where_sentences_are_missing(monkeypatch, caplog):
    monkeypatch.setattr(beads, "BLOCK_ROWS", 9)
    monkeypatch.setattr(document_progress, "PROGRESS_SECONDS", -1.0)
    caplog.set_level("INFO", "pairweave")
    source = long_text()
    gone = {7, 8, 30}
    target = [text for number, text in enumerate(source) if number not in gone]
    path = align_by_pieces(words_for(source, target), scores_of(source, target))
    kept = [number for number in range(len(source)) if number not in gone]
    wanted = {((number,), (place,)) for place, number in enumerate(kept)}
    assert len(wanted & set(spans(path))) >= 0.9 * len(wanted)
    both = (path.sources == 1) & (path.targets == 1)
    assert -0.05 < np.median(path.scores[both]) <= 0
    assert {message.split(": ")[1] for message in caplog.messages} >= {
        "comparing pieces",
        "finding the best path",
    }


def test_pieces_weigh_beside_words():
    """Lengths and words say nothing here, so the pieces decide."""
    source = long_text(20)
    document = words_for(source, source).as_kernels_take_it()
    band = band_about(np.arange(21), 20, 21)
    nothing = np.zeros((int(band.begins[-1]), bead_weights.MAX_SENTENCES), np.float32)
    made = gains_within(scores_of(source, source), band, 10.0)
    kinds, free = bead_weights.KINDS, bead_weights.WITHOUT_PARAGRAPHS
    priors = partial(beads.score_priors, band, kinds, document, free)
    words = partial(lexical.add_words, band, kinds, document, free, (nothing, nothing))
    gains = partial(piecewise.add_gains, band, kinds, made)
    back = beads.best_beads(band, kinds, [priors, words, gains])
    path = beads.trace(band, kinds, back)
    assert (kinds.sources[path] == 1).all()
    assert (kinds.targets[path] == 1).all()
    assert len(path) == 20


def test_the_vectors_are_those_of_the_encoder(tmp_path):
    """Each sentence is encoded alone, so a bead has the vectors of its sentences."""
    given = [sentence(number)[0] for number in range(6)]
    write_bert(tmp_path, given, layers=2)
    loaded = load_pieces(EncoderConfig(str(tmp_path), layer=1, device="cpu"))
    slow = slow_yisi.SlowYisi(str(tmp_path), 1)
    side = PieceVectors(0, given, lambda texts: encode_pieces(loaded, texts), Held())
    actual = torch.cat(side.between(1, 4)).double().numpy()
    wanted = np.concatenate([slow.vectors(text) for text in given[1:4]])
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(actual, wanted, atol=1e-5)
    ids = [piece for text in given for piece in slow.pieces(text)]
    assert side.side.ids.tolist() == ids
    sums = [slow.vectors(text).sum(axis=0) for text in given]
    np.testing.assert_allclose(side.side.sums, sums, rtol=1e-3, atol=1e-3)
