"""Documents aligned by an encoder with random weights: a sentence is most like itself."""

import pytest

pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.hmm import hmm_reference
from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.hmm.hmm_reference import NO_MODEL
from pairweave.models.sentences import sentence_encoder_reference
from pairweave.models.sentences.document_aligning import align_with_encoder
from pairweave.models.sentences.document_reading import DocumentSettings, read_documents
from pairweave.transforms.text.tokens import TokenConfig
from pairweave.transforms.units import ReadLimits
from tests.makers.corpora import sentence
from tests.makers.documents import document_unit
from tests.makers.encoders import write_bert
from tests.makers.hmm_corpora import plain_table

COUNT, MISSING = 20, 8


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """Return the directory of an encoder of three layers."""
    texts = [sentence(number)[0] for number in range(60)]
    return str(write_bert(tmp_path_factory.mktemp("encoder"), texts, layers=3))


@pytest.fixture
def document(tmp_path):
    """Return a document and itself without one sentence."""
    lines = [sentence(number)[0] for number in range(COUNT)]
    unit = document_unit(tmp_path, {"en": lines, "xx": lines[:MISSING] + lines[MISSING + 1 :]})
    settings = DocumentSettings(ReadLimits(), TokenConfig(), 1_000)
    (read,) = read_documents(unit, settings)
    return read


@pytest.fixture
def model(tmp_path):
    """Return an aligner that knows each word as its own translation."""
    pairs = [(sentence(number)[0],) * 2 for number in range(60)]
    fitted = fit(plain_table(pairs), HmmConfig())
    directory = str(tmp_path / "model")
    return hmm_reference.save(directory, hmm_reference.pack(fitted, TokenConfig(), {}))


def missing_one(path):
    """Tell whether a path pairs each sentence with itself, and leaves the missing one alone."""
    wanted = [(1, 1)] * COUNT
    wanted[MISSING] = (1, 0)
    return list(zip(path.sources.tolist(), path.targets.tolist(), strict=True)) == wanted


@pytest.mark.parametrize("similarity", ["sentences", "yisi2"])
@pytest.mark.parametrize("with_words", [False, True])
def test_each_sentence_is_paired_with_itself(encoder, document, model, similarity, with_words):
    reference = sentence_encoder_reference.find(encoder, 0, None, similarity)
    path = align_with_encoder(document, model if with_words else NO_MODEL, reference)
    assert missing_one(path)
    if not with_words:
        assert -0.1 < path.scores.min() <= path.scores.max() <= 0


@pytest.mark.parametrize(
    ("layer", "similarity", "number"),
    [(None, "sentences", 3), (None, "yisi2", 3), (-2, "yisi2", 2), (0, "yisi2", 0)],
)
def test_the_layer_is_the_last_or_for_yisi2_a_third_before_the_end(
    encoder, layer, similarity, number
):
    actual = sentence_encoder_reference.find(encoder, layer, None, similarity)
    assert (actual.config.layer, actual.similarity) == (number, similarity)


def test_yisi2_compares_a_layer_before_the_last_of_a_deep_encoder(tmp_path):
    texts = [sentence(number)[0] for number in range(9)]
    write_bert(tmp_path, texts, layers=6, hidden=8, heads=2)
    actual = [
        sentence_encoder_reference.find(str(tmp_path), None, None, similarity).config.layer
        for similarity in ("sentences", "yisi2")
    ]
    assert actual == [6, 5]
