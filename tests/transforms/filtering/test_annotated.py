"""A row for every pair of the input, on a shard made by hand."""

import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.filtering import annotated, filtered, rules
from pairweave.transforms.filtering.evidence import HMM_COLUMNS
from pairweave.transforms.filtering.score import read_weights
from pairweave.transforms.shards.merge import merge_rows, pairs_of
from pairweave.transforms.shards.shard import Shard
from tests.makers.rows import row

HOUSE = ("A red house.", "Ein rotes Haus.")
SAME = ("the cat sat", "the cat sat")
PLACE = ("corpus", "line", "keep", "reason", "detail")


@pytest.fixture
def shard():
    """Return a shard of pairs that are kept, repeated, stopped by the screen, and not read."""
    rows = [
        row(*HOUSE, line=1),
        row(*HOUSE, line=2),
        row(*HOUSE, line=3, corpus="b"),
        row(*SAME, line=4, reason="identical", stage="screen"),
        row("Yes.", "x" * 9, line=5, reason="too_long", stage="screen", detail="9 > 8", score=0.5),
        row(None, None, line=6, reason="invalid_utf8"),
        row("No.", None, line=7, reason="empty_target", stage="screen"),
    ]
    kept, rejected = merge_rows([pa.Table.from_pylist(rows, schema=schemas.ROWS)])
    shard = annotated.take_up(Shard(0, kept, rejected, pairs_of(kept)))
    pairs = shard.table
    hmm = {name: np.full(pairs.num_rows, 0.5, np.float32) for name in HMM_COLUMNS}
    judged = rules.judge(pairs, rules.RuleConfig())
    return shard.with_table(filtered.scored(pairs, judged, hmm, read_weights()))


def by_line(table, *names):
    """Return some columns of each row, by its line."""
    rows = table.select(["line", *names]).to_pylist()
    return {one["line"]: tuple(one[name] for name in names) for one in rows}


def test_pairs_that_the_screen_stops_are_scored_with_its_reason(shard):
    assert by_line(shard.kept, "reason") == {3: (None,), 4: ("identical",)}
    assert sorted(by_line(shard.rejected)) == [1, 2, 5, 6, 7]
    assert annotated.passed_rows(shard).column("line").to_pylist() == [3]
    told = annotated.with_screen_reasons(shard).table
    assert by_line(told, "reason") == {3: (None,), 4: ("identical",)}


def test_pairs_stopped_by_limits_that_no_score_depends_on_are_taken_up():
    rows = [
        row(f"A red house {line}.", "Ein rotes Haus.", line=line, reason=reason, stage="screen")
        for line, reason in enumerate(("length_ratio", "identical", "excluded", "too_long"))
    ]
    rows.append(row("A red house.", None, line=9, reason="identical", stage="screen"))
    kept, rejected = merge_rows([pa.Table.from_pylist(rows, schema=schemas.ROWS)])
    taken = annotated.take_up(Shard(0, kept, rejected, pairs_of(kept)))
    assert sorted(by_line(taken.kept)) == [0, 1, 2]
    assert sorted(by_line(taken.table)) == [0, 1, 2]
    assert sorted(by_line(taken.rejected)) == [3, 9]


def test_every_pair_with_two_texts_has_a_row(shard):
    shard = annotated.with_screen_reasons(shard)
    data = filtered.data_of(shard.table, annotate=True, detects=False)
    after, actual = annotated.with_every_pair(shard, data)
    assert by_line(actual, "corpus", "keep", "reason") == {
        1: ("c", False, "duplicate"),
        2: ("c", False, "duplicate"),
        3: ("b", True, None),
        4: ("c", False, "identical"),
        5: ("c", False, "too_long"),
    }
    texts = by_line(actual, "source", "target", "file", "source_lang", "target_lang")
    assert texts[1] == texts[3] == (*HOUSE, "f", "en", "de")
    assert texts[5] == ("Yes.", "x" * 9, "f", "en", "de")
    scores = by_line(actual, "score", "gap", "target_words")
    assert scores[1] == scores[2] == scores[3]
    assert None not in scores[4]
    assert scores[5] == (0.5, None, None)
    assert sorted(by_line(after.rejected)) == [6, 7]
    assert after.kept.column("line").to_pylist() == actual.column("line").to_pylist()
    assert after.kept.column("id").to_pylist() == actual.column("id").to_pylist()


def test_a_shard_of_kept_pairs_alone_stays_as_it_is(shard):
    only = Shard(0, shard.kept, shard.rejected.slice(0, 0), shard.table)
    data = filtered.data_of(shard.table, annotate=True, detects=False)
    assert annotated.with_every_pair(only, data)[1] is data


def test_a_repeated_pair_without_its_long_text_has_that_of_the_first(shard):
    rejected = shard.rejected.to_pylist()
    for each in rejected:
        if each["reason"] == "duplicate":
            each["target"] = None
    left_out = pa.Table.from_pylist(rejected, schema=schemas.ROWS)
    only = Shard(0, shard.kept, left_out, shard.table)
    data = filtered.data_of(shard.table, annotate=True, detects=False)
    actual = by_line(annotated.with_every_pair(only, data)[1], "source", "target")
    assert actual[1] == actual[2] == HOUSE
