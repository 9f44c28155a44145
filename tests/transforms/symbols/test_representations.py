"""Every representation turns into every other and back, whatever the text."""

import dataclasses
import itertools
import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup.markup import INDEXED, XLIFF, XML, parse_markup, strip_markup
from pairweave.transforms.markup.tag_table import TagTable, mark_of, number_pair, number_tags
from pairweave.transforms.symbols.representations import (
    Raw,
    find_representation,
    self_translations,
    symbols,
)
from pairweave.transforms.symbols.tag_coding import Coding
from pairweave.transforms.symbols.tag_repair import Repairs
from pairweave.transforms.tags.tags import TagConfig, inject_tags
from tests.makers.marked_texts import (
    SYNTAXES,
    TEMPLATE,
    marked_texts,
    nested_texts,
    representations,
)
from tests.makers.representation_conversion import convert
from tests.oracles.slow_rendering import render, render_pair
from tests.transforms.tags.test_tags import some_pairs

EXAMPLE = '<g id="7">a <x id="3"/>b</g><bx id="1"/> c<g id="9">1</g><ex id="1"/>'


def encoded(string, name, syntax=XLIFF):
    return Coding(find_representation(name, syntax), syntax).encode(string)[0]


def test_representations_look_as_documented():
    assert encoded(EXAMPLE, "indexed") == "<a_0>a <a_1/>b</a_0><a_2> c<a_3>1</a_3></a_2>"
    assert encoded(EXAMPLE, "xliff") == (
        '<g id="1">a <x id="2"/>b</g><bx id="3"/> c<g id="4">1</g><ex id="3"/>'
    )
    assert encoded(EXAMPLE, "masked") == (
        "XLF_OPENG,1a XLF_X,1bXLF_CLOSEG,1XLF_BX,1 cXLF_OPENG,2_1XLF_CLOSEG,2XLF_EX,1"
    )
    assert encoded(EXAMPLE, "html") == "<b>a <br>b</b><i> c<a>1</a></i>"
    assert encoded(EXAMPLE, "raw") == EXAMPLE
    assert encoded(EXAMPLE, TEMPLATE) == "⟦0⟧a ⟦1/⟧b⟦/0⟧⟦2⟧ c⟦3⟧1⟦/3⟧⟦/2⟧"


def test_the_papers_example_is_masked_as_in_its_figure():
    # Hanneman and Dinu (2020), figure 2, before their tokenizer.
    text = (
        '<bx id="1"/>As regards <g id="2">exports</g> of <g id="3">radioactive waste</g> from the '
        "Community"
    )
    assert encoded(text, "masked") == (
        "XLF_BX,1As regards XLF_OPENG,1exportsXLF_CLOSEG,1 of XLF_OPENG,2radioactive "
        "wasteXLF_CLOSEG,2 from the Community"
    )
    assert encoded(text, "xliff") == text


def test_placeholders_of_each_name_count_left_to_right():
    text = '<g id="1"><g id="2">a</g></g>'
    assert encoded(text, "masked") == "XLF_OPENG,1XLF_OPENG,2aXLF_CLOSEG,1XLF_CLOSEG,2"


def test_half_a_pair_is_bx_or_ex():
    assert encoded("a</g>b<g id='4'>c", "xliff") == 'a<ex id="1"/>b<bx id="2"/>c'
    assert encoded("a</g>b<g id='4'>c", "masked") == "aXLF_EX,1bXLF_BX,1c"
    assert encoded("a</g>b<g id='4'>c", "indexed") == "a</a_0>b<a_1>c"


def test_pairs_that_cross_are_written_in_halves():
    crossing = "<a_4>x<a_2>y</a_4>z</a_2><a_3></a_3>"
    assert encoded(crossing, "xliff", INDEXED) == (
        '<bx id="1"/>x<bx id="2"/>y<ex id="1"/>z<ex id="2"/><g id="3"></g>'
    )


def test_text_that_looks_like_a_symbol_is_a_tag_of_its_own():
    coding = Coding(find_representation("indexed"), XLIFF)
    string, table = coding.encode('write <a_0>, </a_7> and <g id="1"><a_01></g>')
    assert string == "write <a_0/>, <a_1/> and <a_2><a_01></a_2>"
    assert [entry.opening for entry in table.entries.values()] == ["<a_0>", "</a_7>", '<g id="1">']


def test_a_digit_or_underscore_behind_a_placeholder_is_parted_from_it():
    for behind in ("0", "_", "_0", "__", "٣", "x", ""):
        string, table = Coding(find_representation("masked")).encode(f"1<b/>{behind}")
        symbol = "XLF_X,1_" if behind[:1] in ("0", "_") else "XLF_X,1"
        assert string == f"1{symbol}{behind}"
        assert str(find_representation("masked").read(string, table)) == f"1<a_0/>{behind}"


def test_names_of_html_do_not_run_out():
    text = "".join(f"<t n='{number}'>" for number in range(30)) + "<e/>" * 7
    for name in ("html", "masked", "xliff"):
        representation = find_representation(name)
        string, table = Coding(representation).encode(text)
        assert len(set(re.findall("<[^>]*>|XLF_[A-Z]+,[0-9]+", string))) == 37
        assert convert(string, table, representation, Raw())[0] == text


@given(marked_texts(), st.sampled_from(SYNTAXES))
def test_every_representation_becomes_every_other_and_comes_back(string, syntax):
    check_round_trips(string, syntax)


@given(nested_texts())
def test_well_formed_texts_become_every_representation_and_come_back(string):
    check_round_trips(string, XML)


def check_round_trips(string, syntax, forms=None):
    forms = forms or representations(syntax)
    for first in forms:
        text, table = Coding(first, syntax).encode(string)
        assert str(Raw(syntax).write(first.read(text, table), table)) == string
        for second in forms:
            other, other_table = convert(text, table, first, second)
            assert convert(other, other_table, second, first) == (text, table)
            assert Coding(second, syntax).decode(other, other_table)[0] == string


@given(marked_texts(), st.sampled_from(SYNTAXES))
def test_symbols_are_found_again_where_they_were_written(string, syntax):
    for form in representations(syntax)[:-3] + representations(syntax)[-2:]:
        text, table = Coding(form, syntax).encode(string)
        tags = form.read(text, table).tags
        assert [mark_of(tag) for tag in tags] == list(table.order)


@given(marked_texts(8), marked_texts(8), st.sampled_from(SYNTAXES))
def test_both_sides_of_a_pair_come_back(source, target, syntax):
    forms = representations(syntax)
    for first in forms:
        coding = Coding(first, syntax)
        *texts, source_table, target_table = coding.encode_pair(source, target)
        assert source_table.order == target_table.order
        for text, table, raw in zip(
            texts, (source_table, target_table), (source, target), strict=True
        ):
            assert coding.decode(text, table)[0] == raw
            for second in forms:
                other, other_table = convert(text, table, first, second)
                assert convert(other, other_table, second, first) == (text, table)


def test_an_element_of_a_pair_has_one_number_on_both_sides():
    source = parse_markup("<b>a</b> <i>c</i> <b>d</b><br/>")
    target = parse_markup("<i>C</i> <b>A</b> <u>E</u><br /><b>D</b>")
    numbered = number_pair(source, target)
    assert str(numbered[0]) == "<a_0>a</a_0> <a_1>c</a_1> <a_2>d</a_2><a_3/>"
    assert str(numbered[1]) == "<a_1>C</a_1> <a_0>A</a_0> <a_4>E</a_4><a_3/><a_2>D</a_2>"
    assert numbered[3].entries[3].opening == "<br />"


def test_identical_elements_of_a_target_are_numbered_in_their_order():
    source = parse_markup("<b id='1'>a</b> <b>c</b>")
    numbered = number_pair(source, parse_markup("<b>d</b> <b>e</b>"))
    assert str(numbered[1]) == "<a_0>d</a_0> <a_1>e</a_1>"


def test_a_target_keeps_an_order_of_its_own_only_where_it_has_one():
    source = parse_markup("<b>a</b> <i>c</i>")
    for text, own in (("<b>d</b> <i>e</i>", ()), ("<i>d</i> <b>e</b>", (1, 1, 0, 0))):
        *_, table, other_table = number_pair(source, parse_markup(text))
        assert table.own == ()
        assert tuple(mark.number for mark in other_table.own) == own
        assert ("own" in other_table.to_json()) == bool(own)


@given(marked_texts(8), marked_texts(8))
def test_tables_survive_json(source, target):
    for table in number_pair(parse_markup(source), parse_markup(target))[2:]:
        assert TagTable.from_json(table.to_json()) == table


def test_text_that_looked_like_symbols_survives_json():
    table = Coding(syntax=XLIFF).encode("<a_0> <g>b</g> </a_7>")[1]
    assert table.literals == {0: "<a_0>", 2: "</a_7>"}
    table = dataclasses.replace(table, plain=frozenset({2}))
    assert TagTable.from_json(table.to_json()) == table


def test_a_damaged_table_is_refused():
    good = number_tags(parse_markup("<b>a</b>"))[1].to_json()
    for bad in (
        {},
        {**good, "order": 3},
        {**good, "order": "<a_0>"},
        {**good, "order": "<a_0>x</a_0>"},
        {**good, "order": "<a_0></a_0><a_0>"},
        {**good, "own": "<a_0>"},
        {**good, "tags": [{**good["tags"][0], "form": "triple"}]},
        {**good, "tags": [{**good["tags"][0], "closing": None}]},
    ):
        with pytest.raises(ConfigError, match="this is not a table of tags"):
            TagTable.from_json(bad)


def test_a_symbol_that_the_table_does_not_know_is_not_converted():
    string, table = Coding().encode("<b>a</b>")
    with pytest.raises(ConfigError, match="the table does not know '<a_3/>'"):
        convert(string + "<a_3/>", table, find_representation("indexed"), Raw())


def test_unknown_representations_are_refused():
    with pytest.raises(ConfigError, match="unknown representation 'bpe'; choose from indexed"):
        find_representation("bpe")
    with pytest.raises(ConfigError, match="raw tags have no list of symbols"):
        symbols("raw", 2)
    with pytest.raises(ConfigError, match="at least 1 tag"):
        symbols("html", 0)


@pytest.mark.parametrize(
    ("forms", "message"),
    [
        (("[{index}]", "[/{index}]"), "three forms"),
        (("[]", "[/{index}]", "[{index}/]"), "must contain {index} exactly once"),
        (("[{index}{index}]", "[/{index}]", "[{index}/]"), "must contain {index} exactly once"),
        (("[{index}", "[/{index}]", "[{index}/]"), "needs something before"),
        (("{index}]", "[/{index}]", "[{index}/]"), "needs something before"),
        (("[ {index}]", "[/{index}]", "[{index}/]"), "neither white space nor digits"),
        (("[1{index}]", "[/{index}]", "[{index}/]"), "neither white space nor digits"),
        (("t{index}]", "[/{index}]", "[{index}/]"), "must begin with a character"),
        (("[{index}]", "[[{index}]", "[{index}/]"), "must begin with a character"),
        (("[{index}]", "[/{index}]", "/{index}]"), "must begin with a character"),
        (("[{index}]", "[{index}]", "[{index}/]"), "is '[{index}]' or its beginning"),
        (("[{index}]", "[{index}]]", "[/{index}]"), "is '[{index}]]' or its beginning"),
    ],
)
def test_templates_that_cannot_be_read_back_are_refused(forms, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        find_representation(forms)


def test_symbols_are_listed_once_and_found_by_their_pattern():
    for representation in (*representations()[:4], *representations()[5:]):
        names = representation.symbols(25)
        assert len(set(names)) == len(names)
        for name in names:
            assert representation.pattern().fullmatch(name)
    assert symbols("indexed", 2) == ["<a_0>", "<a_1>", "</a_0>", "</a_1>", "<a_0/>", "<a_1/>"]
    assert symbols("xliff", 1) == [
        '<g id="1">',
        "</g>",
        '<x id="1"/>',
        '<bx id="1"/>',
        '<ex id="1"/>',
    ]
    assert symbols("html", 1) == ["<b>", "</b>", "<br>"]


def test_every_symbol_that_an_encoded_text_holds_is_listed():
    text = "<a_0>a<a_1/></a_0></a_2><a_3><a_4><a_5></a_4></a_5>"
    for representation in (*representations()[:4], *representations()[5:]):
        string, _ = Coding(representation, INDEXED).encode(text)
        actual = {match[0] for match in representation.pattern().finditer(string)}
        assert actual <= set(representation.symbols(6))


def test_symbols_translate_themselves():
    pairs = self_translations("masked")
    assert pairs[0] == ("XLF_OPENG,1", "XLF_OPENG,1")
    assert len(pairs) == 5 * 20
    assert all(one == other for one, other in pairs)


def tag(index, form, source, target):
    return {
        "index": index,
        "form": form,
        "source_start": source[0],
        "source_end": source[1],
        "target_start": target[0],
        "target_end": target[1],
    }


def test_tagged_rows_are_written_in_every_representation():
    tags = [
        tag(7, "pair", (2, 5), (0, 3)),
        tag(2, "pair", (2, 3), (2, 3)),
        tag(4, "self_closing", (1, 1), (3, 3)),
        tag(0, "open", (4, 5), (4, 5)),
        tag(9, "close", (0, 1), (0, 1)),
    ]
    written = {
        "indexed": (
            "a</a_9><a_4/> <a_7><a_2>b</a_2> <a_0>c</a_7>",
            "<a_7>C</a_9> <a_2>B</a_2></a_7><a_4/> <a_0>A",
        ),
        "xliff": (
            'a<ex id="1"/><x id="2"/> <g id="3"><g id="4">b</g> <bx id="5"/>c</g>',
            '<g id="3">C<ex id="1"/> <g id="4">B</g></g><x id="2"/> <bx id="5"/>A',
        ),
        "masked": (
            "aXLF_EX,1XLF_X,1 XLF_OPENG,1XLF_OPENG,2bXLF_CLOSEG,1 XLF_BX,1cXLF_CLOSEG,2",
            "XLF_OPENG,1CXLF_EX,1 XLF_OPENG,2BXLF_CLOSEG,1XLF_CLOSEG,2XLF_X,1 XLF_BX,1A",
        ),
        "html": ("a</b><br> <i><a>b</a> <span>c</i>", "<i>C</b> <a>B</a></i><br> <span>A"),
    }
    for name, (source, target) in written.items():
        assert render("a b c", tags, "source", name) == source
        assert render("C B A", tags, "target", name) == target


def test_a_side_may_have_a_tag_twice():
    tags = [tag(3, "pair", (0, 1), (0, 1)), tag(3, "pair", (0, 1), (4, 5))]
    assert render("a", tags, "source", "xliff") == '<g id="1">a</g>'
    assert render("b c d", tags, "target", "xliff") == '<g id="1">b</g> c <g id="1">d</g>'
    assert render("b c d", tags, "target", "indexed") == "<a_3>b</a_3> c <a_3>d</a_3>"


def test_pairs_that_cross_on_one_side_are_halves_on_it():
    tags = [tag(0, "pair", (0, 3), (0, 3)), tag(1, "pair", (4, 5), (2, 5))]
    assert render("a b c", tags, "target", "xliff").count("<bx") == 2


def test_pairs_that_cross_in_the_source_alone_are_halves_on_both_sides():
    tags = [tag(0, "pair", (0, 3), (0, 1)), tag(1, "pair", (2, 5), (4, 5))]
    assert render("a b c", tags, "source", "xliff").count("<bx") == 2
    assert render("a b c", tags, "target", "xliff") == (
        '<bx id="1"/>a<ex id="1"/> b <bx id="2"/>c<ex id="2"/>'
    )


def test_a_tag_round_nothing_stays_outside_its_neighbours():
    tags = [
        tag(0, "pair", (0, 1), (0, 1)),
        tag(1, "pair", (1, 1), (1, 1)),
        tag(2, "pair", (1, 2), (1, 2)),
    ]
    assert render("ab", tags, "source", "indexed") == "<a_0>a</a_0><a_1></a_1><a_2>b</a_2>"


def test_text_that_would_be_taken_for_a_symbol_is_told():
    assert find_representation("masked").pattern().search("see XLF_X,3")
    assert not find_representation("indexed").pattern().search("see XLF_X,3")


def real_texts(shared_data):
    """Return every tagged line of the real documents once, and its syntax."""
    lines = {
        (XLIFF, line)
        for path in sorted((shared_data / "tagged").glob("*-dev.*"))
        for line in path.read_text(encoding="utf-8").split("\n")
    }
    for path in sorted((shared_data / "xml").glob("*.json")):
        texts = json.loads(path.read_text(encoding="utf-8"))["text"].values()
        lines |= {(XML, text) for text in texts}
    return [pair for pair in sorted(lines, key=str) if parse_markup(pair[1], pair[0]).tags]


@pytest.mark.slow
def test_many_real_documents_become_every_representation_and_come_back(shared_data):
    texts = real_texts(shared_data)
    assert len(texts) > 4_000
    for syntax, string in texts[::2]:
        check_round_trips(string, syntax, representations(syntax)[:-1])


@pytest.mark.slow
def test_real_documents_become_every_representation_and_come_back(shared_data):
    for syntax, string in real_texts(shared_data)[::25]:
        check_round_trips(string, syntax, representations(syntax)[:-1])


def test_real_xliff_has_its_own_ids_where_they_count_from_one(shared_data):
    texts = [string for syntax, string in real_texts(shared_data) if syntax is XLIFF]
    same = 0
    for string in texts:
        ids = re.findall('id="([0-9]+)"', string)
        in_order = list(dict.fromkeys(ids)) == [str(one + 1) for one in range(len(set(ids)))]
        same += in_order
        assert not in_order or encoded(string, "xliff") == string
    assert same > 0.8 * len(texts)


def test_all_real_pairs_are_encoded_together_and_come_back(shared_data):
    for corpus, target in itertools.product(("eurlex", "glossary"), ("de", "fr", "hu")):
        sides = [
            (shared_data / "tagged" / f"{corpus}-dev.{side}").read_text(encoding="utf-8")
            for side in ("en", target)
        ]
        coding = Coding(syntax=XLIFF)
        for pair in zip(*(side.split("\n") for side in sides), strict=True):
            *texts, source_table, target_table = coding.encode_pair(*pair)
            tables = source_table, target_table
            for text, table, raw in zip(texts, tables, pair, strict=True):
                assert coding.decode(text, table) == (raw, Repairs())
            # Both sides of these documents have the same tags.
            assert source_table.entries == target_table.entries


@pytest.mark.parametrize("nesting", ["proper", "free"])
def test_rows_of_the_job_are_written_as_their_column_says(nesting):
    config = TagConfig(nesting=nesting, mix=math.inf, variants=2, max_tags=9, tag_share=1.0)
    rows = inject_tags(some_pairs(40), config)[0].to_pylist()
    assert sum(len(row["tags"]) for row in rows) > 100
    for row in rows:
        for name in ("indexed", "xliff", "masked", "html", TEMPLATE):
            pair = render_pair(row["source"], row["target"], find_representation(name))
            for side, expected in zip(("source", "target"), pair, strict=True):
                text = strip_markup(row[side], INDEXED)
                written = render(text, row["tags"], side, find_representation(name))
                if nesting == "proper" or name not in ("xliff", "masked"):
                    assert written == expected
                assert strip_markup(render(text, row["tags"], side, "indexed"), INDEXED) == text
