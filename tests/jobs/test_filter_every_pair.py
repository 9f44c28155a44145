"""`filter --annotate_only`: a row for every pair, which says why a pair has no score."""

import collections
import json

import pyarrow.parquet as pq
import pytest

from tests.makers import corpora, runs

PAIRS = 60
COMMAND = ("filter", *("--source_input", "corpus.en", "--target_input", "corpus.de"))
COMMAND += ("--source_lang", "en", "--target_lang", "de", "--workers", "1", "--model", "model")
COMMAND += ("--shard_pairs", "40", "--drop_identical", "true", "--exclude", "test.en")

LONG = "word " * 4_000
# Rejected rows lose texts as long as these, which pass the screen.
LARGE = [" ".join(f"{letter * 90}{number}" for number in range(200)) for letter in "ab"]
UNEVEN = [("Yes.", "Ja, das ist so, und zwar immer und immer wieder.")] * 2
FAULTS = (
    (None, "Yes, yes.", "Ja, ja."),
    *(("length_ratio", *texts) for texts in UNEVEN),
    ("identical", "Berlin Hamburg", "Berlin Hamburg"),
    ("excluded", "A sentence of the test set.", "Ein Satz der Testmenge."),
    ("empty_source", " ", "Ein Satz ohne Quelle."),
    ("empty_target", "A sentence without a target.", ""),
    ("too_long", LONG, LONG),
    ("long_token", "a" * 101, "b"),
    ("duplicate", "Yes, yes.", "Ja, ja."),
    ("word_chars", *LARGE),
    ("duplicate", *LARGE),
    ("control_char", "A bell\x07.", "Eine Glocke."),
    ("invalid_utf8", b"\xff", b"x"),
)
SCORED = {None, "word_chars", "length_ratio", "identical", "excluded", "duplicate"}
NO_PAIRS = {"control_char", "invalid_utf8"}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a pair of each kind that the screen stops, and then a corpus."""
    directory = tmp_path_factory.mktemp("filter")
    for side, name in enumerate(("corpus.en", "corpus.de")):
        lines = [corpora.sentence(number)[side] + "\n" for number in range(PAIRS)]
        (directory / name).write_text("".join(lines))
    (directory / "test.en").write_text("A sentence of the test set.\n")
    sides = ("--source_input", "corpus.en", "--target_input", "corpus.de")
    langs = ("--source_lang", "en", "--target_lang", "de", "--workers", "1")
    runs.run_well_here("fit", *sides, *langs, "--output", "model", cwd=directory)
    for side, name in enumerate(("corpus.en", "corpus.de")):
        texts = [fault[1 + side] for fault in FAULTS]
        lines = [text if isinstance(text, bytes) else text.encode() for text in texts]
        path = directory / name
        path.write_bytes(b"".join(line + b"\n" for line in lines) + path.read_bytes())
    return directory


def run(directory, name, *options):
    runs.run_well_here(*COMMAND, *options, "--output", name, cwd=directory)
    return json.loads((directory / name / "_manifest.json").read_text())


def rows(directory, name, part="data"):
    return pq.read_table(directory / name / part).to_pylist()


@pytest.fixture(scope="module")
def plain(directory):
    """Return the manifest of a run without `--annotate_only`."""
    return run(directory, "plain", "--scores", "plain.txt")


@pytest.fixture(scope="module")
def annotated(directory):
    """Return the manifest of a run with it."""
    return run(directory, "annotated", "--annotate_only", "--scores", "annotated.txt")


def test_every_pair_with_two_readable_sides_has_a_row(directory, annotated):
    by_line = {row["line"]: row for row in rows(directory, "annotated")}
    lines = len((directory / "corpus.en").read_bytes().splitlines())
    no_pairs = {number for number, (reason, *_) in enumerate(FAULTS, 1) if reason in NO_PAIRS}
    assert by_line.keys() == set(range(1, lines + 1)) - no_pairs
    counts = annotated["rows"]
    assert counts["kept"] == len(by_line)
    assert counts["read"] == lines == counts["kept"] + counts["rejected"]
    rejected = rows(directory, "annotated", "rejects")
    assert {row["reason"] for row in rejected} == NO_PAIRS
    assert {row["line"] for row in rejected} == no_pairs


@pytest.mark.usefixtures("annotated")
def test_a_pair_that_cannot_be_scored_has_no_score_and_a_reason(directory):
    by_line = {row["line"]: row for row in rows(directory, "annotated")}
    for number, (reason, *texts) in enumerate(FAULTS, 1):
        if reason in NO_PAIRS:
            continue
        row = by_line[number]
        assert [row["source"], row["target"]] == texts
        assert (row["keep"], row["reason"]) == (reason is None, reason)
        measured = [row[name] for name in ("score", "target_words", "copied_words", "gap")]
        assert [value is not None for value in measured] == [reason in SCORED] * 4
    others = [row for line, row in by_line.items() if line > len(FAULTS)]
    assert all(row["score"] is not None for row in others)


@pytest.mark.usefixtures("annotated")
def test_a_repeated_pair_has_the_values_of_the_pair_that_it_repeats(directory):
    actual = collections.defaultdict(list)
    for row in rows(directory, "annotated"):
        actual[row["id"]].append(row)
    first, again = next(each for each in actual.values() if each[-1]["reason"] == "duplicate")
    own = ("line", "keep", "reason")
    assert {k: v for k, v in first.items() if k not in own} == {
        k: v for k, v in again.items() if k not in own
    }
    assert first["line"] < again["line"]


def test_reasons_and_counts_are_those_of_a_run_that_rejects(directory, plain, annotated):
    rejected = {row["line"]: row["reason"] for row in rows(directory, "plain", "rejects")}
    told = {row["line"]: row["reason"] for row in rows(directory, "annotated")}
    assert {line: reason for line, reason in told.items() if reason} == {
        line: reason for line, reason in rejected.items() if reason not in NO_PAIRS
    }
    assert annotated["counts"] == plain["counts"]
    names = ("plain.txt", "annotated.txt")
    assert len({(directory / name).read_bytes() for name in names}) == 1


@pytest.mark.slow
def test_a_pair_that_the_screen_stops_is_no_copy_and_is_not_selected(directory):
    options = ("--annotate_only", "--duplicates", "near", "--select_share", "1.0")
    run(directory, "near", *options)
    by_line = {row["line"]: row for row in rows(directory, "near")}
    for number, (reason, *_) in enumerate(FAULTS, 1):
        if reason not in NO_PAIRS:
            assert by_line[number]["reason"] == reason


def test_pairs_that_the_screen_alone_stops_need_no_aligner(tmp_path):
    for side, name in enumerate(("corpus.en", "corpus.de")):
        (tmp_path / name).write_text("\n".join(texts[side] for texts in UNEVEN) + "\n")
    command = [word for word in COMMAND if word not in ("--model", "model", "--exclude", "test.en")]
    runs.run_well_here(*command, "--annotate_only", "--output", "found", cwd=tmp_path)
    assert [(row["score"], row["reason"]) for row in rows(tmp_path, "found")] == [
        (None, "length_ratio")
    ] * 2
