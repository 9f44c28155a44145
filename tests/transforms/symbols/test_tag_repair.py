"""Whatever a model does to symbols, every tag is restored once and nests as in the source."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.markup.markup import INDEXED, XML, Kind, is_nested, parse_markup
from pairweave.transforms.markup.tag_table import find_spans, mark_of, number_tags
from pairweave.transforms.symbols.representations import find_representation
from pairweave.transforms.symbols.tag_coding import Coding
from pairweave.transforms.symbols.tag_repair import Repairs, repair_tags
from tests.makers.marked_texts import SYNTAXES, marked_texts, nested_texts, representations
from tests.oracles import slow_tag_repair

INDEXES = Coding(syntax=INDEXED)


def repaired(source, output):
    """Return an output as repaired, with indexed tags, and what was amiss."""
    _, table = INDEXES.encode(source)
    return INDEXES.decode(output, table)


@pytest.mark.parametrize(
    ("source", "output", "expected", "repairs"),
    [
        # Nothing amiss.
        ("<a_0>a</a_0><a_1/>", "<a_1/> <a_0>a</a_0>", "<a_1/> <a_0>a</a_0>", (0, 0, 0)),
        # What was dropped comes back at the end, in the source's order.
        ("<a_0>a</a_0> <a_1/>b", "A B.", "A B.<a_0></a_0><a_1/>", (3, 0, 0)),
        ("<a_0>a <a_1>b</a_1></a_0>", "A B", "A B<a_0><a_1></a_1></a_0>", (4, 0, 0)),
        # Half a pair that was dropped: no text is marked that was not.
        ("a <a_0>b</a_0>", "A B</a_0> C", "A B<a_0></a_0> C", (1, 0, 0)),
        ("a <a_0>b</a_0>", "A <a_0>B C", "A <a_0>B C</a_0>", (1, 0, 0)),
        (
            "<a_0>a <a_1>b</a_1></a_0> c",
            "<a_0>A <a_1>B</a_0> C",
            "<a_0>A <a_1>B</a_1></a_0> C",
            (1, 0, 0),
        ),
        (
            "<a_0>a <a_1>b</a_1></a_0> c",
            "<a_0>A <a_1>B C",
            "<a_0>A <a_1>B C</a_1></a_0>",
            (2, 0, 0),
        ),
        # What was made up goes, and so does what stands there again.
        ("<a_0>a</a_0>", "<a_0>A</a_0> <a_3>B</a_3><a_0/>", "<a_0>A</a_0> B", (0, 3, 0)),
        ("<a_0>a</a_0>", "<a_0>A</a_0> <a_0>B</a_0>", "<a_0>A</a_0> B", (0, 2, 0)),
        ("<a_0>a</a_0>", "</a_0><a_0>A</a_0>", "<a_0>A</a_0>", (0, 1, 0)),
        # A pair that closes before it opens trades its tags.
        ("<a_0>a</a_0>", "</a_0>A<a_0> B", "<a_0>A</a_0> B", (0, 0, 2)),
        # An outer pair grows to hold its inner one.
        (
            "<a_0>a <a_1>b</a_1></a_0> c",
            "<a_1>A <a_0>B</a_0></a_1> C",
            "<a_0><a_1>A B</a_1></a_0> C",
            (0, 0, 2),
        ),
        (
            "<a_0>a <a_1>b</a_1></a_0> c",
            "<a_0>A <a_1>B</a_0> C</a_1>",
            "<a_0>A <a_1>B C</a_1></a_0>",
            (0, 0, 1),
        ),
        # Pairs that come apart stay so; people do it.
        (
            "<a_0>a <a_1>b</a_1></a_0> c",
            "<a_0>A</a_0> <a_1>B</a_1> C",
            "<a_0>A</a_0> <a_1>B</a_1> C",
            (0, 0, 0),
        ),
        # Of pairs that cross, the one with less of its own keeps what both have.
        (
            "<a_0>a</a_0> <a_1>b</a_1>",
            "<a_0>A <a_1>B</a_0> C D</a_1>",
            "<a_0>A B</a_0><a_1> C D</a_1>",
            (0, 0, 1),
        ),
        (
            "<a_0>a</a_0> <a_1>b</a_1>",
            "<a_0>A B C <a_1>D</a_0> E</a_1>",
            "<a_0>A B C </a_0><a_1>D E</a_1>",
            (0, 0, 1),
        ),
        (
            "<a_0>a</a_0> <a_1>b</a_1>",
            "<a_0>AB<a_1>C</a_0>DE</a_1>",
            "<a_0>ABC</a_0><a_1>DE</a_1>",
            (0, 0, 1),
        ),
        # What has grown over one pair may come to overlap another, and grows over that, too.
        (
            "<a_0>a <a_1>b</a_1> <a_2>c</a_2></a_0>",
            "<a_0>A<a_2>B</a_0>C<a_1>D</a_2>E</a_1>",
            "<a_0>A<a_2>BC</a_2><a_1>DE</a_1></a_0>",
            (0, 0, 3),
        ),
        # Pairs apart may hold each other; pairs that cross in the source may cross.
        (
            "<a_0>a</a_0> <a_1>b</a_1>",
            "<a_0>A <a_1>B</a_1></a_0>",
            "<a_0>A <a_1>B</a_1></a_0>",
            (0, 0, 0),
        ),
        (
            "<a_0>a <a_1>b</a_0> c</a_1>",
            "<a_1>A <a_0>B</a_1> C</a_0>",
            "<a_1>A <a_0>B</a_1> C</a_0>",
            (0, 0, 0),
        ),
        # What was not there half comes back, too.
        ("a</a_0>b<a_1>c", "A B C", "A B C</a_0><a_1>", (2, 0, 0)),
        # A pair dropped whole inside of one that lacks its end.
        (
            "<a_0><a_1>a</a_1> b</a_0>",
            "A <a_1>B",
            "A <a_1>B</a_1><a_0></a_0>",
            (3, 0, 0),
        ),
    ],
)
def test_tags_are_repaired(source, output, expected, repairs):
    assert repaired(source, output) == (expected, Repairs(*repairs))


def test_the_last_open_g_is_the_one_that_closes():
    coding = Coding(find_representation("xliff"))
    _, table = coding.encode("<b>a <i>b</i></b> <u>c</u>")
    assert coding.decode('<g id="1">A <g id="2">B</g></g> <g id="3">C</g>', table) == (
        "<b>A <i>B</i></b> <u>C</u>",
        Repairs(),
    )
    # </g> where no <g> is open is that of the first pair that has no <g>.
    assert coding.decode('A</g> <g id="1">B <g id="3">C</g></g>', table) == (
        "A<i></i> <b>B <u>C</u></b>",
        Repairs(dropped=1, spurious=0, moved=0),
    )


def check(table, text, output):
    """Check that a text has all tags of a table once, nested as the source's."""
    marks = [mark_of(tag) for tag in output.tags]
    assert sorted(marks) == sorted(table.marks)
    assert output.text == text
    offsets = [tag.offset for tag in output.tags]
    assert offsets == sorted(offsets)
    assert all(0 <= offset <= len(text) for offset in offsets)
    before, after = find_spans(table.marks), find_spans(marks)
    assert before.keys() == after.keys()
    for one, other in itertools.permutations(before, 2):
        if crosses(after[one], after[other]):
            assert crosses(before[one], before[other]) or crosses(before[other], before[one])


def crosses(one, other):
    return one[0] < other[0] < one[1] < other[1]


SYMBOLS = [f"<{before}a_{n}{behind}>" for n in range(7) for before, behind in ("  ", "/ ", " /")]
SYMBOLS = [symbol.replace(" ", "") for symbol in SYMBOLS]
OUTPUTS = st.lists(st.sampled_from([*SYMBOLS, *SYMBOLS[::3], "x", "yy ", "_"]), max_size=24)


@given(nested_texts() | marked_texts(), OUTPUTS.map("".join))
def test_any_output_gets_all_tags_once_and_nests(source, output):
    coding = Coding()
    _, table = coding.encode(source)
    numbered = coding.representation.read(output, table)
    made, repairs = repair_tags(numbered, table)
    check(table, re.sub("</?a_[0-9]/?>", "", output), made)
    assert len(numbered.tags) - repairs.spurious + repairs.dropped == len(made.tags)
    if is_nested(parse_markup(source).tags):
        assert is_nested(made.tags)


@given(nested_texts() | marked_texts(), OUTPUTS.map("".join))
def test_any_output_is_repaired_as_by_searching_the_whole_text(source, output):
    coding = Coding()
    _, table = coding.encode(source)
    numbered = coding.representation.read(output, table)
    assert repair_tags(numbered, table) == slow_tag_repair.repair_tags(numbered, table)


@given(st.integers(0, 60), st.booleans(), st.randoms(use_true_random=False))
def test_many_shuffled_tags_are_repaired_as_by_searching_the_whole_text(pairs, nested, random):
    coding = Coding()
    source = "<b>a " * pairs + "</b>" * pairs if nested else "<b>a</b> " * pairs
    string, table = coding.encode(source)
    parts = re.split("(</?a_[0-9]+/?>)", string)
    random.shuffle(parts)
    numbered = coding.representation.read("".join(parts), table)
    assert repair_tags(numbered, table) == slow_tag_repair.repair_tags(numbered, table)


@given(nested_texts(), st.randoms(use_true_random=False))
def test_shuffled_symbols_never_hold_what_held_them(source, random):
    coding = Coding()
    string, table = coding.encode(source)
    parts = re.split("(</?a_[0-9]+/?>)", string)
    random.shuffle(parts)
    made, repairs = repair_tags(coding.representation.read("".join(parts), table), table)
    assert (repairs.dropped, repairs.spurious) == (0, 0)
    before, after = find_spans(table.marks), find_spans([mark_of(tag) for tag in made.tags])
    for one, other in itertools.permutations(before, 2):
        if before[one][0] < before[other][0] and before[other][1] < before[one][1]:
            assert not after[other][0] < after[one][0] < after[other][1]
    # What has been repaired needs no repair.
    assert repair_tags(made, table) == (made, Repairs())


@given(marked_texts(), marked_texts(), st.sampled_from(SYNTAXES), st.booleans())
def test_any_output_in_any_representation_is_decoded(source, output, syntax, shift):
    for representation in representations(syntax):
        coding = Coding(representation, syntax, shift)
        string, table = coding.encode(source)
        assert coding.decode(string, table) == (source, Repairs())
        made, _ = coding.decode(output, table)
        for entry in table.entries.values():
            for kind in entry.kinds:
                assert entry.raw(kind) in made


def test_a_thousand_tags_take_no_time():
    source = "".join(f"<b n='{n}'>x" for n in range(400)) + "</b>" * 400
    coding = Coding()
    string, table = coding.encode(source)
    backwards = "".join(re.split("(</?a_[0-9]+>)", string)[::-1])
    made, repairs = coding.decode(backwards, table)
    assert repairs.moved > 0
    assert is_nested(parse_markup(made, XML).tags)


def test_numbers_follow_first_tags():
    _, table = number_tags(parse_markup("<b>a<br/></b></i>"))
    assert [mark.kind for mark in table.order] == [Kind.OPEN, Kind.EMPTY, Kind.CLOSE, Kind.CLOSE]
