"""Texts are cut by the files of the translation model."""

import pytest

from pairweave.models.translators.translation_pieces import SentencePieces
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.text.tokens import train_sentencepiece


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Return the models of two languages that have no letter but the blank in common."""
    paths = []
    for side, letters in (("source", "abcdef"), ("target", "uvwxyz")):
        texts = [" ".join(letters[at:] + letters[:at] for at in range(6)) for _ in range(5)]
        path = tmp_path_factory.mktemp("model") / f"{side}.spm"
        path.write_bytes(train_sentencepiece(texts, 12))
        paths.append(path)
    return paths


def letters_of(pieces):
    return "".join(pieces).replace("\u2581", "")


def test_each_side_is_cut_by_its_own_model(models):
    both = SentencePieces(*models)
    assert all(len(piece) <= 7 for piece in both.cut(["abcdef"])[0])
    known = both.cut_target(["uvwxyz"])[0]
    assert known != both.cut(["uvwxyz"])[0]
    assert letters_of(known) == "uvwxyz"
    assert both.join(known) == "uvwxyz"


def test_one_file_may_serve_both_sides(models):
    one = SentencePieces(models[0], models[0])
    assert one.cut(["abc def"]) == one.cut_target(["abc def"])


def test_a_file_that_is_no_model_is_named(models, tmp_path):
    (tmp_path / "target.spm").write_bytes(b"no model")
    with pytest.raises(ConfigError, match=r"target\.spm: not a SentencePiece model"):
        SentencePieces(models[0], tmp_path / "target.spm")
