"""What a job says of the findings of its look."""

from pairweave.transforms.finding_notices import (
    EARLY_PAIRS,
    EARLY_SHARE,
    finding_notices,
    of_jobs,
    of_start,
)
from pairweave.transforms.findings import Finding
from pairweave.transforms.report import rejected_languages, rejected_shares


def finding(kind, file="a.en"):
    return Finding(kind, file, 2, 5, 4, "4 of 9 pairs", "do this")


def test_each_finding_is_a_notice_with_its_lines_and_what_mends_it():
    assert list(map(str, finding_notices([finding("moved")]))) == [
        "a.en:2-5: 4 of 9 pairs; do this [moved]"
    ]


def test_one_cause_in_many_files_is_one_notice():
    actual = [finding("inline_tags", f"{name}.xlf") for name in "abcde"]
    (said,) = map(str, finding_notices(actual))
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


def test_what_the_job_counts_is_told_at_the_start_if_it_is_more_than_one_pair_in_twenty():
    actual = [finding("unreadable"), finding("unreadable", "a.de"), finding("encoding")]
    assert of_start(actual, 159) == actual[:2]
    assert of_start(actual, 160) == []
    few = [Finding("empty", "a.en", 1, 5, 5, "5 pairs have an empty side")]
    assert of_start(few, EARLY_PAIRS) == few
    assert of_start(few, EARLY_PAIRS - 1) == []


def test_the_start_and_the_end_of_a_job_tell_of_the_same_share():
    assert (EARLY_SHARE, EARLY_PAIRS) == (rejected_shares.MOST, rejected_languages.MIN_PAIRS)


def test_entries_that_are_to_be_left_out_are_no_warning():
    said = "9 of 9 rows are left out: obsolete"
    assert of_start([Finding("unreadable", "a.po", 1, 99, 99, said)], 99) == []
