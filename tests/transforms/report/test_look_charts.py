"""What the page shows of the look at the input."""

import pytest

from pairweave.transforms.finding_notices import finding_notices
from pairweave.transforms.findings import Finding
from pairweave.transforms.report.look_charts import MAX_FINDINGS, shown_look, told_findings

CURVE = (300, 300, -200, None)


def manifest(*findings):
    return {
        "look": {"pairs": 400, "findings": [each.as_json() for each in findings]},
        "inputs": [{"name": "a.en", "rows": 400}],
    }


def stretch(first, last, curve=(), file="a.en"):
    return Finding("misaligned", file, first, last, last - first + 1, "no", "leave out", curve)


def test_nothing_is_shown_where_nothing_was_found():
    assert shown_look({"inputs": []}) is None
    assert shown_look(manifest()) is None


def test_the_stretches_of_a_file_are_marked_on_its_curve():
    shown = shown_look(manifest(stretch(201, 250, CURVE), stretch(301, 400)))
    (curve,) = shown["curves"]
    assert [(each["x"], each["width"]) for each in curve["stretches"]] == [(2.0, 0.5), (3.0, 1.0)]
    assert [bar["x"] for bar in curve["bars"]] == [0, 1, 2]
    assert [bar["kind"] for bar in curve["bars"]] == ["kept", "kept", "rejected"]
    # 300 to -200 is the whole height; the negative bar hangs below zero.
    assert [bar["y"] for bar in curve["bars"]] == pytest.approx([0, 0, 36])
    assert [bar["height"] for bar in curve["bars"]] == pytest.approx([36, 36, 24])
    assert curve["bars"][2]["label"] == "lines 201 to 300: -2.0"
    assert curve["ticks"] == ["1", "200", "400"]


def test_files_of_one_name_in_several_corpora_have_their_own_curves():
    actual = manifest(
        stretch(1, 50, CURVE, file="news: a.en"), stretch(1, 100, CURVE, file="law: a.en")
    )
    actual["inputs"] = [
        {"corpus": "news", "name": "a.en", "rows": 100},
        {"corpus": "law", "name": "a.en", "rows": 400},
    ]
    curves = shown_look(actual)["curves"]
    assert [curve["ticks"][-1] for curve in curves] == ["100", "400"]
    assert [[each["width"] for each in curve["stretches"]] for curve in curves] == [[2.0], [1.0]]


def test_a_table_has_what_was_found_where_and_what_to_do():
    (row,) = shown_look(manifest(stretch(201, 250)))["rows"]
    assert (row["lines"], row["what to do"]) == ("201 to 250", "leave out")
    assert row["what"] == "lines that are not translations of their counterparts"


def test_a_finding_on_a_whole_file_has_no_lines():
    copied = Finding("copied", "a.en", 0, 0, 1, "the target is the same file")
    (row,) = shown_look(manifest(copied))["rows"]
    assert row["lines"] == "all"


def test_notices_on_findings_are_told_apart_from_others_with_what_to_do():
    actual = [stretch(201, 250), *(Finding("copied", f"{n}.en", 1, 2, 2, "same") for n in "abcde")]
    notices = ["a notice", *map(str, finding_notices(actual))]
    told, others = told_findings({**manifest(*actual), "notices": notices})
    assert others == ["a notice"]
    assert [each["place"] for each in told] == ["a.en:201-250", "a.en:1-2 and 4 other files"]
    assert [each["evidence"] for each in told] == ["no", "10 lines; of the first file: same"]
    assert [each["what to do"] for each in told] == ["leave out", ""]
    assert told_findings({"notices": notices}) == ([], notices)


def test_a_long_list_is_counted():
    shown = shown_look(manifest(*(stretch(1, 2) for _ in range(MAX_FINDINGS + 3))))
    assert (len(shown["rows"]), shown["left"]) == (MAX_FINDINGS, 3)
