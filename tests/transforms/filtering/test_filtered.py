"""What is counted of scored pairs: histograms of every column, against plain Python."""

import math
from collections import Counter

import numpy as np
import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.filtering import filtered, rules
from pairweave.transforms.filtering.evidence import HMM_COLUMNS
from pairweave.transforms.filtering.rules import COLUMNS, RuleConfig
from pairweave.transforms.filtering.score import read_weights
from pairweave.transforms.report.shown_counts import short_counts, split_counts
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
    counts = filtered.counts_of(rows, rules.reasons(RuleConfig()))
    _, distributions = split_counts(counts)
    found = {
        unit.rpartition(" ")[2]: (unit, numbers) for (_, unit), numbers in distributions.items()
    }
    assert found.keys() == {"score", *COLUMNS, *HMM_COLUMNS}
    for name, (unit, numbers) in found.items():
        values = rows.column(name).to_pylist()
        if unit.startswith("times "):
            expected = Counter(math.floor(min(value, 100)) for value in values)
        elif unit.startswith("half nats "):
            expected = Counter(math.floor(-2 * value) for value in values)
        else:
            assert unit == f"% of {name}"
            expected = Counter(5 * math.floor(value * 20 + 1e-6) for value in values)
        assert numbers == expected
    assert found["forward_likelihood"][1] == {0: 2, 1: 1, 7: 1, 36: 1}
    assert not any(" of " in name for name in short_counts(counts))


def test_a_pair_that_the_encoder_gives_up_is_rejected_for_what_it_says():
    pairs = pa.Table.from_pylist(
        [pair(number, "A red house", "Ein rotes Haus") for number in range(4)],
        schema=schemas.PAIRS,
    )
    values = pa.table({"margin": pa.array([1.1, None, None, 1.2], pa.float32())})
    given_up = {1: ("aligner_failed", "not finite"), 2: ("too_long_for_encoder", "900 pieces")}
    judged = rules.judge(pairs, RuleConfig())
    rows = filtered.compared(pairs, judged, values, np.full(4, 0.5, np.float32), given_up)
    assert rows.column("reason").to_pylist() == [
        *(None, "aligner_failed", "too_long_for_encoder", None)
    ]
    assert rows.column("detail").to_pylist() == [None, "not finite", "900 pieces", None]
    assert rows.column("score").to_pylist() == [0.5, None, None, 0.5]
    assert filtered.data_of(rows, annotate=False).num_rows == 2


def test_rules_are_counted_alone_as_the_first_and_as_the_only_one():
    rows = scored()
    reasons = rules.reasons(RuleConfig())
    counts = filtered.counts_of(rows, reasons)
    hits = rows.column("hits").to_pylist()
    for bit, reason in enumerate(reasons):
        alone = sum(value >> bit & 1 for value in hits)
        only = sum(value == 1 << bit for value in hits)
        assert counts.get(f"pairs that {reason} would reject", 0) == alone
        first = sum(value & -value == 1 << bit for value in hits)
        assert counts.get(f"pairs that only {reason} would reject", 0) == only
        assert counts.get(f"pairs that {reason} would reject first", 0) == first
    kept = [value == 0 for value in hits]
    assert counts["pairs kept"] == sum(kept)
