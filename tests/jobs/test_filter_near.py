"""`filter --duplicates near`: near-duplicates of a whole corpus, wherever they stand in it."""

import json
import re

import pyarrow.parquet as pq
import pytest

from tests.makers import corpora, runs
from tests.oracles.slow_near_duplicates import near_copies

LANGS = ("--source_lang", "en", "--target_lang", "de", "--workers", "1")
SIDES = ("--source_input", "corpus.en", "--target_input", "corpus.de")
NEAR = ("--duplicates", "near", "--near_threshold", "0.7")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus, of which every third pair has a variant, and a model."""
    directory = tmp_path_factory.mktemp("near")
    for name, (word, other) in (("en", ("the", "a")), ("de", ("der", "ein"))):
        path, side = directory / f"corpus.{name}", ("en", "de").index(name)
        lines = [corpora.sentence(number)[side] for number in range(120)]
        changed = [re.sub(rf"\b{word}\b", other, line, count=1) + " !" for line in lines[::3]]
        path.write_text("".join(f"{line}\n" for line in [*lines, *changed]))
    runs.run_well_here("fit", *SIDES, *LANGS, "--output", "model", cwd=directory)
    return directory


def run(directory, name, *options, shard_pairs=40):
    command = ("filter", *SIDES, *LANGS, "--model", "model", "--output", name, *options)
    runs.run_well_here(*command, "--shard_pairs", str(shard_pairs), cwd=directory)
    return json.loads((directory / name / "_manifest.json").read_text())


def rows(directory, name, part="data"):
    return pq.read_table(directory / name / part).to_pylist()


@pytest.fixture(scope="module")
def passed(directory):
    """Return the pairs that pass the rules and are no masked duplicates."""
    run(directory, "masked")
    return rows(directory, "masked")


@pytest.mark.slow
@pytest.mark.parametrize("shard_pairs", [1_000, 25])
def test_near_duplicates_are_those_of_plain_python(directory, passed, shard_pairs):
    expected = near_copies(passed, 0.7)
    assert len(expected) > 10
    name = f"near{shard_pairs}"
    manifest = run(directory, name, *NEAR, shard_pairs=shard_pairs)
    rejected = [r for r in rows(directory, name, "rejects") if r["reason"] == "near_duplicate"]
    assert manifest["rejected"]["near_duplicate"] == len(rejected)
    assert {(row["line"], row["detail"]) for row in rejected} == {
        (passed[row]["line"], f"of corpus.en corpus.en line {passed[better]['line']}")
        for row, better in expected.items()
    }
    kept = {row["id"] for row in rows(directory, name)}
    assert kept == {row["id"] for n, row in enumerate(passed) if n not in expected}
    assert not (directory / name / "_scored").exists()


@pytest.mark.slow
@pytest.mark.parametrize("selection", ["--select_share", "--select_score"])
def test_near_duplicates_are_not_selected_among(directory, passed, selection):
    copies = near_copies(passed, 0.7)
    left = [row for n, row in enumerate(passed) if n not in copies]
    left.sort(key=lambda row: (-row["score"], row["id"]))
    border = left[len(left) // 2]["score"]
    expected = {
        "--select_share": left[: len(left) // 2],
        "--select_score": [row for row in left if row["score"] >= border],
    }[selection]
    value = "0.5" if selection == "--select_share" else repr(border)
    run(directory, selection.strip("-"), *NEAR, selection, value)
    assert {row["id"] for row in rows(directory, selection.strip("-"))} == {
        row["id"] for row in expected
    }


@pytest.mark.slow
def test_annotated_rows_say_which_pairs_are_near_duplicates(directory, passed):
    run(directory, "annotated", *NEAR, "--annotate_only")
    reasons = {row["line"]: row["reason"] for row in rows(directory, "annotated")}
    copies = near_copies(passed, 0.7)
    assert {line for line, reason in reasons.items() if reason == "near_duplicate"} == {
        passed[row]["line"] for row in copies
    }


@pytest.mark.slow
def test_a_killed_run_ends_with_the_same_bytes(directory):
    command = ("filter", *SIDES, *LANGS, "--model", "model", *NEAR, "--shard_pairs", "25")
    runs.run_well_here(*command, "--output", "whole", cwd=directory)
    words = [str(directory / word) if (directory / word).exists() else word for word in command]
    for pattern in ("_scored/receipt-*.json", "_scored/copies-*", "_receipts/shard-*.json"):
        output = directory / re.sub(r"\W", "", pattern)
        assert runs.kill_when(pattern, output, *words, "--output", output, count=2)
        runs.run_well_here(*command, "--output", str(output), cwd=directory)
        assert runs.tree_digest(output) == runs.tree_digest(directory / "whole")


@pytest.mark.parametrize("threshold", ["0.4", "1.5"])
def test_a_threshold_outside_its_limits_is_refused(directory, threshold):
    status, _, errors = runs.run_here(
        *("filter", *SIDES, *LANGS, "--output", "refused", "--near_threshold", threshold),
        cwd=directory,
    )
    assert status == 2
    assert "near_threshold" in errors


@pytest.mark.parametrize("duplicates", [(), ("--duplicates", "exact")])
def test_a_threshold_of_nothing_is_refused(directory, duplicates):
    status, _, errors = runs.run_here(
        *("filter", *SIDES, *LANGS, "--output", "refused", "--near_threshold", "0.9", *duplicates),
        cwd=directory,
    )
    assert status == 2
    assert "--near_threshold: applies to --duplicates near, not to" in errors
    assert len(errors.splitlines()) == 1


@pytest.mark.parametrize("selection", [NEAR, ("--select_words", "50")], ids=["near", "words"])
def test_the_plan_of_a_run_that_compares_all_pairs_is_shown_before_it(directory, selection):
    command = ("filter", *SIDES, *LANGS, "--model", "model", "--output", "planned", "--plan_only")
    shown = runs.run_well_here(*command, *selection, cwd=directory)
    assert shown.startswith("job filter, plan ")
    assert "\nrefusals\n  none" in shown
    assert not (directory / "planned").exists()
