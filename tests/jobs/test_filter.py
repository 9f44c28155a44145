"""The job `filter`: rules, duplicates, scores and the selection, from the command line."""

import hashlib
import itertools
import json
import re

import numpy as np
import pyarrow.parquet as pq
import pytest

from pairweave.pipelines import cli
from pairweave.transforms.filtering.evidence import COLUMNS
from pairweave.transforms.filtering.score import fit_weights
from pairweave.transforms.screen import ScreenReject
from tests.makers import corpora, runs

LANGS = ("--source_lang", "en", "--target_lang", "de", "--workers", "1")
SMALL = ("--shard_pairs", "40", "--unit_rows", "50")
PAIRS = 200
SIDES = ("--source_input", "corpus.en", "--target_input", "corpus.de")

BAD = {
    "copied": ("the cat sat on the mat", "the cat sat on the mat"),
    "number_mismatch": ("It happened in 1999", "Es geschah 1998"),
    "mojibake": ("The old house", "Das alte HÃ¤uschen"),
}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus, its faults at the end, and what was fitted on it."""
    directory = tmp_path_factory.mktemp("filter")
    corpora.write_corpus(directory, PAIRS)
    shuffled = [
        (source, re.sub(r"\d+", re.search(r"\d+", source)[0], corpora.sentence(number + 7)[1]))
        for number in range(500, 540)
        for source in [corpora.sentence(number)[0]]
    ]
    same = [text.replace(", ", ", 1") for text in corpora.sentence(3)]
    for side, name in enumerate(("corpus.en", "corpus.de")):
        with (directory / name).open("a") as file:
            for pair in (*BAD.values(), *shuffled, same):
                file.write(pair[side] + "\n")
    runs.run_well_here("fit", *SIDES, *LANGS, "--output", "model", cwd=directory)
    return directory


def run(directory, name, *options, model=("--model", "model")):
    runs.run_well_here(
        *("filter", *SIDES, *LANGS, *SMALL, *model, "--output", name, *options), cwd=directory
    )
    return json.loads((directory / name / "_manifest.json").read_text())


def rows(directory, name, part="data"):
    return pq.read_table(directory / name / part).to_pylist()


@pytest.fixture(scope="module")
def plain(directory):
    """Return the manifest of a run with the defaults."""
    return run(directory, "plain")


@pytest.fixture(scope="module")
def annotated(directory):
    """Return the rows of a run that keeps all, by id: of equal pairs the first."""
    run(directory, "annotated", "--annotate_only", "--scores", "annotated.txt")
    result = rows(directory, "annotated")
    return {row["id"]: row for row in result if row["reason"] != "duplicate"}


def test_each_rejected_pair_has_the_rule_and_its_value(directory, plain):
    actual = {row["reason"]: row for row in rows(directory, "plain", "rejects")}
    for reason, (source, _) in BAD.items():
        assert plain["rejected"][reason] == 1
        assert (actual[reason]["stage"], actual[reason]["source"]) == ("filter", source)
    assert actual["number_mismatch"]["detail"] == "number_mismatch 1 > 0.5"
    assert plain["counts"]["would_reject_only_copied"] == 1
    assert plain["rows"]["kept"] == len(rows(directory, "plain"))


@pytest.mark.usefixtures("plain")
def test_of_masked_duplicates_the_best_stays(directory, annotated):
    copies = [r for r in rows(directory, "plain", "rejects") if r["reason"] == "masked_duplicate"]
    assert copies
    kept = {(row["file"], row["line"]): row for row in rows(directory, "plain")}
    for copy in copies:
        place = copy["detail"].rpartition(" line ")
        better = kept["corpus.en", int(place[2])]
        assert copy["detail"] == f"of corpus.en corpus.en line {better['line']}"
        assert annotated[copy["id"]]["score"] <= better["score"]


@pytest.mark.usefixtures("plain")
def test_annotated_rows_say_what_a_run_would_keep(directory, annotated):
    assert not (directory / "annotated" / "_scored").exists()
    kept = {row["id"] for row in rows(directory, "plain")}
    assert {name for name, row in annotated.items() if row["keep"]} == kept
    reasons = {row["id"]: row["reason"] for row in rows(directory, "plain", "rejects")}
    for name, row in annotated.items():
        assert row["reason"] == (None if row["keep"] else reasons[name])


def test_shuffled_pairs_score_lower(annotated):
    good = [row["score"] for row in annotated.values() if row["line"] <= PAIRS and row["keep"]]
    bad = [r["score"] for r in annotated.values() if PAIRS + 12 < r["line"] <= PAIRS + 50]
    assert sum(one > other for one in good for other in bad) > 0.95 * len(good) * len(bad)


@pytest.mark.slow
@pytest.mark.parametrize("words", [1, 100, 1_000, 1_000_000])
def test_the_best_words_are_selected_in_the_order_of_scores_and_ids(directory, annotated, words):
    name = f"words{words}"
    run(directory, name, "--select_words", str(words), "--allow_empty")
    wanted, used = set(), 0
    kept = [row for row in annotated.values() if row["keep"]]
    for row in sorted(kept, key=lambda row: (-row["score"], row["id"])):
        used += len(row["target"].split())
        if used > words:
            break
        wanted.add(row["id"])
    assert {row["id"] for row in rows(directory, name)} == wanted
    assert not (directory / name / "_scored").exists()


@pytest.mark.slow
def test_a_share_and_a_score_select_what_they_say(directory, annotated):
    kept = [row for row in annotated.values() if row["keep"]]
    run(directory, "share", "--select_share", "0.25")
    assert len(rows(directory, "share")) == len(kept) // 4
    run(directory, "score", "--select_score", "0.5")
    assert {row["id"] for row in rows(directory, "score")} == {
        row["id"] for row in kept if row["score"] >= 0.5
    }


@pytest.mark.slow
def test_scores_are_written_in_input_order_and_do_not_depend_on_the_selection(directory):
    run(directory, "selected", "--select_words", "100", "--scores", "selected.txt")
    lines = (directory / "selected.txt").read_text().splitlines()
    run(directory, "again", "--annotate_only", "--scores", "annotated.txt")
    assert lines == (directory / "annotated.txt").read_text().splitlines()
    by_line = {row["line"]: row for row in rows(directory, "again")}
    assert len(lines) == len((directory / "corpus.en").read_bytes().splitlines())
    for number, line in enumerate(lines, 1):
        row = by_line.get(number)
        keeps = row is not None and row["keep"]
        assert float(line) == (pytest.approx(row["score"], rel=1e-6) if keeps else 0)


def test_an_aligner_is_fitted_on_what_passes_the_rules(directory):
    manifest = run(directory, "fitted", "--select_score", "0.1", model=())
    about = json.loads((directory / "fitted" / "models" / "hmm" / "about.json").read_text())
    assert about["pairs"] == manifest["rows"]["read"] - sum(
        count
        for reason, count in manifest["rejected"].items()
        if reason not in ("low_score", "masked_duplicate")
    )


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """Return a directory with pairs that all break a rule."""
    directory = tmp_path_factory.mktemp("broken")
    for side, name in enumerate(("corpus.en", "corpus.de")):
        words = ["".join(letters) for letters in itertools.product("abcde", repeat=2)]
        with (directory / name).open("w") as file:
            file.writelines(f"{pair[side]} {word}\n" for word in words for pair in BAD.values())
    return directory


@pytest.mark.slow
@pytest.mark.parametrize("selection", [(), ("--select_words", "9"), ("--select_score", "0.5")])
def test_pairs_that_all_break_a_rule_are_rejected_without_an_aligner(broken, selection):
    name = "empty" + "".join(selection)
    manifest = run(broken, name, "--allow_empty", *selection, model=())
    assert manifest["rows"]["kept"] == 0
    assert {row["reason"] for row in rows(broken, name, "rejects")} >= set(BAD)
    assert manifest["rows"]["read"] == len(rows(broken, name, "rejects"))


def test_pairs_that_all_break_a_rule_are_annotated_without_a_score(broken):
    run(broken, "annotated", "--annotate_only", model=())
    actual = rows(broken, "annotated")
    assert {row["reason"] for row in actual} >= set(BAD)
    assert {(row["score"], row["forward_likelihood"], row["keep"]) for row in actual} == {
        (None, None, False)
    }


def test_without_a_pair_to_fit_on_the_message_names_the_rules(broken):
    status, _, errors = runs.run_here(
        *("filter", *SIDES, *LANGS, *SMALL, "--output", "refused"), cwd=broken
    )
    assert status == 2
    assert "no pair passed the screen and the rules" in errors
    assert re.search(r"most often rejected as \w+, as at corpus.en line \d+", errors)


def test_only_annotated_rows_to_keep_are_exported(directory, annotated):
    runs.run_well_here("export", "annotated", "--format", "jsonl", "--output", ".", cwd=directory)
    lines = (directory / "filtered.jsonl").read_text().splitlines()
    kept = {name for name, row in annotated.items() if row["keep"]}
    assert len(kept) < len(annotated)
    assert {json.loads(line)["id"] for line in lines} == kept


@pytest.mark.slow
def test_a_killed_selection_scores_no_shard_again(directory):
    """Shards that were scored, and the border that was found, are used by the next attempt."""
    command = ("filter", *SIDES, *LANGS, *SMALL, "--model", "model", "--select_words", "500")
    runs.run_well_here(*command, "--output", "whole", cwd=directory)
    for pattern, count in (("_scored/receipt-*.json", 2), ("_receipts/shard-*.json", 2)):
        output = directory / pattern.partition("/")[0].strip("_")
        words = [str(directory / word) if (directory / word).exists() else word for word in command]
        killed = runs.kill_when(pattern, output, *words, "--output", output, count=count)
        assert killed
        scored = {path: path.stat().st_mtime_ns for path in output.glob("_scored/ranks-*")}
        assert len(scored) >= count
        runs.run_well_here(*command, "--output", str(output), cwd=directory)
        assert runs.tree_digest(output) == runs.tree_digest(directory / "whole")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--select_words", "5", "--select_share", "0.5"), "give one of --select_words, --select_"),
        (("--select_words", "0"), "select_words"),
        (("--select_share", "1.5"), "select_share"),
        (("--score_weights", "nowhere.json"), "nowhere.json: no such file"),
        (("--scores", "corpus.de"), "is an input and would be overwritten"),
        (("--model", "nowhere"), "nowhere"),
        (
            ("--model", "model", "--source_lang", "fr"),
            "fitted with source_lang en, but the pairs have fr",
        ),
        (("--translation_input", "corpus.de"), "unknown option --translation_input"),
        (("--translation_field", "3"), "unknown option --translation_field"),
        (
            ("--links", "corpus.links"),
            "unknown option --links, an option of augment, suggest and align; see",
        ),
        (("--inline_tags", "index"), "inline_tags: input should be 'raw', 'strip' or 'reject'"),
        (("--tokens", "pieces"), "expected one of words, whitespace, sentencepiece"),
    ],
)
def test_what_cannot_be_is_refused_before_the_run(directory, options, message):
    status, _, errors = runs.run_here(
        *("filter", *SIDES, *LANGS, "--output", "refused", *options), cwd=directory
    )
    assert status == 2
    assert message in errors
    assert len(errors.splitlines()) == 1
    assert not (directory / "refused").exists()


def test_weights_fitted_on_labels_are_those_of_the_next_run(directory, annotated):
    size = len((directory / "corpus.en").read_bytes().splitlines())
    good = [line % 3 > 0 or line > PAIRS + 50 for line in range(1, size + 1)]
    (directory / "labels").write_text("".join(f"{label:d}\n" for label in good))
    status, out, errors = runs.run_here(
        *("filter_fit", "annotated", "labels", "--output", "w.json"), cwd=directory
    )
    assert status == 0, errors
    # Pairs that the screen stops and equal pairs are annotated, but have no part in the fit.
    stopped = {"duplicate", *map(str, ScreenReject)}
    fitted = [row for row in rows(directory, "annotated") if row["reason"] not in stopped]
    assert f"{len(fitted)} of {size} labelled pairs" in out
    labels = np.array([good[row["line"] - 1] for row in fitted])
    values = {name: np.array([row[name] for row in fitted], np.float32) for name in COLUMNS}
    expected = json.loads(fit_weights(values, labels).to_json())
    actual = json.loads((directory / "w.json").read_text())
    assert actual["weights"] == pytest.approx(expected["weights"], rel=1e-4)
    assert actual["bias"] == pytest.approx(expected["bias"], rel=1e-4)
    manifest = run(directory, "weighed", "--annotate_only", "--score_weights", "w.json")
    digest = hashlib.sha256((directory / "w.json").read_bytes()).hexdigest()
    assert manifest["configuration"]["score_weights"] == digest
    again = {row["id"]: row["score"] for row in rows(directory, "weighed")}
    assert again.keys() == annotated.keys()
    assert again != {name: row["score"] for name, row in annotated.items()}


@pytest.mark.usefixtures("annotated")
def test_no_folder_is_made_for_weights(directory):
    size = len((directory / "corpus.en").read_bytes().splitlines())
    (directory / "halves").write_text("1\n0\n" * (size // 2))
    status, _, errors = runs.run_here(
        *("filter_fit", "annotated", "halves", "--output", "nowhere/w.json"), cwd=directory
    )
    assert (status, len(errors.splitlines())) == (2, 1)
    assert "there is no folder" in errors
    assert not (directory / "nowhere").exists()


def test_the_help_shows_a_placeholder_as_it_is_written(capsys):
    with pytest.raises(SystemExit):
        cli.main(["filter", "--help", "all"])
    assert "(%s, {name})" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("run_name", "labels", "message"),
    [
        ("plain", "1\n0\n", "plain: is not a run of filter --annotate_only"),
        ("annotated", "1\n0\n", "has 2 labels, but annotated was made of 252 lines"),
        ("annotated", "1\n0\n" * 123, "has 246 labels, but annotated was made of 252 lines"),
        ("annotated", "1\ngood\n", "line 2: 'good' is not a label"),
    ],
)
@pytest.mark.usefixtures("annotated", "plain")
def test_labels_that_do_not_fit_are_refused(directory, run_name, labels, message):
    (directory / "wrong").write_text(labels)
    status, _, errors = runs.run_here(
        *("filter_fit", run_name, "wrong", "--output", "refused.json"), cwd=directory
    )
    assert status == 2
    assert message in errors
    assert not (directory / "refused.json").exists()


def test_a_preview_judges_the_first_pairs_and_writes_nothing(directory):
    before = {path.name for path in directory.iterdir()}
    command = ("filter", *SIDES, *LANGS, "--preview", "3", "--max_char_ratio", "1.05")
    status, out, errors = runs.run_here(*command, cwd=directory)
    assert (status, errors) == (0, "")
    assert [line for line in out.splitlines() if " line " in line] == [
        f"corpus.en corpus.en line {number}" for number in (1, 2, 3)
    ]
    assert "<= 1.05" in out
    assert "3 pairs: 1 rejected before the rules" in out
    assert {path.name for path in directory.iterdir()} == before


def test_a_run_needs_a_directory(directory):
    status, _, errors = runs.run_here("filter", *SIDES, *LANGS, cwd=directory)
    assert (status, len(errors.splitlines())) == (2, 1)
    assert "--output is required" in errors
