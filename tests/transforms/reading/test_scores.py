"""A column of scores beside the texts, in every format that has columns."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.reading.given_scores import read_scores
from tests.makers.reading import corpus, read_all, reasons, single

PAIRS = [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]
CELLS = ["0.5", "-1e2", "", "much"]


def test_an_id_with_an_underscore_is_no_score():
    problems = {}
    scores = read_scores(pa.array(["12_345", " 1e-3 ", " "]), problems)
    assert scores.to_pylist() == [None, np.float32(1e-3), None]
    assert problems[0].reason == "wrong_type"
    assert [*problems] == [0]


def write_tsv(directory):
    path = directory / "a.tsv"
    lines = ["source\tlm\ttarget"]
    lines += [
        f"{source}\t{cell}\t{target}" for (source, target), cell in zip(PAIRS, CELLS, strict=True)
    ]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path, {"source_field": "source", "target_field": "target"}


def write_jsonl(directory):
    path = directory / "a.jsonl.gz"
    values = [0.5, -100, None, "much"]
    rows = [
        {"source": source, "lm": value, "target": target}
        for (source, target), value in zip(PAIRS, values, strict=True)
    ]
    path.write_bytes(gzip.compress("".join(f"{json.dumps(row)}\n" for row in rows).encode()))
    return path, {}


def write_languages(directory):
    path = directory / "b.jsonl"
    rows = [
        {"translation": {"en": source, "de": target}, "lm": cell}
        for (source, target), cell in zip(PAIRS, CELLS, strict=True)
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path, {}


def write_parquet(directory):
    path = directory / "a.parquet"
    sources, targets = zip(*PAIRS, strict=True)
    pq.write_table(pa.table({"source": sources, "target": targets, "lm": CELLS}), path)
    return path, {}


@pytest.mark.parametrize("write", [write_tsv, write_jsonl, write_languages, write_parquet])
def test_a_score_is_a_number_or_nothing_and_else_a_reason(tmp_path, write):
    path, fields = write(tmp_path)
    rows = read_all(single(path, score_field="lm", **fields))
    assert [(row["source"], row["target"]) for row in rows] == PAIRS
    assert [row["score"] for row in rows] == [0.5, -100.0, None, None]
    assert reasons(rows) == [None, None, None, "wrong_type"]
    assert rows[3]["detail"] == "score: 'much' is not a number, or is too large"
    unasked = read_all(single(path, **fields))
    assert [row["score"] for row in unasked] == [None] * 4
    assert reasons(unasked) == [None] * 4
    assert [row["id"] for row in rows[:3]] == [row["id"] for row in unasked[:3]]


def test_numbers_of_parquet_are_read_as_they_are(tmp_path):
    for kind in (pa.float32(), pa.float64(), pa.int64()):
        path = tmp_path / f"{kind}.parquet"
        values = pa.array([3, None, -7], kind)
        pq.write_table(pa.table({"source": [*"abc"], "target": [*"def"], "lm": values}), path)
        rows = read_all(single(path, score_field="lm"))
        assert [row["score"] for row in rows] == [3.0, None, -7.0]


@pytest.mark.parametrize("cell", ["nan", "-inf", "-1e39", "1e39", "0x1", "1,5", "true"])
def test_what_32_bits_cannot_hold_is_no_score(tmp_path, cell):
    path = tmp_path / "a.tsv"
    path.write_text(f"a\tb\t{cell}\nc\td\t{np.finfo(np.float32).max}\n")
    rows = read_all(single(path, score_field="3"))
    assert reasons(rows) == ["wrong_type", None]


def test_a_score_that_is_not_there_is_said_before_anything_is_read(tmp_path):
    path, fields = write_tsv(tmp_path)
    with pytest.raises(InputError, match="wanted source, target, quality in the header"):
        make_plan([single(path, score_field="quality", **fields)])
    path, _ = write_parquet(tmp_path)
    with pytest.raises(InputError, match="wanted quality: a number; found source: string"):
        make_plan([single(path, score_field="quality")])
    with pytest.raises(ConfigError, match="line-parallel text has no columns"):
        corpus(source_input=("a.en",), target_input=("a.de",), score_field="lm")
