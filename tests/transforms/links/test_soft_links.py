"""Links keep the probabilities of each direction."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.links.soft_links import confirm, harden, soften
from tests.makers.hmm_corpora import plain_table
from tests.makers.links import confirm_slowly

WORDS = 4
LEAST = 0.4
DIRECTION = st.dictionaries(
    st.tuples(*[st.integers(0, WORDS - 1)] * 2), st.sampled_from([0.25, 0.5, 1.0]), max_size=5
)


def linked(rows):
    """Return LINKED rows of (forward, reverse), each {(source, target): probability}."""
    table = plain_table([("a b c d", "w x y z")] * len(rows))
    for name, side in (("forward", 0), ("reverse", 1)):
        field = schemas.LINKED.field(name)
        column = [
            [
                {"source": i, "target": j, "probability": p}
                for (i, j), p in sorted(row[side].items())
            ]
            for row in rows
        ]
        table = table.append_column(field, pa.array(column, field.type))
    return table


@given(st.lists(st.tuples(DIRECTION, DIRECTION), max_size=4), st.integers(0, 2))
def test_soft_links_hold_both_directions(rows, skipped):
    actual = soften(linked(rows).slice(skipped))
    assert len(actual) == len(rows[skipped:])
    for links, (forward, reverse) in zip(actual, rows[skipped:], strict=True):
        columns = (links.source, links.target, links.forward, links.reverse)
        made = {(i, j): (f, r) for i, j, f, r in zip(*(c.tolist() for c in columns), strict=True)}
        assert made == {
            link: (forward.get(link, 0), reverse.get(link, 0)) for link in {*forward, *reverse}
        }


def as_mapping(links):
    columns = (links.source, links.target, links.forward, links.reverse)
    return {(i, j): (f, r) for i, j, f, r in zip(*(c.tolist() for c in columns), strict=True)}


@given(st.tuples(DIRECTION, DIRECTION), st.tuples(DIRECTION, DIRECTION))
def test_a_second_aligner_confirms_or_doubts_links(one, other):
    first, second = soften(linked([one, other]))
    sides = [
        {link: (forward.get(link, 0), reverse.get(link, 0)) for link in {*forward, *reverse}}
        for forward, reverse in (one, other)
    ]
    expected = confirm_slowly(*sides, LEAST)
    made = as_mapping(confirm(first, second, LEAST))
    assert made == {link: pytest.approx(means, rel=1e-6) for link, means in expected.items()}
    assert [*made] == [*expected]


def test_a_second_aligner_that_is_sure_brings_back_an_unlikely_link():
    unlikely, sure = {(0, 0): 0.01, (1, 1): 0.01}, {(0, 0): 0.99, (2, 2): 0.99}
    first, second = soften(linked([(unlikely, {}), (sure, {})]))
    made = as_mapping(confirm(first, second, 0.05))
    assert made == {(0, 0): (pytest.approx(0.25, rel=1e-4), 0)}


def test_hard_links_are_certain():
    (links,) = harden(linked([({(0, 1): 0.5, (2, 2): 0.5}, {(0, 1): 0.25})]), "intersection")
    assert (links.source.tolist(), links.target.tolist()) == ([0], [1])
    assert links.forward.tolist() == links.reverse.tolist() == [1]
