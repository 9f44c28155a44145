"""A preview shows each rule's value, limit and verdict, and sums up what all would reject."""

import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.filtering.rule_preview import preview_lines
from pairweave.transforms.filtering.rules import RULES, RuleConfig
from tests.makers.rows import row

ROWS = (
    row("A red house.", "Ein rotes Haus.", line=1),
    row("the cat sat on 3", "the cat sat on 4", line=2),
    row("It happened in 1999", "Es geschah 1998", line=3),
    row("long", "lang", line=4, reason="line_too_long", detail="9 bytes"),
)


def lines(rows, **limits):
    table = pa.Table.from_pylist(list(rows), schema=schemas.ROWS)
    return list(preview_lines(table, RuleConfig(**limits)))


def cells(line):
    return line.split()


def test_each_pair_has_a_line_for_each_rule_and_its_verdict():
    actual = lines(ROWS)
    begin = actual.index("c f line 2")
    assert actual[begin + 1 : begin + 3] == ["  en: the cat sat on 3", "  de: the cat sat on 4"]
    table = {cells(line)[0]: cells(line) for line in actual[begin + 4 : begin + 4 + len(RULES)]}
    assert table["copied"] == ["copied", "1,", "1", "<=", "0.5", "rejects"]
    assert table["number_mismatch"] == ["number_mismatch", "1", "<=", "0.5", "rejects"]
    assert table["script"] == ["script", "1,", "1", ">=", "0.5", "keeps"]
    assert actual[begin + 4 + len(RULES)] == "  rejects: copied"
    assert actual[actual.index("c f line 1") + 4 + len(RULES)] == "  keeps"


def test_each_pair_has_a_line_for_the_detected_language_of_each_side():
    pytest.importorskip("pycld2")
    french = ("The old dog never likes the house.", "Le vieux chien n'aime pas la maison rouge.")
    actual = lines((row(*french, line=1), row("OK", "OK", line=2)), detector="cld2")
    for place, source, target in (
        (1, ["en", "en", "keeps"], ["fr", "de", "rejects"]),
        (2, ["not", "sure", "en", "keeps"], ["not", "sure", "de", "keeps"]),
    ):
        end = actual.index(f"c f line {place}") + 4 + len(RULES)
        assert cells(actual[end]) == ["source_language", *source]
        assert cells(actual[end + 1]) == ["target_language", *target]


def test_a_pair_that_was_rejected_before_says_why():
    actual = lines(ROWS)
    begin = actual.index("c f line 4")
    assert actual[begin + 3] == "  rejects: read, line_too_long (9 bytes)"


def test_the_summary_counts_rejects_alone_first_and_only():
    actual = lines(ROWS)
    summary = {cells(line)[0]: cells(line) for line in actual[-len(RULES) - 1 : -1]}
    assert summary["number_mismatch"][1:] == [
        "--max_number_mismatch",
        "0.5",
        "2",
        "1",
        "1",
        "1",
        "1",
    ]
    assert summary["copied"][3:6] == ["1", "1", "0"]
    assert summary["script"][-1] == "1"
    assert actual[-1] == "4 pairs: 1 rejected before the rules, 2 by a rule, 1 kept"


def test_limits_decide():
    actual = lines(ROWS, max_number_mismatch=1.0, max_copied=1.0)
    assert actual[-1] == "4 pairs: 1 rejected before the rules, 0 by a rule, 3 kept"


def test_no_pair_is_left_to_judge():
    assert lines(ROWS[3:])[-1] == "1 pair: 1 rejected before the rules, 0 by a rule, 0 kept"
