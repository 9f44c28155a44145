"""Notices on a wrong field name, alone and with good files."""

import json

import pytest

from pairweave.pipelines import cli
from pairweave.transforms.output.receipt_sums import sum_receipts
from pairweave.transforms.rejects import Reject
from pairweave.transforms.report.rejected_files import mostly_rejected, rejection_notices
from pairweave.transforms.screen import ScreenReject
from pairweave.transforms.shards.sample import gather_sample, sample_rows, why_empty
from tests.makers.rows import batch, row

LANGUAGES = ("--source_lang", "en", "--target_lang", "de", "--workers", "1")


def write(path, keys, rows=60):
    lines = [json.dumps({keys[0]: f"the house {n}", keys[1]: f"das Haus {n}"}) for n in range(rows)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def align(output, *inputs):
    return cli.main(
        ["align", "--input", *inputs, *LANGUAGES, "--output", str(output), "--attempts", "1"]
    )


def test_a_file_without_the_named_field_is_refused_with_the_reason(tmp_path, capsys):
    path = write(tmp_path / "bad.jsonl", ("text", "translated"))
    assert align(tmp_path / "out", path) == 2
    errors = capsys.readouterr().err
    assert "most often rejected as missing_field, as at bad.jsonl line 1: source" in errors


def test_beside_good_files_a_notice_names_the_bad_one_and_its_reason(tmp_path, capsys):
    good = write(tmp_path / "good.jsonl", ("source", "target"))
    bad = write(tmp_path / "bad.jsonl", ("text", "translated"), rows=50)
    assert align(tmp_path / "out", good, bad) == 0
    notice = (
        "50 of 110 pairs (45%) were rejected as missing_field, among them 50 of the 50 of "
        "bad.jsonl; look at the format of the file and at the options that name its fields"
    )
    assert f"notice: {notice}" in capsys.readouterr().out
    assert notice in json.loads((tmp_path / "out/_manifest.json").read_text())["notices"]
    assert notice in (tmp_path / "out/report.html").read_text()


def plan(*units):
    return {
        "units": [
            {"index": index, "file": file, "line": line, "rows": rows}
            for index, (file, line, rows) in enumerate(units)
        ]
    }


def sums(*reasons, units=30, kept=()):
    """Return what receipts add up to that reject so many rows of a unit for a reason."""
    receipt = {
        **dict.fromkeys(("shard", "rows", "kept"), 0),
        "kept_by_corpus": {},
        "counts": {},
        "rejected": [],
        "files": [],
        "units": list(kept),
        "unit_reasons": list(map(list, reasons)),
    }
    return sum_receipts([receipt], units)


def notices(plan, sums, said=()):
    return rejection_notices(mostly_rejected(plan, sums), said)


def test_files_of_one_name_in_several_corpora_are_told_apart():
    files = plan(("a", 1, 100), ("a", 101, 100), ("b", 1, 9), ("a", 1, 100))
    corpora = [("news", "a", 200), ("news", "b", 9), ("law", "a", 100)]
    files["inputs"] = [
        {"corpus": corpus, "name": name, "role": role, "rows": rows}
        for corpus, name, rows in corpora
        for role in ("source", "target")
    ]
    reasons = [(0, "too_long", 90), (1, "too_long", 90), (2, "script", 9), (3, "too_long", 10)]
    assert notices(files, sums(*reasons)) == [
        "news: a: 180 of 200 pairs were rejected, 180 as too_long",
        notices(plan(("b", 1, 9)), sums((0, "script", 9)))[0],
    ]
    # Where the files of the plan are not those of its units, names must do.
    del files["inputs"][0]
    assert notices(files, sums(*reasons))[0].startswith("a: 190 of 300 pairs")


def test_a_part_of_a_file_is_named_where_the_whole_file_is_not():
    files = plan(("a", 1, 100), ("a", 101, 100), ("a", 201, 100))
    actual = notices(
        files,
        sums((1, "too_long", 30), (1, "duplicate", 20), (1, "duplicate", 20)),
    )
    assert actual == ["a, lines 101 to 200: 70 of 100 pairs were rejected, 40 as duplicate"]


@pytest.mark.parametrize(("rejected", "number"), [(50, 0), (51, 1)])
def test_more_than_half_must_be_rejected(rejected, number):
    actual = notices(plan(("a", 1, 100)), sums((0, "too_long", rejected)))
    assert len(actual) == number


@pytest.mark.parametrize(("kept", "said"), [(31, []), (29, ["a: 30 of 59 pairs were rejected"])])
def test_pairs_out_of_documents_are_counted_and_not_their_lines(kept, said):
    documents = {"units": [{"index": 0, "file": "a", "line": 1, "rows": 100, "aligned": True}]}
    actual = notices(documents, sums((0, "unaligned", 30), kept=[[0, kept, 30]]))
    assert [notice.partition(",")[0] for notice in actual] == said


def test_of_many_bad_files_some_are_named_and_the_rest_counted():
    parts = [(f"f{number}", line, rows) for number in range(30) for line, rows in ((1, 1), (2, 9))]
    actual = notices(plan(*parts), sums(*((2 * n, "too_long", 1) for n in range(30)), units=60))
    assert len(actual) == 21
    assert actual[-1].startswith("10 more files")


def test_many_files_rejected_for_one_reason_are_one_notice():
    files = plan(*((f"f{number}", 1, 2) for number in range(30)))
    reasons = [(n, "too_long" if n % 5 else "empty_source", 2) for n in range(30)]
    actual = notices(files, sums(*reasons))
    assert actual == [
        "f0 and 5 other files: 12 of 12 pairs were rejected, 12 as empty_source",
        "f1 and 23 other files: 48 of 48 pairs were rejected, 48 as too_long",
    ]


def test_an_empty_sample_says_why_without_carrying_the_texts():
    rows = batch(
        row("s", "t", line=3, reason=ScreenReject.TOO_LONG, detail="300 tokens > 250"),
        row("s", "u", line=2, reason=ScreenReject.TOO_LONG, detail="301 tokens > 250"),
        row(None, "u", line=1, reason=Reject.INVALID_UTF8),
    )
    parts = [part for _, part in sample_rows(rows, 1.0, 1)]
    assert all(part.column("source").null_count == part.num_rows for part in parts)
    assert gather_sample(parts).num_rows == 0
    assert why_empty(parts) == "most often rejected as too_long, as at f line 2: 301 tokens > 250"
    assert why_empty([]) == ""


def test_a_reason_that_has_a_notice_on_the_whole_run_has_none_on_its_files():
    rejected = sums((0, "script", 90), (1, "too_long", 80))
    files = plan(("a", 1, 100), ("b", 1, 100))
    assert len(notices(files, rejected)) == 2
    (left,) = notices(files, rejected, ["script"])
    assert left.startswith("b: 80 of 100 pairs")
