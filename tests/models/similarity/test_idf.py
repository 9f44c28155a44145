"""Counts of pieces: what they count, their files, and what is refused."""

import numpy as np
import pytest

from pairweave.models.encoder.pieces import Pieces
from pairweave.models.similarity import idf
from pairweave.transforms.errors import ConfigError


def pieces(*texts):
    offsets = np.cumsum([0, *map(len, texts)])
    ids = np.array([piece for text in texts for piece in text], np.int64)
    nothing = np.zeros(len(ids), np.int32)
    return Pieces(offsets.astype(np.int64), ids, nothing, nothing)


@pytest.fixture
def counted():
    return idf.count(pieces([1, 1, 2], [2, 3], []), pieces([0], [0, 0], [4]), 5, "digest")


def test_a_piece_counts_once_a_sentence(counted):
    assert counted.pairs == 3
    assert counted.source.tolist() == [0, 1, 2, 1, 0]
    assert counted.target.tolist() == [2, 0, 0, 0, 1]


def test_counts_of_parts_add_up(counted):
    parts = idf.nothing_counted(5, "digest").with_pairs(pieces([1, 1, 2]), pieces([0]))
    parts = parts.with_pairs(pieces([2, 3], []), pieces([0, 0], [4]))
    assert idf.pack(parts, {}) == idf.pack(counted, {})


def test_rare_pieces_weigh_more_and_frequent_ones_not_nothing(counted):
    expected = [np.log(1 + 4 / (count + 1)) for count in (0, 1, 2, 1, 0)]
    assert counted.weights("source") == pytest.approx(expected)
    assert counted.weights("target").min() > 0


def test_counts_are_read_back_from_their_files(counted, tmp_path):
    saved = idf.save(str(tmp_path / "idf"), idf.pack(counted, {"source_lang": ["en"]}))
    assert idf.find(str(tmp_path / "idf")) == saved
    read = saved.load()
    assert (read.pairs, read.pieces) == (3, "digest")
    assert read.source.tolist() == counted.source.tolist()
    assert idf.pack(counted, {}) == idf.pack(read, {})


def test_damaged_and_missing_counts_are_refused(counted, tmp_path):
    with pytest.raises(ConfigError, match="no complete counts of pieces"):
        idf.find(str(tmp_path))
    saved = idf.save(str(tmp_path), idf.pack(counted, {"other": 1}))
    (tmp_path / "source.npy").write_bytes(b"")
    with pytest.raises(ConfigError, match="hash differs"):
        saved.load()
    assert idf.find_whole(str(tmp_path)) is None
