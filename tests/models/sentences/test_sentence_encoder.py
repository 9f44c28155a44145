import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the extra `neural`")

from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.sentences import sentence_encoder
from tests.makers.corpora import sentence
from tests.makers.encoders import write_bert


def test_the_encoder_of_sentences_tells_how_many_are_done(tmp_path, monkeypatch):
    texts = [sentence(number)[0] for number in range(5)]
    write_bert(tmp_path, texts, layers=1)
    pieces = sentence_encoder.load_pieces(EncoderConfig(str(tmp_path), layer=-1, device="cpu"))
    whole = sentence_encoder.encode_sentences(pieces, texts)
    monkeypatch.setitem(sentence_encoder._CHARACTERS, "cpu", 1)  # a batch for each sentence
    told = []
    actual = sentence_encoder.encode_sentences(pieces, texts, lambda *done: told.append(done))
    assert told == [(number, 5) for number in range(1, 6)]
    np.testing.assert_allclose(actual, whole, rtol=1e-4, atol=1e-4)
