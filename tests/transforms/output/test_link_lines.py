"""Lines of links in the order of the input, for files that were given once or several times."""

from types import SimpleNamespace

import pyarrow as pa
import pytest

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output.line_files import link_lines
from pairweave.transforms.units import Part, Unit

A, B = ("c", "a.en"), ("d", "b.en")


def collect(order, *shards):
    """Return the texts of lines; each shard has rows of (place, line, id, text)."""

    def lines_of(_, number):
        rows = [(name, *place, line, text) for place, line, name, text in shards[number]]
        columns = zip(*rows, strict=True) if rows else [[]] * 5
        return [pa.table([pa.array(each) for each in columns], schema=link_lines.LINES)]

    run = SimpleNamespace(names=[str(number) for number in range(len(shards))])
    return link_lines.collect_lines(run, order, lines_of).decode().split("\n")[:-1]


def test_lines_are_in_the_order_of_the_files_and_of_their_lines():
    shards = [[(A, 2, "x", "a2"), (B, 1, "y", "b1")], [(A, 1, "z", "a1"), (A, 10, None, "")]]
    assert collect([B, A], *shards) == ["b1", "a1", "a2", ""]
    assert collect([A, B], *shards) == ["a1", "a2", "", "b1"]


def test_entries_of_one_line_are_in_the_order_of_their_ids():
    assert collect([A], [(A, 1, "y", "second"), (A, 1, "x", "first")]) == ["first", "second"]


def test_each_copy_of_a_file_has_each_of_its_lines_once():
    lines = [(A, line, name, f"{line}{name}") for line, name in ((1, "x"), (1, "y"), (2, "x"))]
    actual = collect([A, B, A], [*lines, (B, 1, "z", "b1")], [*lines, (B, 2, None, "b2")])
    assert actual == ["1x", "1y", "2x", "b1", "b2", "1x", "1y", "2x"]
    with pytest.raises(ConfigError, match=r"a\.en: was given 2 times with different pairs"):
        collect([A, B, A], [*lines, *lines[:2]], [(B, 1, "z", "b1")])


def unit(place, digest, *, first=1, language="de"):
    """Return a unit of a file whose content has a digest."""
    part = Part(place[1], place[1], "none", ((0, 9),), digest)
    return Unit(0, place[0], "en", language, "tsv", (part,), first, 5)


def test_copies_of_a_file_are_those_with_the_same_pairs():
    both = [unit(A, "1"), unit(A, "2", first=6)]
    link_lines.check_copies([*both, unit(B, "3"), *both], [A, B, A])
    for other in (unit(A, "4"), unit(A, "1", language="nl"), unit(A, "1", first=2)):
        with pytest.raises(ConfigError, match=r"a\.en: was given 2 times with different pairs"):
            link_lines.check_copies([unit(A, "1"), unit(B, "3"), other], [A, B, A])
