"""What is counted of scored pairs: histograms of every column, against plain Python."""

import math

import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.counts.histograms import ALL, HISTOGRAMS
from pairweave.transforms.filtering import filtered, rules
from pairweave.transforms.filtering.evidence import HMM_COLUMNS
from pairweave.transforms.filtering.rules import COLUMNS, RuleConfig
from pairweave.transforms.filtering.score import read_weights
from tests.makers.rows import pair

TEXTS = (
    ("A red house with 3 doors.", "Ein rotes Haus mit 3 Türen."),
    ("the cat sat 1 2", "the cat sat 3"),
    ("In 1999 (or so)", "Es war 1998"),
    ("Yes", "Ja, das ist so, und zwar immer wieder und wieder und wieder und wieder."),
    ("Das alte HÃ¤uschen &amp; &lt;", "x"),
)


def scored():
    rows = [pair(number, *texts) for number, texts in enumerate(TEXTS)]
    pairs = pa.Table.from_pylist(rows, schema=schemas.PAIRS)
    judged = rules.judge(pairs, RuleConfig())
    draw = np.random.default_rng(1)
    hmm = {name: draw.random(len(rows)).astype(np.float32) for name in HMM_COLUMNS}
    for name in ("forward_likelihood", "reverse_likelihood"):
        hmm[name] = np.array([-0.2, -0.5, -3.9, -18.0, 0.0], np.float32)
    return filtered.scored(pairs, judged, hmm, read_weights())


def test_every_column_has_a_histogram_of_its_values():
    rows = scored()
    actual = filtered.column_bars(rows)
    assert actual.keys() == {"score", *COLUMNS, *HMM_COLUMNS}
    for name, groups in actual.items():
        made = HISTOGRAMS[name].as_json(groups)
        edges, counts = made["edges"], made["counts"][ALL]
        scale = 100 if made["unit"] == "%" else 1
        values = [value * scale for value in rows.column(name).to_pylist()]
        for bar, number in enumerate(counts):
            low = edges[bar - 1] - 1e-4 if bar else -math.inf
            high = edges[bar] - 1e-4 if bar < len(edges) else math.inf
            assert number == sum(low <= value < high for value in values), (name, bar)
    made = HISTOGRAMS["forward_likelihood"].as_json(actual["forward_likelihood"])
    bars = dict(zip([None, *made["edges"]], made["counts"][ALL], strict=True))
    assert {edge: number for edge, number in bars.items() if number} == {
        -18: 1,
        -4: 1,
        -0.5: 2,
        0: 1,
    }


def test_a_pair_that_the_encoder_gives_up_is_rejected_for_what_it_says():
    pairs = pa.Table.from_pylist(
        [pair(number, "A red house", "Ein rotes Haus") for number in range(4)],
        schema=schemas.PAIRS,
    )
    encoded = np.array([0, 3])
    values = pa.table({"margin": pa.array([1.1, 1.2], pa.float32())})
    given_up = {1: ("aligner_failed", "not finite"), 2: ("too_long_for_encoder", "900 pieces")}
    judged = rules.judge(pairs, RuleConfig())
    rows = filtered.compared(pairs, judged, encoded, values, np.full(2, 0.5, np.float32), given_up)
    first, last = values.column("margin").to_pylist()
    assert rows.column("margin").to_pylist() == [first, None, None, last]
    assert rows.column("reason").to_pylist() == [
        *(None, "aligner_failed", "too_long_for_encoder", None)
    ]
    assert rows.column("detail").to_pylist() == [None, "not finite", "900 pieces", None]
    assert rows.column("score").to_pylist() == [0.5, None, None, 0.5]
    assert filtered.data_of(rows, annotate=False, detects=False).num_rows == 2
    bars = filtered.column_bars(rows)
    assert sum(bars["score"][ALL]) == sum(bars["margin"][ALL]) == 2
    assert sum(bars["char_ratio"][ALL]) == 4


@pytest.mark.parametrize("annotate", [False, True])
@pytest.mark.parametrize("rows", [scored(), scored()[:0]], ids=["unsure", "empty"])
def test_columns_of_a_shard_depend_on_the_detector_and_not_on_what_it_found(rows, annotate):
    names, detecting = (
        filtered.data_of(rows, annotate=annotate, detects=detects).column_names
        for detects in (False, True)
    )
    detected = ["source_detected", "target_detected"]
    assert [name for name in detecting if name not in names] == detected
    assert [name for name in detecting if name not in detected] == names


def test_rules_are_counted_alone_as_the_first_and_as_the_only_one():
    rows = scored()
    reasons = rules.reasons(RuleConfig())
    counts = filtered.counts_of(rows, reasons)
    hits = rows.column("hits").to_pylist()
    for bit, reason in enumerate(reasons):
        alone = sum(value >> bit & 1 for value in hits)
        only = sum(value == 1 << bit for value in hits)
        assert counts.get(f"would_reject_{reason}", 0) == alone
        first = sum(value & -value == 1 << bit for value in hits)
        assert counts.get(f"would_reject_only_{reason}", 0) == only
        assert counts.get(f"would_reject_first_{reason}", 0) == first
    kept = [value == 0 for value in hits]
    assert counts["kept_pairs"] == sum(kept)


def test_a_pair_that_is_not_selected_is_rejected_with_its_score():
    pairs = pa.Table.from_pylist(
        [pair(number, "A red house", "Ein rotes Haus") for number in range(4)],
        schema=schemas.PAIRS,
    )
    values = pa.table({"margin": pa.array([1.1, 1.3, 1.2], pa.float32())})
    judged = rules.judge(pairs, RuleConfig())
    encoded, scores = np.array([0, 2, 3]), np.array([0.5, 0.25, 0.75], np.float32)
    given_up = {1: ("aligner_failed", "not finite")}
    rows = filtered.compared(pairs, judged, encoded, values, scores, given_up)
    kept = filtered.reject_unselected(rows, np.array([False, False, False, True]))
    assert kept.column("reason").to_pylist() == ["low_score", "aligner_failed", "low_score", None]
    assert kept.column("detail").to_pylist() == ["score 0.5", "not finite", "score 0.25", None]
