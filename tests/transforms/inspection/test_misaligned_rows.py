"""Rejecting rows in stretches of lines."""

from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.inspection.misaligned_rows import reject_misaligned
from tests.makers.rows import batch, row


def rows(*places):
    """Return rows at places (unit, line); all files have one name."""
    return batch(*(row("a tree", "ein Baum", unit=unit, line=line) for unit, line in places))


def test_a_row_in_a_stretch_of_its_unit_is_rejected_with_its_lines():
    made = rows((3, 9), (3, 10), (3, 20), (3, 21), (4, 15))
    judged = reject_misaligned(made, {3: [(10, 20)]})
    assert judged["reason"].to_pylist() == [None, "misaligned", "misaligned", None, None]
    assert judged["stage"].to_pylist()[1] == "screen"
    assert judged["detail"].to_pylist()[1] == "lines 10 to 20"


def test_a_row_that_was_rejected_before_keeps_its_reason():
    made = rows((3, 1), (3, 2))
    first = reject_misaligned(made, {3: [(1, 1)]})
    again = reject_misaligned(first, {3: [(1, 2)]})
    assert again["detail"].to_pylist() == ["lines 1 to 1", "lines 1 to 2"]


@given(
    st.lists(st.tuples(st.sampled_from([3, 4]), st.integers(1, 40)), min_size=1, max_size=30),
    st.lists(st.integers(1, 40), unique=True, max_size=8),
)
def test_rows_are_rejected_as_a_loop_over_stretches_says(places, borders):
    borders = sorted(borders)
    stretches = list(zip(borders[::2], borders[1::2], strict=False))
    judged = reject_misaligned(rows(*places), {3: stretches} if stretches else {})
    expected = [
        unit == 3 and any(first <= line <= last for first, last in stretches)
        for unit, line in places
    ]
    assert judged["reason"].is_valid().to_pylist() == expected
