"""The digest of an external aligner's encoder."""

import types

import pytest

from pairweave.models.external.external import model_digest


@pytest.fixture
def directory(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "weights").write_bytes(b"1")
    return tmp_path


def digest_of(directory):
    return model_digest(types.SimpleNamespace(model_path=lambda: directory))


def test_names_and_contents_of_files_are_told_apart(directory):
    actual = {digest_of(directory)}
    (directory / "weights").write_bytes(b"2")
    actual.add(digest_of(directory))
    (directory / "weights").rename(directory / "other")
    actual.add(digest_of(directory))
    assert len(actual) == 3


def test_hidden_files_and_directories_are_no_part_of_an_encoder(directory):
    before = digest_of(directory)
    (directory / ".cache").write_bytes(b"")
    (directory / "onnx").mkdir()
    assert digest_of(directory) == before
