"""Segments of TMX and XLIFF: which inline elements belong together, and how they are written."""

from xml.etree import ElementTree as ET

import pytest

from pairweave.transforms.markup.markup import XLIFF, Form, find_elements, parse_markup
from pairweave.transforms.markup.segments import Segment, opening_tag


def segment(*parts):
    """Return the content of text and elements that are (name, attributes)."""
    made = Segment(1000)
    for part in parts:
        if isinstance(part, str):
            made.text(part)
        else:
            name, attributes = part
            made.start(name, name, attributes)
            made.end(name, name)
    return made.finish()


def forms(marked):
    return [element.form for element in find_elements(marked.tags)]


def test_isolated_tags_whose_partners_are_in_other_segments_are_no_pair():
    begin, end = ("it", {"pos": "begin", "i": "1"}), ("it", {"pos": "end", "i": "1"})
    assert forms(segment("a ", begin, "b", end)) == [Form.OPEN, Form.CLOSE]
    assert forms(segment("a ", end, "b", begin)) == [Form.CLOSE, Form.OPEN]
    begin, end = ("it", {"pos": "open", "id": "1"}), ("it", {"pos": "close", "id": "1"})
    assert forms(segment(begin, "b", end)) == [Form.OPEN, Form.CLOSE]


def test_begin_and_end_with_one_number_are_a_pair():
    assert forms(segment(("bpt", {"i": "1"}), "b", ("ept", {"i": "1"}))) == [Form.PAIR]
    assert forms(segment(("bpt", {"i": "1"}), "b", ("ept", {"i": "2"}))) == [Form.OPEN, Form.CLOSE]


def test_halves_of_xliff_2_are_a_pair_by_the_start_that_the_end_names():
    start = ("sc", {"id": "1"})
    assert forms(segment(start, "b", ("ec", {"startRef": "1", "id": "2"}))) == [Form.PAIR]
    apart = segment(start, "b", ("ec", {"startRef": "2", "id": "1"}))
    assert forms(apart) == [Form.OPEN, Form.CLOSE]


@pytest.mark.parametrize(
    ("parts", "wanted"),
    [
        ([("bpt", {"i": "1"}), ("ept", {"i": "1"})], [Form.PAIR]),
        ([("bx", {"id": "1"}), ("ex", {"rid": "1", "id": "2"})], [Form.PAIR]),
        ([("sc", {"id": "1"}), ("ec", {"startRef": "1"})], [Form.PAIR]),
        ([("sm", {"id": "1", "type": "comment"}), ("em", {"startRef": "1"})], [Form.PAIR]),
        ([("sm", {"id": "1"}), ("em", {"startRef": "2"})], [Form.OPEN, Form.CLOSE]),
        ([("it", {"id": "1", "pos": "open"}), ("ut", {"x": "1"})], [Form.OPEN, Form.SELF_CLOSING]),
        ([("cp", {"hex": "0007"}), ("x", {"id": "1"})], [Form.SELF_CLOSING] * 2),
    ],
)
def test_native_codes_are_the_same_tags_in_a_document_and_in_text(parts, wanted):
    marked = segment(parts[0], "a", parts[1])
    assert parse_markup(str(marked), XLIFF) == marked
    assert forms(marked) == wanted


def test_marked_text_is_the_same_in_a_document_and_in_text():
    made = Segment(1000)
    for name in ("g", "hi", "mrk", "pc"):
        made.start(name, name, {})
        made.end(name, name)
    assert parse_markup(str(made.finish()), XLIFF) == made.finish()


def test_an_element_of_another_namespace_is_a_pair_and_its_place_counts_code_points():
    made = Segment(1000)
    made.text("ü𝄞")
    made.start("", "y:b", {})
    made.end("", "y:b")
    marked = made.finish()
    assert forms(marked) == [Form.PAIR]
    assert [tag.offset for tag in marked.tags] == [2, 2]


def test_a_native_code_without_a_partner_is_known_by_its_id_or_its_x():
    codes = [("ph", {"id": "1", "x": "2"}), ("ph", {"x": "3"}), ("ph", {"type": "br"})]
    assert [tag.key for tag in segment(*codes).tags] == ["1", "3", ""]


def test_elements_inside_a_native_code_are_a_part_of_its_tag():
    made = Segment(1000)
    for name in ("ph", "sub", "hi"):
        made.start(name, name, {})
    for name in ("hi", "sub"):
        made.end(name, name)
    made.text("a < b")
    made.end("ph", "ph")
    (tag,) = made.finish().tags
    assert (tag.name, tag.raw) == ("ph", "<ph><sub><hi/></sub>a &lt; b</ph>")


def test_any_value_of_an_attribute_is_read_back():
    value = "a\t\n\r\"&<>' b"
    element = ET.fromstring(opening_tag("g", {"id": value}) + "</g>")
    assert element.attrib == {"id": value}
