"""Links of two aligners merged, beside sets."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.kernels.links.combine import combine_links
from pairweave.transforms.kernels.links.links import WeightedLinks
from pairweave.transforms.links.aligner_agreement import Agreement
from pairweave.transforms.links.combine import combine
from tests.makers.read_only import read_only

links = st.dictionaries(
    st.tuples(st.integers(0, 32_767), st.integers(0, 9) | st.just(32_767)),
    st.floats(0, 1, width=32),
    max_size=8,
)


def flat(pairs):
    ordered = [sorted(pair.items()) for pair in pairs]
    every = [link for pair in ordered for link in pair]
    return WeightedLinks(
        np.cumsum([0, *map(len, ordered)]),
        read_only([link[0][0] for link in every], np.int16),
        read_only([link[0][1] for link in every], np.int16),
        read_only([link[1] for link in every], np.float32),
    )


@given(st.lists(st.tuples(links, links), max_size=5), st.booleans())
def test_merged_links_are_those_of_sets(pairs, union):
    first, second = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    *made, common = combine_links(flat(first), flat(second), union)
    expected = []
    for one, two in pairs:
        keys = one.keys() | two.keys() if union else one.keys() & two.keys()
        mean = {
            key: np.float32((np.float32(one[key]) + np.float32(two[key])) / np.float32(2))
            for key in one.keys() & two.keys()
        }
        expected.append({key: mean.get(key, one.get(key, two.get(key))) for key in keys})
    for ours, wanted in zip(made, flat(expected), strict=True):
        np.testing.assert_array_equal(ours, wanted)
    assert common.tolist() == [len(one.keys() & two.keys()) for one, two in pairs]


def table(*pairs):
    rows = [
        {
            **dict.fromkeys(("corpus", "source_lang", "target_lang", "file"), "x"),
            "id": str(number),
            "line": number,
            "source": "a b c",
            "target": "d e f",
            "source_tokens": [{"start": 2 * i, "end": 2 * i + 1} for i in range(3)],
            "target_tokens": [{"start": 2 * i, "end": 2 * i + 1} for i in range(3)],
            "links": [{"source": i, "target": j, "probability": p} for i, j, p in pair],
        }
        for number, pair in enumerate(pairs)
    ]
    return pa.Table.from_pylist(rows, schema=schemas.SYMMETRIZED)


def test_two_tables_become_one_and_a_rate():
    first = table([(0, 0, 0.5), (1, 1, 0.5)], [(2, 2, 1.0)])
    second = table([(0, 0, 1.0), (1, 2, 0.25)], [])
    both, counts = combine(first, second, "intersection")
    either, _ = combine(first, second, "union")
    assert both["links"].to_pylist() == [[{"source": 0, "target": 0, "probability": 0.75}], []]
    assert [
        [(link["source"], link["target"]) for link in row] for row in either["links"].to_pylist()
    ] == [
        [(0, 0), (1, 1), (1, 2)],
        [(2, 2)],
    ]
    assert counts.tolist() == [[2, 2, 1], [1, 0, 0]]
    whole = sum((Agreement(*row) for row in counts.tolist()), Agreement())
    assert whole == Agreement(3, 2, 1)
    assert whole.rate == pytest.approx(0.4)


def test_tables_of_other_pairs_are_refused():
    with pytest.raises(WorkerError, match="column id"):
        combine(table([], []), table([]), "union")
    with pytest.raises(ConfigError, match="intersection or union"):
        combine(table([]), table([]), "both")
