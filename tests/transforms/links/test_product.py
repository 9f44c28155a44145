"""The product of two aligners' posteriors, beside its definition link by link."""

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.links.product import SUREST, multiply_posteriors
from tests.makers.links import multiply_slowly
from tests.makers.token_tables import token_table

PAIRS = [("a b c", "d e"), ("", "f"), ("g h", "i j k l")]


def linked(*rows, pairs=PAIRS):
    """Return LINKED rows with the links of each, a map for each direction."""
    columns = [
        pa.array(
            [
                [{"source": i, "target": j, "probability": p} for (i, j), p in sorted(each.items())]
                for each in direction
            ],
            schemas.LINK_LIST,
        )
        for direction in zip(*rows, strict=True)
    ]
    tokens = token_table(pairs)
    return pa.Table.from_arrays([*tokens.columns, *columns], schema=schemas.LINKED)


def maps(table):
    """Return the links of each row, a map for each direction."""
    return [
        tuple(
            {(link["source"], link["target"]): link["probability"] for link in links}
            for links in both
        )
        for both in zip(table["forward"].to_pylist(), table["reverse"].to_pylist(), strict=True)
    ]


def links(sources, targets):
    """Return a strategy of the posteriors of some links between so many words."""
    if not sources or not targets:
        return st.just({})
    cells = st.tuples(st.integers(0, sources - 1), st.integers(0, targets - 1))
    return st.dictionaries(cells, st.floats(0, 1, width=32))


ROWS = st.tuples(
    *(
        st.tuples(*(links(len(one.split()), len(other.split())) for _ in range(2)))
        for one, other in PAIRS
    )
)


@given(ROWS, ROWS, st.floats(0.01, 0.99))
def test_it_is_what_its_definition_says(first, second, threshold):
    made = maps(multiply_posteriors(linked(*first), linked(*second), threshold))
    for actual, one, other in zip(made, first, second, strict=True):
        for direction in range(2):
            wanted = multiply_slowly(one[direction], other[direction], threshold)
            assert actual[direction] == wanted


@given(ROWS, ROWS)
def test_it_does_not_matter_which_is_first(first, second):
    one, other = linked(*first), linked(*second)
    assert multiply_posteriors(one, other, 0.5).equals(multiply_posteriors(other, one, 0.5))


def test_a_half_is_where_the_posteriors_sum_to_one():
    one = linked(({(0, 0): 0.75, (1, 1): 0.75}, {}), ({}, {}), ({}, {}))
    other = linked(({(0, 0): 0.25, (1, 1): 0.2421875}, {}), ({}, {}), ({}, {}))
    assert maps(multiply_posteriors(one, other, 0.5))[0] == ({(0, 0): 0.5}, {})


def test_neither_overrules_the_other_by_a_posterior_of_one():
    one = linked(({(0, 0): 1.0}, {}), ({}, {}), ({}, {}))
    other = linked(({(0, 0): 1e-9}, {}), ({}, {}), ({}, {}))
    assert maps(multiply_posteriors(one, other, 0.5))[0] == ({}, {})
    both = maps(multiply_posteriors(one, one, 0.5))[0][0][0, 0]
    assert math.isclose(both, SUREST, rel_tol=1e-6)


def test_rows_in_slices_are_the_same_rows():
    rows = [({(0, 0): 0.75}, {(2, 1): 0.5}), ({}, {}), ({(1, 3): 0.5}, {(0, 2): 0.75})]
    whole = multiply_posteriors(linked(*rows), linked(*rows), 0.25)
    parts = [
        multiply_posteriors(linked(*rows).slice(at, 1), linked(*rows).slice(at, 1), 0.25)
        for at in range(3)
    ]
    assert maps(pa.concat_tables(parts)) == maps(whole) == rows


def test_other_tokens_are_refused():
    rows = [({}, {})] * 3
    others = [("a b c", "d e"), ("x", "f"), ("g h", "i j k l")]
    with pytest.raises(WorkerError, match="two aligners' tables differ in column"):
        multiply_posteriors(linked(*rows), linked(*rows, pairs=others), 0.5)
