"""Pairs that a table has or that were taken down lose their texts and keep their place."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.known_pairs import IdSet, KnownPairs, PlannedFile, Tombstones, mark_known
from pairweave.transforms.screen import sentence_keys
from pairweave.transforms.storage import files
from tests.makers.rows import batch, row

_NEAR = st.integers(0, 5).map(lambda number: f"{number // 3:016x}{number:016x}")
_IDS = st.lists(_NEAR | st.uuids().map(lambda uuid: uuid.hex))


def planned(path):
    """Return a file as it is now."""
    return PlannedFile(str(path), files.sha256_of(str(path)))


@given(_IDS, _IDS)
def test_a_set_has_exactly_its_ids(inside, asked):
    actual = IdSet.of(pa.array(inside, pa.string()))
    again = IdSet.from_bytes(actual.to_bytes())
    expected = [key in inside for key in asked]
    for each in (actual, again):
        assert each.has(pa.array(asked, pa.string())).tolist() == expected
        assert len(each) == len(set(inside))


def test_known_pairs_and_those_taken_down_are_rejected_without_their_texts(tmp_path):
    pairs = [(f"source {n}", f"target {n}") for n in range(6)]
    rows = batch(*(row(*pair, corpus="news") for pair in pairs))
    keys = rows.column("id").to_pylist()
    known = IdSet.of(pa.array(keys[:2]))
    (tmp_path / "known").write_bytes(known.to_bytes())
    text = int(sentence_keys(pa.array(["TARGET  4"]))[0])
    stones = Tombstones({keys[1]: None, keys[2]: ("help",), keys[3]: ("news",)}, {text: None})
    (tmp_path / "down").write_bytes(stones.to_bytes())
    config = KnownPairs(*(planned(tmp_path / name) for name in ("known", "down")))
    marked = mark_known(rows, config)
    reasons = [None if r is None else str(r) for r in marked.column("reason").to_pylist()]
    assert reasons == ["in_table", "taken_down", None, "taken_down", "taken_down", None]
    assert marked.column("id").to_pylist() == keys
    for side in ("source", "target"):
        texts = marked.column(side).to_pylist()
        assert [text is None for text in texts] == [reason is not None for reason in reasons]


def test_files_that_are_written_again_are_read_again(tmp_path):
    rows = batch(*(row(f"source {n}", f"target {n}") for n in range(2)))
    path = tmp_path / "known"
    for key in rows.column("id").to_pylist():
        path.write_bytes(IdSet.of(pa.array([key])).to_bytes())
        now = planned(path)
        marked = mark_known(rows, KnownPairs(now, None))
        reasons = zip(rows.column("id").to_pylist(), marked.column("reason"), strict=True)
        assert [each for each, reason in reasons if reason.is_valid] == [key]
    path.write_bytes(b"")
    with pytest.raises(ConfigError, match="known: has changed since the run was planned"):
        mark_known(rows, KnownPairs(now._replace(sha256="0"), None))


def test_tombstones_keep_no_text_and_join_their_corpora():
    one = Tombstones({"a": ("x",), "b": None}, {5: ("x",)})
    other = Tombstones({"a": ("y",), "b": ("y",)}, {5: None})
    joined = one.joined(other)
    assert joined == Tombstones({"a": ("x", "y"), "b": None}, {5: None})
    assert Tombstones.from_bytes(joined.to_bytes()) == joined


@pytest.mark.parametrize("data", [b"no json\n", b'{"corpora": null}\n', b'{"text": "zz"}\n'])
def test_a_damaged_file_is_named(tmp_path, data):
    (tmp_path / "down").write_bytes(data)
    rows = batch(row("a", "b"))
    with pytest.raises(ConfigError, match="down: expected one JSON object per line"):
        mark_known(rows, KnownPairs(None, planned(tmp_path / "down")))
    (tmp_path / "known").write_bytes(np.zeros(3, np.uint8).tobytes())
    with pytest.raises(ConfigError, match="known: expected 16 bytes for each id, found 3"):
        mark_known(rows, KnownPairs(planned(tmp_path / "known"), None))


def test_sets_of_ids_are_compared_and_made_of_parts():
    texts = [f"{number:032x}" for number in range(10)]
    parts = [
        pa.array(texts[2:7]),
        pa.chunked_array([texts[5:6], texts[:3]]),
        pa.array([], pa.string()),
    ]
    one = IdSet.of_all(parts)
    assert one.texts(20) == texts[:7]
    other = IdSet.of(pa.chunked_array([texts[5:8], texts[8:]]))
    assert one.without(other).texts(20) == texts[:5]
    assert IdSet.joined([one, other]).texts(20) == texts
    assert IdSet.of_all([]).texts(1) == IdSet.joined([]).texts(1) == []
