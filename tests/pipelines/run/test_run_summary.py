"""What a run says at its end."""

from pairweave.pipelines.process import terminal
from pairweave.pipelines.run import run_summary
from tests.makers import finished_runs


def annotated(read, kept, would_keep):
    return {
        "configuration": {"annotate_only": True},
        "rows": {"read": read, "kept": kept, "rejected": read - kept},
        "rejected": {"invalid_utf8": read - kept} if read > kept else {},
        "counts": {"kept_pairs": would_keep},
        "files": [{"name": "data/part-00000-of-00001.parquet", "rows": kept}],
    }


def test_a_run_that_only_annotates_says_how_many_pairs_its_rules_would_reject():
    assert run_summary._table(annotated(1_030, 1_030, 7)) == [
        "read         1,030",
        "kept         1,030",
        "rejected         0",
        "would keep       7",
        "would reject 1,023",
        "rows         1,030",
    ]


def test_rows_without_two_texts_would_be_rejected_too():
    lines = run_summary._table(annotated(10, 8, 3))
    assert "rejected      2  invalid_utf8 2" in lines
    assert "would reject  7" in lines


def test_a_run_that_rejects_says_nothing_else():
    actual = annotated(10, 8, 8)
    actual["configuration"]["annotate_only"] = False
    assert not [each for each in run_summary._table(actual) if each.startswith("would")]


def test_a_run_says_where_its_rows_its_report_and_its_rejects_are(tmp_path):
    said = []
    for name, turned_away in (("some", None), ("none", [])):
        output = str(tmp_path / name)
        finished_runs.write_run(output, turned_away=turned_away)
        with terminal.saying_to(said.append):
            run_summary.say_where(output)
    assert said[0].splitlines()[-4:] == [
        f"data:     {tmp_path}/some/data",
        f"report:   {tmp_path}/some/report.html",
        f"rejects:  {tmp_path}/some/rejects",
        f"manifest: {tmp_path}/some/_manifest.json",
    ]
    assert "rejects: " not in said[1]
    assert f"data:     {tmp_path}/none/data" in said[1]
