"""The neural scores of ``filter``: how well they tell good pairs from bad, and how fast they are.

    BENCH_ENCODER=DIR pytest -m bench -n 0 -s tests/benchmarks/bench_similarity.py

``BENCH_ENCODER`` is a directory with an encoder of transformers, ``BENCH_LAYERS`` the layers to try
(all), ``BENCH_LAYER`` the one for the other figures; one of ``BENCH_SHARE`` damaged pairs is
scored. The default scorer stands beside it, with an aligner fitted on other text. One CPU thread.
What counts as rare is counted on the pairs scored.
"""

import os
import time

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.encoder.pieces import cut_pieces
from pairweave.models.similarity import idf, scorer_reference, vector_projection
from pairweave.models.similarity.clean_pairs import sample_pairs
from pairweave.models.similarity.margin import Neighbours, margins
from pairweave.models.similarity.projection_fit import fit_moments
from pairweave.models.similarity.sentence_vectors import SentenceEncoder
from pairweave.models.similarity.similarity_options import SimilarityConfig
from pairweave.models.similarity.vector_projection import Projection
from pairweave.models.similarity.yisi_scorer import YisiScorer
from pairweave.transforms.filtering import score
from pairweave.transforms.metrics.ranking import area_under_curve
from tests.benchmarks.bench_filter import FITTED, TESTED, fitted, tokens, values
from tests.makers.damage import KINDS, damage

pytestmark = pytest.mark.bench

ENCODER = os.environ.get("BENCH_ENCODER", "")
LAYER = int(os.environ.get("BENCH_LAYER", "-4"))
CLEAN_PAIRS = 5_000
SIDES = ("source", "target")
NEIGHBOURS = 4
SHARE = int(os.environ.get("BENCH_SHARE", "4"))
"""One of so many damaged pairs is scored."""

needs_encoder = pytest.mark.skipif(not ENCODER, reason="BENCH_ENCODER names no encoder")


def load(layer):
    """Load the encoder, cut after a layer."""
    return scorer_reference.load_pieces(EncoderConfig(ENCODER, layer=layer, device="cpu"))


def pair_table(pairs):
    """Return pairs as a table of id, source and target."""
    names = ("id", "source", "target")
    rows = [(str(row), *pair[:2]) for row, pair in enumerate(pairs)]
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def similarities(pieces, table, mapped=None):
    """Return what YiSi-2 says of pairs, and pairs per second of CPU time."""
    tokenizer = pieces.encoder.tokenizer
    sides = [cut_pieces(tokenizer, table[side].to_pylist()) for side in ("source", "target")]
    vocabulary = max(tokenizer.get_vocab().values()) + 1
    counted = idf.count(*sides, vocabulary, idf.digest_of(tokenizer))
    scorer = YisiScorer(SimilarityConfig(), pieces, counted, mapped)
    start = time.process_time()
    result, _ = scorer.score_or_reject(table)
    return result["yisi2"].to_numpy(), table.num_rows / (time.process_time() - start)


def maps(pieces, pairs):
    """Return both maps, fitted on some clean pairs."""
    moments = fit_moments(sample_pairs(pairs, CLEAN_PAIRS, 1), pieces)
    digest, layer = pieces.encoder.digest, pieces.encoder.layer
    return {
        kind: Projection(moments.solve(kind).astype(np.float32), kind, digest, layer)
        for kind in vector_projection.KINDS
    }


@pytest.fixture(scope="module")
def judged(shared_data):
    """Return pairs that people judged, and their labels."""
    lines = (shared_data / "filter" / "refresd-dev.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return [row[2:] for row in rows], np.array([row[1] for row in rows])


def areas(scores, labels):
    """Yield the area under the curve for each kind of difference, against no difference."""
    for worse in ("unrelated", "some_meaning_difference"):
        some = (labels == worse) | (labels == "no_meaning_difference")
        yield area_under_curve(scores[some], labels[some] == "no_meaning_difference")


def show(name, *numbers):
    """Print one line of numbers."""
    print(f"{name:34}", *(f"{number:9.4f}" for number in numbers), flush=True)


@pytest.fixture(scope="module")
def clean_french(text):
    """Return clean English-French pairs."""
    return list(zip(text("newstest.en-fr.en"), text("newstest.en-fr.fr"), strict=True))


@needs_encoder
def test_pairs_that_people_judged(judged, clean_french, text):
    pairs, labels = judged
    captions = list(zip(text("multi30k.en"), text("multi30k.fr"), strict=True))
    model = fitted(tokens([*clean_french, *captions], "fr"))
    scores = {"hmm": score.score(values(model, pairs, "fr"), score.read_weights())}
    show("\nhmm", *areas(scores["hmm"], labels))
    table = pair_table(pairs)
    pieces = load(LAYER)
    scores["yisi2"], speed = similarities(pieces, table)
    show(f"yisi2, layer {LAYER}, {speed:.0f} pairs/s", *areas(scores["yisi2"], labels))
    for kind, mapped in maps(pieces, clean_french).items():
        actual, _ = similarities(pieces, table, mapped)
        show(f"yisi2, {kind}", *areas(actual, labels))
    ranks = [actual.argsort().argsort() for actual in scores.values()]
    show("mean rank of hmm and yisi2", *areas(np.add(*ranks), labels))


@needs_encoder
def test_layers(judged):
    pairs, labels = judged
    table = pair_table(pairs)
    layers = os.environ.get("BENCH_LAYERS", "1 2 3 4 5 6 7 8 9 10 11 12")
    for layer in map(int, layers.split()):
        actual, speed = similarities(load(layer), table)
        show(f"layer {layer}, {speed:.0f} pairs/s", *areas(actual, labels))


def by_vectors(pieces, table, pooling):
    """Return the cosines of pairs' sentence vectors, and their margins within the table."""
    keys = {side: np.unique(table[side].to_pylist(), return_inverse=True)[1] for side in SIDES}
    result, _ = SentenceEncoder(pooling, pieces).encode_or_reject(table)
    vectors = {side: np.array(result[side].to_pylist(), np.float32) for side in SIDES}
    near = {}
    for side, other in (SIDES, SIDES[::-1]):
        near[side] = Neighbours(vectors[side], NEIGHBOURS)
        near[side].see(vectors[other], keys[other].astype(np.uint64))
    cosines = np.einsum("ij,ij->i", *vectors.values())
    return cosines, margins(cosines, *(near[side].means() for side in SIDES))


@needs_encoder
def test_margins(judged):
    pairs, labels = judged
    table, pieces = pair_table(pairs), load(-1)
    for pooling in ("mean", "cls"):
        cosines, actual = by_vectors(pieces, table, pooling)
        show(f"cosine, {pooling}", *areas(cosines, labels))
        show(f"margin, {pooling}, k {NEIGHBOURS}", *areas(actual, labels))


@needs_encoder
def test_damage_is_told_from_other_text(german):
    clean = [row[:2] for row in german(FITTED)]
    made = damage(german(TESTED), seed=3)[::SHARE]
    kinds = np.array([row[2] for row in made])
    good = kinds == "good"
    groups = {kind: kinds == kind for kind in KINDS}
    groups["all but in part"] = ~good & ~np.isin(kinds, ("dropped", "grafted"))
    groups["all"] = ~good
    print(f"\n{len(made)} pairs, {good.sum()} good")
    for kind, bad in groups.items():
        print(f"{kind}: {bad.sum()}", end="; ")

    def report(name, scores):
        some = (bad | good for bad in groups.values())
        show(f"\n{name}", *(area_under_curve(scores[each], good[each]) for each in some))

    table = pair_table(made)
    pieces = load(LAYER)
    yisi, _ = similarities(pieces, table)
    report("yisi2", yisi)
    cosines, actual = by_vectors(load(-1), table, "mean")
    report("cosine", cosines)
    report("margin", actual)
    default = score.score(values(fitted(tokens(clean, "de")), made, "de"), score.read_weights())
    report("hmm", default)
    report("mean rank of hmm and yisi2", default.argsort().argsort() + yisi.argsort().argsort())
    for kind, mapped in maps(pieces, clean).items():
        report(f"yisi2, {kind}", similarities(pieces, table, mapped)[0])
