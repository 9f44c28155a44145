import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairweave.models.sentences import bead_weights, document_progress
from pairweave.models.sentences.embedding_aligner import (
    SentenceVectors,
    align_by_vectors,
    gains_within,
)
from pairweave.models.sentences.sentence_aligner import band_about
from pairweave.transforms.kernels.sentences import beads, embedded
from tests.models.sentences.test_sentence_aligner import spans, words_of
from tests.oracles import slow_sentences


def sides(kinds, hidden=96, noise=0.15, seed=3):
    """Return vectors of a text and its translation, in beads of these kinds, and the beads."""
    random = np.random.default_rng(seed)
    made, gold, sizes = ([], []), [], [0, 0]
    for kind in kinds:
        count = max(kind)
        meanings = random.standard_normal((count, hidden)) + 0.1  # all texts are a little alike
        for side, number in enumerate(kind):
            if number:
                groups = np.array_split(np.arange(count), number)
                parts = [meanings[group].sum(axis=0) for group in groups]
                made[side].extend(part + noise * random.standard_normal(hidden) for part in parts)
        gold.append(tuple(tuple(range(at, at + n)) for at, n in zip(sizes, kind, strict=True)))
        sizes = [at + n for at, n in zip(sizes, kind, strict=True)]
    vectors = [np.array(side, np.float32).reshape(-1, hidden) for side in made]
    return SentenceVectors(*vectors), gold


def words_for(vectors):
    """Return a document with one word a sentence."""
    return words_of(
        *(
            [[f"w{number}" for number in range(len(side))]]
            for side in (vectors.source, vectors.target)
        )
    )


def test_beads_of_all_kinds_are_found():
    kinds = [(1, 1), (2, 1), (1, 1), (1, 2), (1, 0), (1, 1), (0, 1), (3, 1), (1, 1), (2, 2), (1, 1)]
    vectors, gold = sides(kinds * 3)
    path = align_by_vectors(words_for(vectors), vectors)
    # 2-2 may as well be two of 1-1.
    wanted = {bead for bead in gold if all(bead) and tuple(map(len, bead)) != (2, 2)}
    assert len(set(spans(path)) & wanted) >= 0.7 * len(wanted)
    scores = path.scores[(path.sources > 0) & (path.targets > 0)]
    assert -1 < scores.mean() <= 0


@pytest.mark.parametrize("missing", [0, 400])
def test_a_long_document_is_found_from_coarse_to_fine(missing):
    kinds = [(1, 1)] * 700 + [(1, 0)] * missing + [(1, 1)] * 600
    vectors, gold = sides(kinds)
    path = align_by_vectors(words_for(vectors), vectors)
    assert len(set(spans(path)) & set(gold)) > 0.9 * len(gold)


def test_what_is_no_translation_scores_about_minus_one():
    one, _ = sides([(1, 1)] * 60)
    other, _ = sides([(1, 1)] * 60, seed=4)
    vectors = SentenceVectors(one.source, other.target)
    path = align_by_vectors(words_for(vectors), vectors)
    scores = path.scores[(path.sources > 0) & (path.targets > 0)]
    assert not len(scores) or scores.mean() < -0.6


def test_sentences_without_pieces_are_no_obstacle():
    vectors, _ = sides([(1, 1)] * 5)
    vectors.source[2] = 0
    vectors.target[:] = 0
    path = align_by_vectors(words_for(vectors), vectors)
    assert (path.sources.sum(), path.targets.sum()) == (5, 5)


def test_vectors_compared_in_blocks_give_the_same_beads_and_say_how_far_they_are(
    monkeypatch, caplog
):
    vectors, _ = sides([(1, 1), (2, 1), (1, 1), (0, 1)] * 5)
    words = words_for(vectors)
    whole = align_by_vectors(words, vectors)
    caplog.set_level("INFO", "pairweave")
    monkeypatch.setattr(beads, "BLOCK_ROWS", 3)
    monkeypatch.setattr(document_progress, "PROGRESS_SECONDS", -1.0)
    path = align_by_vectors(words, vectors)
    for field in ("sources", "targets", "scores"):
        np.testing.assert_array_equal(getattr(path, field), getattr(whole, field))
    assert {message.split(": ")[1] for message in caplog.messages} == {
        "comparing vectors",
        "finding the best path",
    }


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 1_000))
def test_costs_are_those_of_plain_python(rows, columns, seed):
    random = np.random.default_rng(seed)
    source, target = (
        (random.standard_normal((count, 3)) + 0.3).astype(np.float32) for count in (rows, columns)
    )
    band = band_about(np.zeros(rows + 1, np.int64), columns, columns + 1)
    made = gains_within(band, SentenceVectors(source, target))
    for row in range(1, rows + 1):
        for column in range(1, columns + 1):
            for left in range(1, min(row, bead_weights.MAX_SENTENCES) + 1):
                for right in range(1, min(column, bead_weights.MAX_SENTENCES) + 1):
                    actual = embedded.bead_cost(row, column, left, right, band, made)
                    bead = (source[row - left : row], target[column - right : column])
                    both = (side.astype(float).tolist() for side in (*bead, source, target))
                    wanted = slow_sentences.vector_cost(*both)
                    assert actual == pytest.approx(max(wanted, 0), rel=1e-3, abs=1e-3)


@settings(deadline=None, max_examples=25)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 1_000))
def test_the_path_is_the_best_one(rows, columns, seed):
    random = np.random.default_rng(seed)
    source, target = (
        (random.standard_normal((count, 3)) + 0.3).astype(np.float32) for count in (rows, columns)
    )
    vectors = SentenceVectors(source, target)
    band = band_about(np.zeros(rows + 1, np.int64), columns, columns + 1)
    made = gains_within(band, vectors)

    def score(ours, theirs):
        cost = embedded.bead_cost(ours.stop, theirs.stop, len(ours), len(theirs), band, made)
        sizes = len(ours), len(theirs)
        return made.weight * (made.leave * sum(sizes) - cost * sizes[0] * sizes[1])

    priors = {size: np.log(chance) for size, chance in bead_weights.PRIORS.items()}
    _, wanted = slow_sentences.best_path(rows, columns, priors, score)
    document = words_for(vectors).as_kernels_take_it()
    kinds = bead_weights.KINDS
    free = bead_weights.WITHOUT_PARAGRAPHS
    priors = partial(beads.score_priors, band, kinds, document, free)
    back = beads.best_beads(band, kinds, [priors, partial(embedded.add_gains, band, kinds, made)])
    path = beads.trace(band, kinds, back)
    actual = zip(kinds.sources[path].tolist(), kinds.targets[path].tolist(), strict=True)
    assert tuple(actual) == wanted


@pytest.mark.slow
def test_the_number_of_threads_changes_no_bit():
    code = (
        "import hashlib, numpy as np\n"
        "from pairweave.models.sentences.embedding_aligner import SentenceVectors, gains_within\n"
        "from pairweave.models.sentences.sentence_aligner import band_about\n"
        "draw = np.random.default_rng(0)\n"
        "sides = (draw.standard_normal((size, 384)).astype(np.float32) for size in (3, 20_000))\n"
        "band = band_about(np.array([0, 100, 9_000, 20_000]), 20_000, 500)\n"
        "found = gains_within(band, SentenceVectors(*sides))\n"
        "arrays = [found.products, found.source_apart, found.target_apart]\n"
        "print(hashlib.sha256(b''.join(each.tobytes() for each in arrays)).hexdigest())\n"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads},
            check=True,
            capture_output=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(digests) == 1
