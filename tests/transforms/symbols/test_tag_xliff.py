"""The elements that represent tags in XLIFF."""

import pytest

from pairweave.transforms.kernels.tags import tag_names
from pairweave.transforms.markup.markup import parse_markup
from pairweave.transforms.markup.tag_table import number_tags
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
