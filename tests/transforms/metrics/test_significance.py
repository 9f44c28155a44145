"""Significance of differences, beside sacreBLEU's own command and worked by hand."""

import json
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.metrics import significance
from pairweave.transforms.metrics.sacrebleu_scores import bleu_of, compare_bleu, count_ngrams
from pairweave.transforms.metrics.significance import LineSums, compare, ratio
from pairweave.transforms.metrics.significance_options import Significance
from pairweave.transforms.storage.text_lines import read_text_lines
from tests.makers import runs

SMALL = Significance(resamples=200, trials=300, seed=7)
OPTIONS = ("--resamples", "200", "--trials", "300", "--seed", "7")


@pytest.fixture(scope="module")
def directory(tmp_path_factory, shared_data):
    """Return a directory with gold suggestions, other gold ones, and two systems' outputs."""
    directory = tmp_path_factory.mktemp("significance")
    gold = read_text_lines(str(shared_data / "wets" / "en2de.dev.tgt"))[:300]
    words = [line.split(" ") for line in gold]
    files = {
        "gold": gold,
        "gold2": [" ".join(line[::-1]) for line in words],
        "good": [" ".join(line[: len(line) - n % 2] or line) for n, line in enumerate(words)],
        "bad": [" ".join(line[: len(line) - n % 3] or line) for n, line in enumerate(words)],
        "awful": [" ".join(line[:1]) for line in words],
    }
    for name, lines in files.items():
        (directory / name).write_text("".join(f"{line}\n" for line in lines))
    return directory


def by_sacrebleu(directory, kind, refs=("gold",), more=()):
    """Return sacreBLEU's own figures of the outputs: score, p, mean, confidence."""
    samples = {"bs": ("--paired-bs-n", "200"), "ar": ("--paired-ar-n", "300")}[kind]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "sacrebleu", *refs, "-i", "bad", "good", "-m", "bleu"),
            *(f"--paired-{kind}", *samples, "-w", "9", "-l", "en-de", *more),
        ],
        cwd=directory,
        env={"SACREBLEU_SEED": "7", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    baseline, good = (row["BLEU"] for row in json.loads(done.stdout))
    return baseline, good


@pytest.mark.parametrize("before", [None, "3"])
def test_the_seed_in_the_environment_is_as_before(monkeypatch, before):
    monkeypatch.setenv("SACREBLEU_SEED", "3")
    if before is None:
        monkeypatch.delenv("SACREBLEU_SEED")
    compare_bleu(BLEU(), ["a b c d"] * 3, ["a b c e"] * 3, [["a b c d"] * 3], SMALL)
    assert os.environ.get("SACREBLEU_SEED") == before


def lines_of(directory, name):
    return read_text_lines(str(directory / name))


def test_the_tests_of_suggestions_are_those_of_sacrebleu_s_own_command(directory):
    command = ("evaluate", "suggestions", "good", "gold", "--target_lang", "de")
    out = runs.run_well_here(*command, "--baseline", "bad", *OPTIONS, cwd=directory)
    actual = json.loads(out.splitlines()[-1])["significance"]["BLEU"]
    baseline, good = by_sacrebleu(directory, "bs")
    assert actual["score"] == pytest.approx(good["score"], abs=1e-8)
    assert actual["baseline"] == pytest.approx(baseline["score"], abs=1e-8)
    assert actual["p_bootstrap"] == pytest.approx(good["p_value"], abs=1e-8)
    assert actual["mean"] == pytest.approx(good["mean"], abs=1e-5)
    assert actual["ci"] == pytest.approx(good["ci"], abs=1e-5)
    assert actual["baseline_mean"] == pytest.approx(baseline["mean"], abs=1e-5)
    assert actual["p_randomization"] == pytest.approx(
        by_sacrebleu(directory, "ar")[1]["p_value"], abs=1e-8
    )
    assert "bs:200|" in actual["signature"]
    assert "ar:300|" in actual["signature"]
    assert "seed:7|" in actual["signature"]


def test_several_references_are_tested_as_by_sacrebleu(directory):
    command = ("evaluate", "suggestions", "good", "gold", "gold2", "--target_lang", "de")
    out = runs.run_well_here(*command, "--baseline", "bad", *OPTIONS, cwd=directory)
    actual = json.loads(out.splitlines()[-1])["significance"]["BLEU"]
    _, good = by_sacrebleu(directory, "bs", ("gold", "gold2"))
    assert actual["score"] == pytest.approx(good["score"], abs=1e-8)
    assert actual["p_bootstrap"] == pytest.approx(good["p_value"], abs=1e-8)
    assert actual["signature"].startswith("nrefs:2|")


def test_each_of_sacrebleu_s_tests_draws_as_often_as_asked():
    gold = [f"a{n} b{n} c{n} d{n} e{n}" for n in range(40)]
    bad = [" ".join(line.split()[:2]) for line in gold]
    made = compare_bleu(BLEU(), gold, bad, [gold], Significance(50, 60, 1))
    # No draw is as far off as the outputs are, which counts as one.
    assert made.p_bootstrap == pytest.approx(1 / 51)
    assert made.p_randomization == pytest.approx(1 / 61)


def test_our_scheme_gives_the_figures_of_sacrebleu_for_its_bleu(directory):
    cut = BLEU(tokenize="13a").tokenizer
    gold, good, bad = (
        [cut(line) for line in lines_of(directory, name)] for name in ("gold", "good", "bad")
    )
    made = compare(
        LineSums(count_ngrams(good, gold).astype(float), bleu_of),
        LineSums(count_ngrams(bad, gold).astype(float), bleu_of),
        SMALL,
    )
    unsmoothed = ("--smooth-method", "none")
    baseline, theirs = by_sacrebleu(directory, "bs", more=unsmoothed)
    assert made.score == pytest.approx(theirs["score"], abs=1e-6)
    assert made.p_bootstrap == pytest.approx(theirs["p_value"], abs=1e-8)
    assert made.mean == pytest.approx(theirs["mean"], abs=1e-4)
    assert made.ci == pytest.approx(theirs["ci"], abs=1e-4)
    assert made.baseline_ci == pytest.approx(baseline["ci"], abs=1e-4)
    p_value = by_sacrebleu(directory, "ar", more=unsmoothed)[1]["p_value"]
    assert made.p_randomization == pytest.approx(p_value, abs=1e-8)


def shares(marks):
    return LineSums(np.array([[mark, 1.0] for mark in marks]), ratio)


def test_exact_matches_are_tested_too_and_a_clear_difference_is_found(directory):
    command = ("evaluate", "suggestions", "good", "gold", "--target_lang", "de")
    out = runs.run_well_here(*command, "--baseline", "awful", *OPTIONS, cwd=directory)
    actual = json.loads(out.splitlines()[-1])
    exact = actual["significance"]["exact match"]
    assert exact["score"] == actual["exact_match"]
    assert exact["baseline"] == actual["baseline"]["exact_match"] < actual["exact_match"]
    assert exact["p_bootstrap"] == 1 / 201
    assert exact["p_randomization"] == 1 / 301
    assert "against awful: paired bootstrap of 200 resamples, approximate randomization of " in out


def test_the_randomization_of_few_lines_is_worked_by_hand():
    # Of eight ways to exchange three lines, two make the difference 1: none and all. No trial can
    # be above it.
    made = compare(shares([1, 1, 1]), shares([0, 0, 0]), Significance(10, 4000, 3))
    assert (made.score, made.baseline) == (1.0, 0.0)
    assert made.p_randomization == 1 / 4001
    # A difference of one line in three is exceeded whenever all three point one way: 1 in 4.
    made = compare(shares([1, 1, 0]), shares([0, 0, 1]), Significance(10, 4000, 3))
    assert made.p_randomization == pytest.approx(0.25, abs=0.03)


def test_differences_that_only_rounding_makes_unequal_are_not_above_the_one_found():
    lines = np.array([[0.1, 1.0], [0.2, 1.0], [0.3, 1.0]])
    zeros = lines * [0.0, 1.0]
    made = compare(LineSums(lines, ratio), LineSums(zeros, ratio), Significance(10, 999, 1))
    assert made.p_randomization == 1 / 1000


@pytest.mark.parametrize(("lines", "draws"), [(1, 33), (7, 70), (50, 999), (33, 64)])
def test_draws_in_blocks_are_those_at_once(lines, draws, monkeypatch):
    generator = np.random.default_rng(5)
    sides = [shares(generator.integers(0, 2, lines)) for _ in range(2)]
    config = Significance(draws, draws, 3)
    at_once = compare(*sides, config)
    monkeypatch.setattr(significance, "_BLOCK", 40 * lines)
    assert compare(*sides, config) == at_once


def test_memory_does_not_grow_with_the_number_of_draws():
    sides = [shares(np.ones(20_000)), shares(np.zeros(20_000))]
    tracemalloc.start()
    try:
        compare(*sides, Significance(2000, 2000, 3))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2e8  # 2,000 draws of 20,000 lines are 3.2e8 bytes, and as many again as numbers


def test_a_system_is_not_better_than_itself(directory):
    command = ("evaluate", "suggestions", "good", "gold", "--target_lang", "de")
    out = runs.run_well_here(*command, "--baseline", "good", *OPTIONS, cwd=directory)
    for tested in json.loads(out.splitlines()[-1])["significance"].values():
        assert (tested["p_bootstrap"], tested["p_randomization"]) == (1, 1)


def test_the_same_seed_gives_the_same_figures_and_another_gives_others():
    generator = np.random.default_rng(5)
    sides = [shares(generator.integers(0, 2, 60)) for _ in range(2)]
    first = compare(*sides, SMALL)
    assert compare(*sides, SMALL) == first
    assert compare(*sides, Significance(200, 300, 8)) != first


def test_tests_without_a_second_system_are_refused(directory):
    command = ("evaluate", "suggestions", "good", "gold", "--target_lang", "de", "--trials", "9")
    status, _, errors = runs.run_here(*command, cwd=directory)
    assert status == 2
    assert "--trials applies to significance tests; give --baseline FILE as well" in errors
    with pytest.raises(ConfigError, match="seed must be 1 or more"):
        Significance(seed=0)


def test_a_second_system_of_another_length_is_refused(directory, tmp_path):
    (tmp_path / "short").write_text("a\n")
    command = ("evaluate", "suggestions", "good", "gold", "--target_lang", "de")
    status, _, errors = runs.run_here(
        *command, "--baseline", tmp_path / "short", cwd=directory
    )  # fmt: skip
    assert status == 2
    assert "short: has 1 line, but good has 300" in errors


TAGGED = [f"the <b>house {n}</b> is <i>red</i> and <b>old</b>, too" for n in range(40)]
REFERENCES = [line.replace("old", "very old") if n % 4 else line for n, line in enumerate(TAGGED)]
WORSE = [line.replace("<b>house", "house <b>") if n % 3 else line for n, line in enumerate(TAGGED)]
BROKEN = [line.replace("</i>", "") if n % 5 == 0 else line for n, line in enumerate(WORSE)]


@pytest.fixture(scope="module")
def tagged(tmp_path_factory):
    directory = tmp_path_factory.mktemp("tagged")
    for name, lines in (("out", TAGGED), ("ref", REFERENCES), ("base", BROKEN)):
        (directory / name).write_text("".join(f"{line}\n" for line in lines))
    return directory


def evaluate_tags(directory, *more):
    out = runs.run_well_here("evaluate", "tags", "out", "ref", *more, cwd=directory)
    return out, json.loads(out.splitlines()[-1])


def test_every_figure_of_tags_is_tested_against_that_of_the_other_system(tagged):
    out, actual = evaluate_tags(tagged, "--source", "out", "--baseline", "base", *OPTIONS)
    alone = evaluate_tags(tagged, "--source", "out")[1]
    other = json.loads(
        runs.run_well_here(
            *("evaluate", "tags", "base", "ref", "--source", "out"), cwd=tagged
        ).splitlines()[-1]
    )
    names = {
        "BLEU": "bleu",
        "XML BLEU": "xml_bleu",
        "tagged BLEU": "tagged_bleu",
        "XML accuracy": "xml_accuracy",
        "XML match": "xml_match",
        "tree similarity": "tree_similarity",
        "F1": "f1",
        "position accuracy": "position_accuracy",
        "mean distance": "mean_distance",
    }
    tested = actual["significance"]
    assert set(tested) == {*names, "failures"}
    assert actual["baseline"] == other
    for figure, name in names.items():
        assert tested[figure]["score"] == pytest.approx(alone[name]), figure
        assert tested[figure]["baseline"] == pytest.approx(other[name]), figure
        assert "seed:7" in tested[figure]["signature"]
        assert figure in out
    assert tested["failures"]["baseline"] == other["failures"]["total"] > 0
    assert tested["F1"]["p_bootstrap"] == 1 / 201
    assert tested["F1"]["p_randomization"] == 1 / 301
    # The texts are the same, and so no figure of them is better.
    assert tested["BLEU"]["p_randomization"] == tested["BLEU"]["p_bootstrap"] == 1


def test_bleu_with_tags_as_words_is_that_of_sacrebleu_s_own_command(tagged):
    _, actual = evaluate_tags(tagged, "--baseline", "base", *OPTIONS)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "sacrebleu", "ref", "-i", "base", "out", "-m", "bleu"),
            *("--paired-bs", "--paired-bs-n", "200", "-w", "9"),
        ],
        cwd=tagged,
        env={"SACREBLEU_SEED": "7", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    baseline, out = (row["BLEU"] for row in json.loads(done.stdout))
    made = actual["significance"]["tagged BLEU"]
    assert actual["tagged_bleu"] == pytest.approx(out["score"], abs=1e-8)
    assert made["baseline"] == pytest.approx(baseline["score"], abs=1e-8)
    assert made["p_bootstrap"] == pytest.approx(out["p_value"], abs=1e-8)
    signature = actual["signatures"]["tagged_bleu"]
    assert signature.startswith("tags:content|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|")
