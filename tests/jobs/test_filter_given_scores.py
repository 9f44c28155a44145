"""`filter` with scores that come with the pairs: in a column, or in a file of their own."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.makers import corpora, runs

PAIRS = 30
LANGS = ("--source_lang", "en", "--target_lang", "de", "--workers", "1")
SIDES = ("--source_input", "corpus.en", "--target_input", "corpus.de")
SMALL = ("--shard_pairs", "10", "--unit_rows", "12")
LINES = ("--score_input", "scores")
TABLE = ("--input", "mined.tsv", "--score_field", "1", "--source_field", "2", "--target_field", "3")

# (source, target, score): one score is missing, one is no number, and two pairs are equal.
COPIED = "The whole sentence stands here untranslated"
EXTRA = (
    (COPIED, COPIED, "1.9"),
    ("A pair without a score.", "Ein Paar ohne Wert.", ""),
    ("A pair with a word.", "Ein Paar mit Wort.", "high"),
    ("A pair that is there twice.", "Ein Paar, das zweimal da ist.", "-0.5"),
    ("A pair that is there twice.", "Ein Paar, das zweimal da ist.", "1.3"),
    ("Too short.", "Viel zu lang ist dieser Satz neben dem anderen, der da steht.", "1.7"),
)


def score_of(number):
    """Return margins around 1, some of them negative, none twice."""
    return f"{(number * 7 % PAIRS) / 20 - 0.25:.2f}"


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus in both forms."""
    directory = tmp_path_factory.mktemp("given")
    rows = [(*corpora.sentence(number), score_of(number)) for number in range(PAIRS)]
    rows += EXTRA
    for place, name in enumerate(("corpus.en", "corpus.de", "scores")):
        (directory / name).write_text("".join(f"{row[place]}\n" for row in rows))
    lines = ("\t".join((score, source, target)) for source, target, score in rows)
    (directory / "mined.tsv").write_text("".join(f"{line}\n" for line in lines))
    return directory


def run(directory, name, *options):
    runs.run_well_here("filter", *LANGS, *SMALL, *options, "--output", name, cwd=directory)
    return json.loads((directory / name / "_manifest.json").read_text())


def rows(directory, name, part="data"):
    return pq.read_table(directory / name / part).to_pylist()


def scores(directory, name):
    return {row["line"]: round(row["score"], 4) for row in rows(directory, name)}


@pytest.fixture(scope="module")
def plain(directory):
    """Return the manifest of a run that keeps all that the rules pass."""
    return run(directory, "plain", *SIDES, *LINES)


def test_the_given_numbers_are_the_scores(directory, plain):
    expected = {number + 1: float(score_of(number)) for number in range(PAIRS)}
    # Of two equal pairs the first stays, with the better score of both.
    assert scores(directory, "plain") == expected | {PAIRS + 4: 1.3}
    assert plain["configuration"]["scorer"] == "given"
    assert "score_weights" not in plain["configuration"]
    assert "forward_likelihood" not in rows(directory, "plain")[0]


@pytest.mark.usefixtures("plain")
def test_rules_apply_and_a_pair_without_a_number_is_rejected(directory):
    actual = {row["line"]: row for row in rows(directory, "plain", "rejects")}
    reasons = {line: row["reason"] for line, row in actual.items()}
    assert reasons == {
        PAIRS + 1: "copied",
        PAIRS + 2: "missing_field",
        PAIRS + 3: "wrong_type",
        PAIRS + 5: "duplicate",
        PAIRS + 6: "length_ratio",
    }
    assert actual[PAIRS + 2]["detail"] == "score: is missing"
    assert actual[PAIRS + 3]["detail"] == "score: 'high' is not a number, or is too large"


@pytest.mark.usefixtures("plain")
def test_a_column_gives_the_same_rows_as_a_file(directory):
    run(directory, "column", *TABLE)
    assert scores(directory, "column") == scores(directory, "plain")


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.usefixtures("plain")
def test_every_table_can_have_scores(directory, form):
    table = [row for row in rows(directory, "plain") if row["score"] < 1]
    name = f"mined.{form}"
    if form == "parquet":
        whole = pq.read_table(directory / "plain/data")
        pq.write_table(whole.select(["source", "target", "score"]), directory / name)
    elif form == "jsonl":
        lines = (json.dumps({k: row[k] for k in ("source", "target", "score")}) for row in table)
        (directory / name).write_text("".join(f"{line}\n" for line in lines))
    else:
        cells = (f'"{row["source"]}","{row["target"]}",{row["score"]}' for row in table)
        (directory / name).write_text("".join(f"{c}\n" for c in ("source,target,score", *cells)))
    fields = ("--source_field", "source", "--target_field", "target", "--score_field", "score")
    run(directory, form, "--input", name, *fields)
    wanted = {row["id"]: row["score"] for row in rows(directory, "plain")}
    actual = {row["id"]: row["score"] for row in rows(directory, form)}
    assert len(actual) >= len(table)
    assert actual == pytest.approx({key: wanted[key] for key in actual})


@pytest.mark.slow
@pytest.mark.usefixtures("plain")
def test_pairs_are_selected_by_the_given_scores(directory):
    ranked = sorted(rows(directory, "plain"), key=lambda row: (-row["score"], row["id"]))
    run(directory, "margin", *SIDES, *LINES, "--select_score", "1.05")
    assert {row["id"] for row in rows(directory, "margin")} == {
        row["id"] for row in ranked if row["score"] >= np.float32(1.05)
    }
    run(directory, "low", *SIDES, *LINES, "--select_score", "-0.1")
    assert {row["id"] for row in rows(directory, "low")} == {
        row["id"] for row in ranked if row["score"] >= np.float32(-0.1)
    }
    run(directory, "share", *SIDES, *LINES, "--select_share", "0.9")
    count = len(ranked) * 9 // 10
    assert {row["id"] for row in rows(directory, "share")} == {row["id"] for row in ranked[:count]}
    words, chosen = 0, set()
    for row in ranked:
        words += row["target_words"]
        if words > 150:
            break
        chosen.add(row["id"])
    run(directory, "words", *SIDES, *LINES, "--select_words", "150")
    assert {row["id"] for row in rows(directory, "words")} == chosen


@pytest.mark.usefixtures("plain")
def test_annotated_pairs_have_their_scores(directory):
    run(directory, "annotated", *SIDES, *LINES, "--annotate_only", "--select_score", "1.05")
    actual = {row["line"]: row for row in rows(directory, "annotated")}
    told = {line: (row["score"], row["reason"]) for line, row in actual.items() if line > PAIRS}
    assert told == {
        PAIRS + 1: (pytest.approx(1.9), "copied"),
        PAIRS + 2: (None, "missing_field"),
        PAIRS + 3: (None, "wrong_type"),
        PAIRS + 4: (pytest.approx(1.3), None),
        PAIRS + 5: (pytest.approx(1.3), "duplicate"),
        PAIRS + 6: (pytest.approx(1.7), "length_ratio"),
    }
    assert {row["reason"] for row in actual.values() if row["score"] is not None} >= {"low_score"}


def test_of_masked_duplicates_the_one_with_the_best_given_score_stays(tmp_path):
    texts = [
        ("Page 1 of the book", "Seite 1 des Buchs"),
        ("Page 2 of the book", "Seite 2 des Buchs"),
    ]
    for place, name in enumerate(("corpus.en", "corpus.de")):
        (tmp_path / name).write_text("".join(f"{pair[place]}\n" for pair in texts))
    (tmp_path / "scores").write_text("-3\n-2\n")
    run(tmp_path, "found", *SIDES, *LINES)
    assert scores(tmp_path, "found") == {2: -2.0}


@pytest.mark.usefixtures("plain")
def test_a_corpus_in_yaml_may_set_them(directory):
    corpus = "source_input: corpus.en, target_input: corpus.de"
    (directory / "two.yaml").write_text(
        "source_lang: en\ntarget_lang: de\nworkers: 1\ncorpora:\n"
        f"- {{corpus: lines, {corpus}, score_input: scores}}\n"
        '- {corpus: table, input: mined.tsv, score_field: "1", source_field: "2",'
        ' target_field: "3"}\n'
    )
    runs.run_well_here("filter", "--config", "two.yaml", "--output", "two", cwd=directory)
    manifest = json.loads((directory / "two/_manifest.json").read_text())
    assert manifest["rejected"]["duplicate"] == PAIRS + 5
    assert {row["score"] for row in rows(directory, "two")} == {
        row["score"] for row in rows(directory, "plain")
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((*SIDES, *LINES, "--scorer", "yisi2"), "--scorer: the pairs come with their scores"),
        ((*SIDES, *LINES, "--model", "model"), "--model: the pairs come with their scores"),
        ((*SIDES, *LINES, "--score_field", "3"), "give score_field or score_input, not both"),
        ((*SIDES, "--score_field", "3"), "line-parallel text has no columns; give score_input"),
        (("--input", "mined.tsv", *LINES), "score_input goes with source_input and target_input"),
        ((*SIDES, "--score_input", "short"), "short has 1 line; line-parallel files must have"),
        ((*SIDES, "--score_input", "none"), "none: no file has this name"),
        ((*SIDES, "--select_score", "1.05"), "select_score: 1.05: scores are from 0 to 1"),
        ((*SIDES, "--scorer", "given"), "scorer"),
    ],
)
def test_what_does_not_go_together_is_refused(directory, options, message):
    (directory / "short").write_text("1\n")
    status, _, errors = runs.run_here(
        "filter", *LANGS, *options, "--output", "refused", cwd=directory
    )
    assert status == 2
    assert message in errors
    assert len(errors.splitlines()) == 1
    assert not (directory / "refused").exists()


def test_a_file_of_scores_belongs_to_one_corpus(directory):
    (directory / "around.yaml").write_text(
        "source_lang: en\ntarget_lang: de\nscore_input: scores\ncorpora:\n"
        "- {corpus: a, source_input: corpus.en, target_input: corpus.de}\n"
    )
    words = ("filter", "--config", "around.yaml", "--output", "refused")
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert status == 2
    assert "give corpora in the YAML file, or corpus" in errors


def test_all_corpora_have_scores_or_none_has(directory):
    (directory / "some.yaml").write_text(
        "source_lang: en\ntarget_lang: de\ncorpora:\n"
        "- {corpus: a, source_input: corpus.en, target_input: corpus.de, score_input: scores}\n"
        "- {corpus: b, source_input: corpus.en, target_input: corpus.de}\n"
    )
    words = ("filter", "--config", "some.yaml", "--output", "refused")
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert status == 2
    assert "corpus b has no scores, but others have" in errors
    named = (directory / "some.yaml").read_text()
    unnamed = named.replace("corpus: a, ", "").replace("corpus: b, ", "")
    (directory / "some.yaml").write_text(unnamed)
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert (status, "corpus corpus.en has no scores, but others have" in errors) == (2, True)
