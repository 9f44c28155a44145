"""What a job says of the findings of its look."""

from pairweave.transforms.finding_notices import finding_notices, of_jobs
from pairweave.transforms.findings import Finding


def finding(kind, file="a.en"):
    return Finding(kind, file, 2, 5, 4, "4 of 9 pairs", "do this")


def test_each_finding_is_a_notice_with_its_lines_and_what_mends_it():
    assert list(map(str, finding_notices([finding("moved")]))) == [
        "a.en:2-5: 4 of 9 pairs; do this [moved]"
    ]


def test_one_cause_in_many_files_is_one_notice():
    found = [finding("inline_tags", f"{name}.xlf") for name in "abcde"]
    (said,) = map(str, finding_notices(found))
    assert said.startswith("a.xlf:2-5 and 4 other files: 20 lines; of the first file: 4 of 9")


def test_what_the_job_counts_by_itself_or_deals_with_is_left_out():
    kinds = (
        "duplicates",
        "empty",
        "unreadable",
        "empty_file",
        "placeholders",
        "c1_controls",
        "encoding",
    )
    assert [each.kind for each in of_jobs(list(map(finding, kinds)))] == ["encoding"]
