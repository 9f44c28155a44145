"""The option ``filter`` of align, augment, fit and suggest: the rules of the job, in one pass."""

import json
import math

import numpy as np
import pytest

from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.jobs import augment
from tests.makers import corpora, runs

LANGS = ("--source_lang", "en", "--target_lang", "de", "--workers", "1")
SIDES = ("--source_input", "corpus.en", "--target_input", "corpus.de")
BAD = {
    "copied": ("the cat sat on the mat", "the cat sat on the mat"),
    "number_mismatch": ("It happened in 1999", "Es geschah 1998"),
    "mojibake": ("The old house stands here", "Das alte HÃ¤uschen steht hier"),
}
WORDS = {"align": (), "augment": (), "fit": (), "suggest": ("--methods", "random")}
SLOW = [pytest.param(job, marks=pytest.mark.slow) for job in ("align", "fit", "suggest")]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with a corpus and a fault of each of three rules at its end."""
    directory = tmp_path_factory.mktemp("block")
    for side, name in enumerate(("corpus.en", "corpus.de")):
        texts = [corpora.sentence(number)[side] for number in range(120)]
        texts += [pair[side] for pair in BAD.values()]
        (directory / name).write_text("".join(f"{text}\n" for text in texts))
    return directory


def run(directory, job, name, *words):
    runs.run_well_here(job, *SIDES, *LANGS, *WORDS[job], *words, "--output", name, cwd=directory)
    return json.loads((directory / name / "_manifest.json").read_text())


@pytest.mark.parametrize("job", ["augment", *SLOW])
def test_each_job_rejects_what_the_rules_reject_and_says_the_value(directory, job):
    plain = run(directory, job, f"{job}-plain")
    actual = run(directory, job, f"{job}-rules", "--filter", "{}")
    assert not set(BAD) & plain["rejected"].keys()
    assert actual["rows"]["read"] == actual["rows"]["kept"] + actual["rows"]["rejected"]
    rejects = {
        row["reason"]: row
        for row in runs.rows_of(directory / f"{job}-rules", "rejects/part-*.parquet")
        if row["stage"] == "filter"
    }
    assert set(rejects) == set(BAD)
    for reason, pair in BAD.items():
        assert (rejects[reason]["source"], rejects[reason]["target"]) == pair
        assert actual["rejected"][reason] == 1
    assert rejects["number_mismatch"]["detail"] == "number_mismatch 1 > 0.5"


def test_the_rules_are_those_of_the_job_filter(directory):
    limits = "{max_copied: 1, max_number_mismatch: 0.2, max_entities: .inf}"
    words = ("--max_copied", "1", "--max_number_mismatch", "0.2", "--max_entities", "inf")
    run(directory, "align", "block", "--filter", limits, "--max_ratio", "3")
    run_filter = ("filter", *SIDES, *LANGS, *words, "--duplicates", "exact", "--output", "job")
    limits_of_align = ("--max_tokens", "1000", "--max_token_chars", "1000")
    runs.run_well_here(*run_filter, *limits_of_align, cwd=directory)
    rejects = [
        [
            (row["id"], row["stage"], row["reason"], row["detail"])
            for row in runs.rows_of(directory / name, "rejects/part-*.parquet")
        ]
        for name in ("block", "job")
    ]
    assert rejects[0]
    assert sorted(rejects[0]) == sorted(rejects[1])


@pytest.mark.slow
def test_the_model_is_not_fitted_on_what_the_rules_reject(directory, tmp_path):
    kept = run(directory, "fit", "fitted", "--filter", "{}")
    for name in ("corpus.en", "corpus.de"):
        lines = (directory / name).read_text().splitlines()[: -len(BAD)]
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    clean = run(tmp_path, "fit", "fitted")
    assert kept["rows"]["fitted"] == clean["rows"]["fitted"]
    model = next((directory / "fitted").glob("*.arrow"))
    assert model.read_bytes() == (tmp_path / "fitted" / model.name).read_bytes()


def test_the_plan_and_signature_name_every_limit_only_if_there_are_rules(directory):
    options = {"source_input": (str(directory / "corpus.en"),), "source_lang": "en"}
    options |= {"target_input": (str(directory / "corpus.de"),), "target_lang": "de"}
    options |= {"output": str(directory / "planned"), "workers": 1}
    plain, judged = (
        augment.JOB.prepare(AugmentOptions(**options, **more)).document
        for more in ({}, {"filter": {"max_mojibake": math.inf}})
    )
    assert "filter" not in plain["configuration"]
    assert "filter" not in plain["signature"]
    assert judged["configuration"]["filter"]["max_mojibake"] == "inf"
    assert judged["configuration"]["filter"]["max_copied"] == 0.5
    assert "|filter.max_copied:0.5|" in judged["signature"]


@pytest.mark.slow
def test_a_block_in_yaml_says_the_same(directory):
    (directory / "c.yaml").write_text("filter:\n  max_mojibake: .inf\n  max_copied: 1\n")
    actual = run(directory, "align", "yaml", "--config", "c.yaml")
    assert set(BAD) & actual["rejected"].keys() == {"number_mismatch"}
    assert actual["configuration"]["filter"]["max_mojibake"] == "inf"


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("{max_copied: 3}", "filter.max_copied: input should be less than or equal to 1, got 3"),
        ("{max_copy: 1}", "max_copy is not a rule; did you mean max_copied?"),
        ("{duplicates: masked}", "duplicates: copies are found by a shuffle of masked pairs"),
        ("{select_words: 5}", "select_words: all pairs are compared by the job filter alone"),
        ("max_copied", "must be a map of rules and limits, or {}"),
        ("{a", "filter: not valid YAML: while parsing"),
        ("{exclude: x}", "filter: exclude is not a rule, got"),
        ("{1: x}", "filter: 1 is not a rule, got"),
        ("{max_copied: 1, max_copied: 0}", "filter: line 1: the key max_copied is given twice"),
    ],
)
def test_what_is_no_rule_is_refused(directory, block, message):
    words = ("augment", *SIDES, *LANGS, "--filter", block, "--output", "no")
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert status == 2
    assert message in errors
    (directory / "none.yaml").write_text("filter:\n")
    words = ("augment", *SIDES, *LANGS, "--config", "none.yaml", "--output", "no")
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert status == 2
    assert "must be a map of rules" in errors


HALF = ("--source_input", "half-corpus.en", "--target_input", "half-corpus.de")
LIMITS = ("--max_tokens", "1000", "--max_token_chars", "1000")


@pytest.fixture(scope="module")
def low_scores(directory):
    """Fit a model, score a corpus with 20 wrong partners, and return the scores under 0.5 by id."""
    run(directory, "fit", "model", "--filter", "{}")
    for side, name in enumerate(("corpus.en", "corpus.de")):
        texts = [corpora.sentence(number)[side] for number in range(120)]
        texts[-20:] = texts[-20:][:: 1 - 2 * side]
        (directory / f"half-{name}").write_text("".join(f"{text}\n" for text in texts))
    words = ("--model", "model", "--annotate_only", "--max_number_mismatch", "1")
    runs.run_well_here("filter", *HALF, *LANGS, *words, *LIMITS, "--output", "sc", cwd=directory)
    rows = runs.rows_of(directory / "sc", "data/part-*.parquet")
    result = {row["id"]: str(np.float32(row["score"])) for row in rows if row["score"] < 0.5}
    assert 10 < len(result) < 60
    return result


@pytest.mark.slow
@pytest.mark.parametrize("job", list(WORDS))
def test_a_minimum_score_rejects_what_the_job_filter_scores_lower(directory, low_scores, job):
    block = "{min_score: 0.5, score_model: model, max_number_mismatch: 1}"
    words = (*HALF, *LANGS, *WORDS[job], "--filter", block, "--max_ratio", "3", *LIMITS)
    runs.run_well_here(job, *words, "--output", f"{job}-least", cwd=directory)
    rejects = {
        row["id"]: (row["stage"], row["detail"])
        for row in runs.rows_of(directory / f"{job}-least", "rejects/part-*.parquet")
        if row["reason"] == "low_score"
    }
    assert rejects == {
        name: ("filter", f"score {value} < 0.5") for name, value in low_scores.items()
    }
    manifest = json.loads((directory / f"{job}-least/_manifest.json").read_text())
    assert manifest["rejected"]["low_score"] == len(low_scores)
    actual = manifest["configuration"]["filter"]
    assert actual["min_score"] == 0.5
    assert len(actual["score_model"]) == len(actual["score_weights"]) == 64


@pytest.mark.slow
def test_the_model_is_not_fitted_on_pairs_below_a_minimum_score(directory, low_scores, tmp_path):
    block = "{min_score: 0.5, score_model: model, max_number_mismatch: 1}"
    limits = ("--max_ratio", "3", *LIMITS)
    words = (*HALF, *LANGS, "--filter", block, *limits)
    runs.run_well_here("fit", *words, "--output", "least", cwd=directory)
    rows = runs.rows_of(directory / "sc", "data/part-*.parquet")
    kept = sorted((row for row in rows if row["id"] not in low_scores), key=lambda row: row["line"])
    for side, name in (("source", "half-corpus.en"), ("target", "half-corpus.de")):
        (tmp_path / name).write_text("".join(f"{row[side]}\n" for row in kept))
    runs.run_well_here("fit", *HALF, *LANGS, *limits, "--output", "clean", cwd=tmp_path)
    model = next((tmp_path / "clean").glob("*.arrow")).name
    fitted = (directory / "least" / model).read_bytes()
    assert fitted == (tmp_path / "clean" / model).read_bytes()


@pytest.mark.slow
@pytest.mark.usefixtures("low_scores")
def test_the_model_of_a_minimum_score_is_for_these_languages_in_this_order(directory):
    sides = ("--source_input", "corpus.de", "--target_input", "corpus.en")
    languages = ("--source_lang", "de", "--target_lang", "en")
    words = ("augment", *sides, *languages, "--filter", "{min_score: 0.5, score_model: model}")
    status, _, errors = runs.run_here(*words, "--output", "no", cwd=directory)
    assert status == 2
    assert "filter.score_model" in errors
    assert "model: was fitted with source_lang en, but the pairs have de" in errors


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("{min_score: 0.5}", "min_score and score_model go together"),
        ("{score_model: x}", "min_score and score_model go together"),
        ("{min_score: 2, score_model: x}", "filter.min_score: input should be less than or equal"),
        ("{min_score: 0.5, score_model: nowhere}", "nowhere: no fitted aligner there"),
    ],
)
def test_a_minimum_score_that_cannot_be_is_refused(directory, block, message):
    words = ("augment", *SIDES, *LANGS, "--filter", block, "--output", "no")
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert status == 2
    assert message in errors
    assert not (directory / "no").exists()
