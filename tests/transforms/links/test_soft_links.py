"""Links keep the probabilities of each direction."""

import math

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms import schemas
from pairweave.transforms.links.soft_links import harden, multiply, soften
from tests.makers.hmm_corpora import plain_table

WORDS = 4
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
    found = soften(linked(rows).slice(skipped))
    assert len(found) == len(rows[skipped:])
    for links, (forward, reverse) in zip(found, rows[skipped:], strict=True):
        columns = (links.source, links.target, links.forward, links.reverse)
        made = {(i, j): (f, r) for i, j, f, r in zip(*(c.tolist() for c in columns), strict=True)}
        assert made == {
            link: (forward.get(link, 0), reverse.get(link, 0)) for link in {*forward, *reverse}
        }


def as_mapping(links):
    columns = (links.source, links.target, links.forward, links.reverse)
    return {(i, j): (f, r) for i, j, f, r in zip(*(c.tolist() for c in columns), strict=True)}


@given(st.tuples(DIRECTION, DIRECTION), st.tuples(DIRECTION, DIRECTION))
def test_of_two_aligners_each_link_has_the_geometric_mean_of_both(one, other):
    first, second = soften(linked([one, other]))
    expected = {}
    for link in {*one[0], *one[1]} & {*other[0], *other[1]}:
        sides = zip(one, other, strict=True)
        means = tuple(math.sqrt(a.get(link, 0) * b.get(link, 0)) for a, b in sides)
        if any(means):
            expected[link] = means
    made = multiply(first, second)
    assert as_mapping(made) == expected
    assert as_mapping(multiply(second, first)) == expected
    assert sorted(expected) == [*as_mapping(made)]
    assert as_mapping(multiply(first, first)) == as_mapping(first)


def test_hard_links_are_certain():
    (links,) = harden(linked([({(0, 1): 0.5, (2, 2): 0.5}, {(0, 1): 0.25})]), "intersection")
    assert (links.source.tolist(), links.target.tolist()) == ([0], [1])
    assert links.forward.tolist() == links.reverse.tolist() == [1]
