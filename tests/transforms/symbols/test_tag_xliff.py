"""The elements that represent tags in XLIFF."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.tags import tag_names
from pairweave.transforms.markup.markup import Form, Kind, Marked, parse_markup
from pairweave.transforms.markup.tag_table import Entry, Mark, TagTable, number_tags, numbered_tag
from pairweave.transforms.symbols.tag_xliff import Xliff

USES = {
    tag_names.WHOLE_OPEN: '<g id="8">',
    tag_names.WHOLE_CLOSE: "</g>",
    tag_names.ALONE: '<x id="8"/>',
    tag_names.HALF_OPEN: '<bx id="8"/>',
    tag_names.HALF_CLOSE: '<ex id="8"/>',
}


@pytest.mark.parametrize("use", USES)
def test_each_use_of_a_tag_has_an_element_of_its_own(use):
    assert Xliff().symbol(use, 7) == USES[use]
    assert Xliff().pattern().fullmatch(USES[use])


def test_the_symbols_are_those_of_every_use_and_number():
    made = {Xliff().symbol(use, number) for use in USES for number in range(3)}
    symbols = Xliff().symbols(3)
    assert len(symbols) == len(set(symbols)) == 13
    assert set(symbols) == made


@pytest.mark.parametrize("tag", ['<g id="{}">', '<x id="{}"/>'])
def test_an_id_of_thousands_of_digits_is_that_of_no_tag(tag):
    numbered, table = number_tags(parse_markup("a <b>c</b>"))
    read = Xliff().read(str(Xliff().write(numbered, table)) + tag.format("1" * 5_000), table)
    assert [found.key for found in read.tags] == ["0", "0", ""]


def written(order):
    """Write pairs whose tags have another order than in the source, where they follow another."""
    entries = {number: Entry(Form.PAIR, "b", "<b>", "</b>") for number in order}
    kinds = (Kind.OPEN, Kind.CLOSE)
    table = TagTable(entries, tuple(Mark(kind, number) for number in entries for kind in kinds))
    seen, tags = set(), []
    for number in order:
        tags.append(numbered_tag(kinds[number in seen], number, 0))
        seen.add(number)
    return str(Xliff().write(Marked("", tuple(tags)), table))


@given(st.permutations([*range(6), *range(6)]))
def test_pairs_are_elements_unless_they_cross_one_that_begins_before(order):
    kept = []
    for number in dict.fromkeys(order):
        start, end = (place for place, other in enumerate(order) if other == number)
        if not any(start < other_end < end for _, other_end in kept):
            kept.append((start, end))
    assert written(order).count("<g ") == len(kept)


def test_many_pairs_are_written_in_linear_time():
    order = [number for number in range(20_000) for _ in range(2)]
    start = time.process_time()
    assert written(order).count("<g ") == 20_000
    assert time.process_time() - start < 3
