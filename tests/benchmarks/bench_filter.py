"""The job ``filter``: how well its score tells good pairs from bad, how fast rules and score are.

``PAIRWEAVE_WEIGHTS=FILE`` writes the weights that are fitted here; those that ship were made so.
No text is both fitted on and tested on, and no pair that people judged is fitted on.
"""

import os
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.hmm.pair_scores import score_pairs
from pairweave.models.hmm.word_order import build_word_order
from pairweave.transforms import schemas
from pairweave.transforms.filtering import rules, score
from pairweave.transforms.filtering.rules import RuleConfig
from pairweave.transforms.metrics.ranking import area_under_curve
from pairweave.transforms.text.tokens import TokenConfig, add_tokens
from tests.makers.damage import KINDS, as_it_is, damage
from tests.makers.rows import pair

pytestmark = pytest.mark.bench

LEAST = 0.5
"""Score under which a pair is rejected, for precision and recall by kind."""

FITTED = (((0, 13_000), (16_573, 18_742)), (0, 8_000))
"""Lines of newstest and multi30k that the aligner is fitted on."""
WEIGHED = (
    (((13_000, 15_000), (18_742, 22_000)), (8_000, 9_500)),
    (((0, 2_500),), (0, 1_000)),
)
"""Lines that are damaged and weighed; of the second part the aligner knows the undamaged text."""
TESTED = (((15_000, 16_500), (22_000, 27_743)), (20_000, 21_500))
"""Lines that are damaged and tested. To 16,573 newstest has a French side, from 18,742 the output
of a machine (`triples`, bergamot-tiny)."""


def tokens(pairs, target_lang):
    """Return pairs of texts as a TOKENS table, English first."""
    rows = [pair(number, *texts, target_lang=target_lang) for number, texts in enumerate(pairs)]
    return add_tokens(pa.Table.from_pylist(rows, schema=schemas.PAIRS), TokenConfig("words"))


def values(model, pairs, target_lang):
    """Return the values of all rules and of the HMM scores, by name."""
    table = tokens([texts[:2] for texts in pairs], target_lang)
    return {**rules.judge(table, RuleConfig()).values, **score_pairs(*model, table)}


def fitted(table):
    """Fit an HMM model on a TOKENS table; return it and its word order model."""
    model = fit(table, HmmConfig(), os.cpu_count())
    return model, build_word_order(model.parts.target, table)


@pytest.fixture(scope="module")
def german_model(german):
    """Fit a model on German pairs; return it with its word order model."""
    return fitted(tokens([row[:2] for row in german(FITTED)], "de"))


@pytest.fixture(scope="module")
def weights(german, german_model):
    """Fit the weights of the default score on damaged pairs; write them if a path is set."""
    made = [row for seed, part in enumerate(WEIGHED, 1) for row in damage(german(part), seed=seed)]
    good = np.array([row[2] == "good" for row in made])
    result = score.fit_weights(values(german_model, made, "de"), good)
    if "PAIRWEAVE_WEIGHTS" in os.environ:
        Path(os.environ["PAIRWEAVE_WEIGHTS"]).write_bytes(result.to_json())
    return result


def scorers(found, weights):
    """Return what tells good pairs from bad by itself, the higher the better, by name."""
    return {
        "default": score.score(found, weights),
        "shipped": score.score(found, score.read_weights()),
        "likelihood": np.minimum(found["forward_likelihood"], found["reverse_likelihood"]),
        "coverage": np.minimum(found["target_coverage"], found["source_coverage"]),
        "length": -found["char_ratio"],
        "numbers": -found["number_mismatch"],
        "roughness": -found["roughness"],
    }


def test_damage_is_told_from_other_text(german, german_model, weights):
    rows = german(TESTED)
    made = damage(rows, seed=3)
    plain = [row for row in range(0, len(rows), 10) if rows[row][3] is not None]
    made += [(*as_it_is(rows, row, None), "as it is") for row in plain]
    kinds = np.array([row[2] for row in made])
    good = kinds == "good"
    actual = values(german_model, made, "de")
    by = scorers(actual, weights)
    judged = rules.judge(tokens([row[:2] for row in made], "de"), RuleConfig())
    rejected = (judged.first() >= 0) | (by["shipped"] < LEAST)
    wrongly = rejected[good].mean()
    print(f"\n{'':16} {'pairs':>5} {' '.join(f'{name:>10}' for name in by)} precision recall")
    groups = {kind: kinds == kind for kind in KINDS}
    groups["all"] = ~good & (kinds != "as it is")
    groups["all but in part"] = groups["all"] & ~np.isin(kinds, ("dropped", "grafted"))
    groups["as it is"] = kinds == "as it is"
    alone = []
    for kind, bad in groups.items():
        areas = [area_under_curve(each[good | bad], good[good | bad]) for each in by.values()]
        recall = rejected[bad].mean()
        shown = " ".join(f"{area:10.3f}" for area in areas)
        print(f"{kind:16} {bad.sum():5} {shown} {recall / (recall + wrongly):9.3f} {recall:6.3f}")
        if kind in KINDS:
            alone.append(areas[0])
    print(f"mean of the kinds {np.mean(alone):.3f}, less those in part {np.mean(alone[:-2]):.3f}")
    print(f"good pairs rejected by a rule or a score under {LEAST}: {wrongly:.3f}")
    for name, least in (("all", 0.95), ("all but in part", 0.965)):
        some = groups[name] | good
        assert area_under_curve(by["default"][some], good[some]) > least


def test_pairs_that_people_judged(text, shared_data):
    sides = [
        text(f"{name}.{lang}") for lang in ("en", "fr") for name in ("newstest.en-fr", "multi30k")
    ]
    pairs = list(zip(sides[0] + sides[1], sides[2] + sides[3], strict=True))
    model = fitted(tokens(pairs, "fr"))
    lines = (shared_data / "filter" / "refresd-dev.tsv").read_text(encoding="utf-8").splitlines()
    judged = [line.split("\t") for line in lines]
    scores = score.score(values(model, [row[2:] for row in judged], "fr"), score.read_weights())
    labels = np.array([row[1] for row in judged])
    for worse in ("unrelated", "some_meaning_difference"):
        some = (labels == worse) | (labels == "no_meaning_difference")
        area = area_under_curve(scores[some], labels[some] == "no_meaning_difference")
        print(f"no difference against {worse}: {area:.4f} of {some.sum()} pairs")


def test_speed(german, german_model):
    table = tokens([row[:2] for row in german(TESTED)], "de")
    for name, work in (
        ("rules", lambda: rules.judge(table, RuleConfig())),
        ("score of the aligner", lambda: score_pairs(*german_model, table)),
    ):
        work()
        started = time.process_time()
        for _ in range(5):
            work()
        print(
            f"{name}: {5 * len(table) / (time.process_time() - started):,.0f} pairs/s of CPU time"
        )
