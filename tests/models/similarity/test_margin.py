"""Margins and sentence vectors against plain twins."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra `neural`")

import xxhash  # noqa: E402

from pairweave.models.encoder.encoder import load_encoder  # noqa: E402
from pairweave.models.encoder.encoder_config import EncoderConfig  # noqa: E402
from pairweave.models.encoder.piece_encoder import PieceEncoder  # noqa: E402
from pairweave.models.similarity import margin  # noqa: E402
from pairweave.models.similarity.margin import Neighbours, margins  # noqa: E402
from pairweave.models.similarity.sentence_vectors import SentenceEncoder  # noqa: E402
from pairweave.transforms import schemas  # noqa: E402
from tests.makers.encoders import write_bert, write_xlmr  # noqa: E402
from tests.makers.token_tables import token_table  # noqa: E402
from tests.oracles import slow_margin  # noqa: E402
from tests.oracles.slow_yisi import SlowYisi  # noqa: E402

PAIRS = [
    ("The old house stands on a hill.", "Das alte Haus steht auf einem Hügel."),
    ("A cat.", "Eine Katze schläft auf dem alten Sofa im Haus und träumt von Mäusen."),
    ("one", "eins"),
    ("The cat sat on the mat", "Die Katze saß auf der Matte"),
]


def keys(texts):
    return np.array([xxhash.xxh3_64_intdigest(text.encode()) for text in texts], np.uint64)


def test_no_more_is_compared_at_once_if_a_block_is_small(monkeypatch):
    monkeypatch.setattr(margin, "_CELLS", 1 << 10)
    sizes = []

    def merge(self, part, cosines, keys):
        sizes.append(len(cosines))
        return original(self, part, cosines, keys)

    original = Neighbours._merge
    monkeypatch.setattr(Neighbours, "_merge", merge)
    side = Neighbours(np.ones((100, 2), np.float32), 8)
    side.see(np.ones((1, 2), np.float32), keys(["one"]))
    assert sum(sizes) == 100
    assert max(sizes) * 16**2 <= 1 << 10


@pytest.mark.parametrize("count", [1, 4, 40])
@pytest.mark.parametrize("cells", [40, 1 << 20])
def test_margins_are_those_of_the_slow_twin_however_the_corpus_is_divided(
    count, cells, monkeypatch
):
    monkeypatch.setattr(margin, "_CELLS", cells)
    draw = np.random.default_rng(count)
    # Sentences come again, with other partners, within a block and across blocks.
    sources = [f"s{number}" for number in draw.integers(0, 20, 30)]
    targets = [f"t{number}" for number in draw.integers(0, 20, 30)]
    may = draw.random(30) < 0.8
    vectors = []
    for side in (sources, targets):
        actual = draw.standard_normal((20, 6)).astype(np.float32) + 0.5
        actual /= np.linalg.norm(actual, axis=1, keepdims=True)
        vectors.append({text: actual[int(text[1:])] for text in side})
    own = [
        np.stack([vectors[place][text] for text in side])
        for place, side in enumerate((sources, targets))
    ]
    expected = slow_margin.margins(sources, targets, vectors, count, may)
    for parts in (1, 3, 30):
        sides = [Neighbours(each, count) for each in own]
        for rows in np.array_split(np.arange(30), parts):
            block = rows[may[rows]]
            sides[0].see(own[1][block], keys(targets[row] for row in block))
            sides[1].see(own[0][block], keys(sources[row] for row in block))
        cosines = np.einsum("ij,ij->i", *own)
        actual = margins(cosines, sides[0].means(), sides[1].means())
        assert actual == pytest.approx(expected, abs=1e-5)


def test_what_is_not_similar_at_all_has_no_margin():
    assert margins(
        np.array([0.5, -0.1, 0.5]), np.array([0.2, 0.2, -1]), np.array([0.3, 0.3, 0])
    ).tolist() == [2, 0, 0]
    nothing = Neighbours(np.ones((2, 3), np.float32), 4)
    nothing.see(np.ones((0, 3), np.float32), np.zeros(0, np.uint64))
    assert nothing.means().tolist() == [0, 0]


@pytest.mark.parametrize("write", [write_bert, write_xlmr])
@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_a_sentence_s_vector_is_the_mean_of_its_pieces_or_the_first(tmp_path, write, pooling):
    directory = write(tmp_path, [text for pair in PAIRS for text in pair])
    config = EncoderConfig(str(directory), layer=-1, token_budget=40, device="cpu")
    encoder = SentenceEncoder(pooling, PieceEncoder(config, load_encoder(config)))
    pairs = [*PAIRS, ("house", "")]
    actual, rejected = encoder.encode_or_reject(token_table(pairs).select(schemas.PAIRS.names))
    assert not rejected
    slow = SlowYisi(directory, -1)
    for place, side in enumerate(("source", "target")):
        for row, pair in enumerate(pairs):
            vector = np.array(actual[side][row].as_py())
            if not pair[place]:
                assert not vector.any()
                continue
            expected = slow.first(pair[place])
            if pooling == "mean":
                expected = slow.vectors(pair[place]).mean(axis=0)
            assert vector == pytest.approx(expected / np.linalg.norm(expected), abs=2e-5)


def test_a_sentence_in_windows_has_one_vector(tmp_path):
    directory = write_bert(tmp_path, [text for pair in PAIRS for text in pair])
    config = EncoderConfig(str(directory), layer=-1, window_overlap=4, device="cpu")
    pieces = PieceEncoder(config, load_encoder(config))
    object.__setattr__(pieces.encoder, "limit", 12)
    long = " ".join(target for _, target in PAIRS)
    table = token_table([PAIRS[0], (long, long), PAIRS[3]]).select(schemas.PAIRS.names)
    for pooling in ("mean", "cls"):
        actual, _ = SentenceEncoder(pooling, pieces).encode_or_reject(table)
        vectors = np.array(actual["source"].to_pylist())
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
        alone, _ = SentenceEncoder(pooling, pieces).encode_or_reject(table.slice(1, 1))
        assert vectors[1] == pytest.approx(np.array(alone["source"][0].as_py()), abs=1e-5)
        assert vectors[1] == pytest.approx(np.array(actual["target"][1].as_py()), abs=1e-6)
