"""The report shows the pairs on both sides of each rule's limit, with the values that decided."""

import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms.filtering import rules
from pairweave.transforms.filtering.rules import RULES, RuleConfig
from pairweave.transforms.report.border_samples import border_samples
from tests.makers.rows import pair

SETTINGS = {
    **{rule.option: getattr(RuleConfig(), rule.option) for rule in RULES},
    "select_words": None,
    "select_share": None,
    "select_score": None,
}


def judged(texts):
    """Return pairs with all columns, and what the rules say of them."""
    rows = [pair(number, *each) for number, each in enumerate(texts)]
    table = pa.Table.from_pylist(rows)
    result = rules.judge(table, RuleConfig())
    for name, values in result.values.items():
        table = table.append_column(name, pa.array(values))
    return table, result


def shards(texts, size=4):
    """Return shards of kept pairs and of rejected ones, as the job writes them."""
    table, result = judged(texts)
    table = table.append_column("score", pa.array(np.linspace(0.1, 0.9, len(texts))))
    first, reasons = result.first(), list(result.hits)
    kept = table.filter(pa.array(first < 0))
    gone = np.flatnonzero(first >= 0)
    names = [str(reasons[first[row]]) for row in gone]
    details = [result.details[reasons[first[row]]](row) for row in gone]
    rejected = table.take(pa.array(gone)).append_column("reason", pa.array(names, pa.string()))
    rejected = rejected.append_column("detail", pa.array(details, pa.string()))
    return [
        [part.slice(at, size) for at in range(0, max(1, len(part)), size)]
        for part in (kept, rejected)
    ]


@pytest.fixture(scope="module")
def texts():
    other = " ".join(f"Hausnummer {number}" for number in range(14, 24))
    numbers = [
        (" ".join(f"housenumber {number}" for number in range(10, 10 + size)), other)
        for size in range(4, 14)
    ]
    longer = [("a word here", "ein Wort " * n) for n in range(1, 14)]
    return [*numbers, *longer, ("the cat sat", "the cat sat"), ("it is so", "das ist so")]


def test_each_rule_shows_the_worst_kept_and_the_best_rejected_pairs(texts):
    data, rejects = shards(texts)
    table, actual = judged(texts)
    first, reasons = actual.first(), list(actual.hits)
    borders = {each["rule"]: each for each in border_samples(SETTINGS, data, rejects)}
    assert {"number_mismatch", "char_ratio", "copied"} <= borders.keys()
    for rule in RULES:
        values = np.minimum.reduce([actual.values[name] for name in rule.columns])
        kept = values[first < 0]
        rejected = values[first == reasons.index(rule.reason)]
        kept = np.sort(kept[kept < 1]) if rule.least else np.sort(kept[kept > 0])[::-1]
        rejected = np.sort(rejected)[::-1] if rule.least else np.sort(rejected)
        border = borders.get(str(rule.reason), {"kept": [], "rejected": []})
        for name, expected in (("kept", kept), ("rejected", rejected)):
            shown = [row["value"] for row in border[name]]
            np.testing.assert_allclose(shown, expected[: len(shown)], rtol=5e-3)
            assert len(shown) == min(2, len(expected))
    row = borders["copied"]["rejected"][0]
    assert (row["source"], row["value"], row["line"]) == ("the cat sat", 1.0, len(texts) - 1)
    assert len(table) == len(texts)


def test_annotated_rows_are_on_the_side_that_they_would_be_on(texts):
    data, rejects = shards(texts)
    annotated = [
        *(t.append_column("keep", pa.array([True] * len(t))).append_column(
            "reason", pa.nulls(len(t), pa.string())) for t in data),
        *(t.drop_columns(["detail", "reason"]).append_column(
            "keep", pa.array([False] * len(t))).append_column("reason", t.column("reason"))
            for t in rejects),
    ]  # fmt: skip
    actual = border_samples(SETTINGS, annotated, [])
    expected = border_samples(SETTINGS, data, rejects)
    assert [each["rule"] for each in actual] == [each["rule"] for each in expected]
    for one, other in zip(actual, expected, strict=True):
        for name in ("kept", "rejected"):
            assert [row["id"] for row in one[name]] == [row["id"] for row in other[name]]


def test_the_border_of_the_selection_is_between_scores():
    table, _ = judged([(f"a word {n}", f"ein Wort {n}") for n in range(6)])
    kept = table.slice(0, 3).append_column("score", pa.array([0.9, 0.7, 0.8]))
    gone = table.slice(3).append_column("reason", pa.array(["low_score"] * 3))
    gone = gone.append_column("detail", pa.array(["score 0.2", "score 0.65", "score 1e-05"]))
    actual = border_samples({**SETTINGS, "select_words": 6}, [kept], [gone])[-1]
    assert actual["rule"] == "low_score"
    assert [row["value"] for row in actual["kept"]] == [0.7, 0.8]
    assert [row["value"] for row in actual["rejected"]] == [0.65, 0.2]


def test_without_shards_there_is_no_border():
    assert border_samples(SETTINGS, [], []) == []
