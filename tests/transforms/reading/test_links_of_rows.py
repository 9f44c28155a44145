"""Links that come with their pairs, line by line."""

import pyarrow as pa
import pytest

from pairweave.transforms.kernels.links.pharaoh import MAX_INDEX
from pairweave.transforms.reading.links_of_rows import read_given_links, written_links


def read(*lines):
    """Return the links of each line, and reason and detail of each problem."""
    problems = {}
    column = read_given_links(pa.array(lines, pa.string()), "forward_links", problems)
    links = [[(link["source"], link["target"]) for link in links] for links in column.to_pylist()]
    return links, {row: (one.reason.value, one.detail) for row, one in problems.items()}


def test_links_are_read_as_written():
    assert read("2-1 0-0", "", "0-0 0-0", None) == ([[(2, 1), (0, 0)], [], [(0, 0)] * 2, []], {})


def test_a_line_with_something_else_is_named_and_the_others_are_read():
    links, problems = read("0-0", "1-1 1-x 2-2", f"{MAX_INDEX + 1}-0", "0-0\n1-1", "3-3")
    assert links == [[(0, 0)], [], [], [], [(3, 3)]]
    expected = "is not a link; expected i-j with two token numbers, such as 0-2"
    assert problems == {
        1: ("invalid_link", f"forward_links: '1-x' {expected}"),
        2: (
            "link_out_of_range",
            f"forward_links: '{MAX_INDEX + 1}-0': token numbers go up to {MAX_INDEX}",
        ),
        3: ("invalid_link", f"forward_links: '\\n' {expected}"),
    }


def test_links_on_two_lines_are_refused_even_if_each_is_a_link():
    links, problems = read("0-0\n1-1", "2-2")
    assert links == [[], [(2, 2)]]
    assert [*problems] == [0]


def test_links_as_objects_and_as_pairs_are_the_same():
    assert written_links([{"source": 2, "target": 0}, [0, 1]]) == "2-0 0-1"
    assert written_links([]) == ""


@pytest.mark.parametrize(
    "link", [[True, 0], [-1, 0], [0], [0, 0, 0], [0.0, 1], {"source": 0}, "0-0", None]
)
def test_what_is_no_pair_of_numbers_makes_no_links(link):
    assert written_links([[0, 0], link]) is None
