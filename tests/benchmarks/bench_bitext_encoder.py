"""Sentence alignment by an encoder's vectors, of sentences and pieces, alone and beside words.

    BENCH_ENCODER=DIR pytest -m bench -n 0 -s tests/benchmarks/bench_bitext_encoder.py

``BENCH_ENCODER`` is a directory with an encoder of transformers, ``BENCH_LAYER`` the layer of
sentence vectors (-1, the last), ``BENCH_YISI_LAYER`` that of pieces (as in the job). The documents
and the aligner are those of `bench_bitext.py`, fitted on parallel text and the documents. F1 is
strict, in per cent.
"""

import functools
import os

import pytest

pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.sentences import piece_aligner, sentence_encoder_reference
from pairweave.models.sentences.bead_weights import (
    BOTH_WEIGHT,
    BOTH_YISI_WEIGHT,
    ENCODER_WEIGHT,
    YISI_WEIGHT,
)
from pairweave.models.sentences.embedding_aligner import (
    SentenceVectors,
    align_by_vectors,
    gains_within,
)
from pairweave.models.sentences.sentence_aligner import align_by_words
from pairweave.models.sentences.sentence_encoder import encode_sentences, load_pieces
from tests.benchmarks.bench_bitext import (
    CORPORA,
    align_as_the_job_does,
    beads_of,
    f1,
    parallel,
    read_documents,
)

ENCODER = os.environ.get("BENCH_ENCODER", "")
LAYER = int(os.environ.get("BENCH_LAYER", "-1"))
YISI_LAYER = os.environ.get("BENCH_YISI_LAYER")

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(not ENCODER, reason="BENCH_ENCODER names no encoder"),
]


@pytest.mark.parametrize(("names", "languages", "stem"), CORPORA)
def test_gold_beads_are_found_by_vectors(shared_data, names, languages, stem):
    documents, golds = read_documents(shared_data / "sentences", names, languages)
    given = parallel(shared_data, stem, languages)
    first, actual, model = align_as_the_job_does(documents, given, languages)
    pieces = load_pieces(EncoderConfig(ENCODER, layer=LAYER, device="cpu"))
    layer = None if YISI_LAYER is None else int(YISI_LAYER)
    yisi = sentence_encoder_reference.find(ENCODER, layer, None, "yisi2").load()
    for name, (texts, words) in documents.items():
        vectors = SentenceVectors(*(encode_sentences(pieces, side) for side in texts))
        paths = {"words": actual[name]}

        for weight in (1.0, BOTH_WEIGHT, 4.0):
            gains = functools.partial(gains_within, vectors=vectors, weight=weight)
            paths[f"both {weight:g}"] = align_by_words(words, first[name], model, gains)
        for weight in (8.0, 16.0, ENCODER_WEIGHT):
            paths[f"encoder {weight:g}"] = align_by_vectors(words, vectors, weight)
        scores = piece_aligner.PieceScores(yisi.document(texts, (lambda *_: None,) * 2))
        for weight in (1.0, BOTH_YISI_WEIGHT, 4.0):
            gains = functools.partial(piece_aligner.gains_within, scores, weight=weight)
            paths[f"both yisi2 {weight:g}"] = align_by_words(words, first[name], model, gains)
        for weight in (5.0, YISI_WEIGHT, 20.0):
            paths[f"yisi2 {weight:g}"] = piece_aligner.align_by_pieces(words, scores, weight)
        shown = {
            method: round(f1(beads_of(path), golds[name]), 1) for method, path in paths.items()
        }
        print(f"\n{name}: {shown}")
        assert shown[f"both {BOTH_WEIGHT:g}"] > shown["words"] - 5
        assert shown[f"both yisi2 {BOTH_YISI_WEIGHT:g}"] > shown["words"] - 5
