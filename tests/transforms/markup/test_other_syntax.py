"""Tags in another syntax than the given one are noticed; text that only looks like it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.errors import InputError
from pairweave.transforms.markup.markup import SYNTAXES
from pairweave.transforms.markup.other_syntax import SyntaxCheck


def check(syntax, *lines):
    made = SyntaxCheck("s.txt", SYNTAXES[syntax])
    for line in lines:
        made.add(line)
    return made


@pytest.mark.parametrize(
    ("syntax", "line", "named"),
    [
        ("xliff", "see <b>the</b> x", "xml"),
        ("xliff", "see <a_0>the</a_0> x", "indexed"),
        ("xliff", "one<br>two", "html"),
        ("xliff", "<B>one</b>", "html"),
        ("xliff", 'a <img src="x"> b', "html"),
        ("xliff", "a <break/> b", "xml"),
        ("indexed", 'see <g id="1">the</g><x id="2"/>', "xliff"),
        ("indexed", 'see <bx id="1"/>the<ex rid="1"/>', "xliff"),
        ("indexed", 'see <g id="1">the</g> <b>x</b>', "xml"),
        ("indexed", "<code>x</code><br>", "html"),
    ],
)
def test_a_file_with_tags_in_another_syntax_alone_is_refused_and_the_syntax_is_named(
    syntax, line, named
):
    with pytest.raises(InputError) as caught:
        check(syntax, "plain", line, "plain").warning()
    message = str(caught.value)
    assert message.startswith("s.txt:2: ")
    assert f"are {named}, not {syntax}" in message
    assert f"give --syntax {named}" in message


@pytest.mark.parametrize("syntax", ["xliff", "indexed"])
@pytest.mark.parametrize(
    "line",
    [
        "a < b and c > d",
        "usage: run <file> [<more>]",
        "cp <source> <dest>, or <link>",
        "List<String> x",
        "x <!-- remark --> y",
        "I <3 you </3",
        "&lt;b&gt;bold&lt;/b&gt;",
        "</b> alone",
    ],
)
def test_text_that_only_looks_like_tags_is_left_alone(syntax, line):
    assert check(syntax, line).warning() is None


def test_a_few_tags_of_another_syntax_are_warned_of_once():
    lines = ['<g id="1">x</g>', "plain", "<b>y</b> <i>z</i>", "<b>w</b>"]
    assert check("xliff", *lines).warning() == (
        "s.txt:3: 3 tags in 2 of 4 lines are xml, not xliff, the first is <b>; they are taken for "
        "text"
    )


def test_one_line_in_a_hundred_refuses_a_file_without_tags_and_one_in_more_warns():
    with pytest.raises(InputError, match="1 of 100 lines"):
        check("xliff", "<b>y</b>", *["plain"] * 99).warning()
    assert "1 tags in 1 of 101 lines" in check("xliff", "<b>y</b>", *["plain"] * 100).warning()


@given(st.lists(st.sampled_from(["<b>", "</b>", "<a_0>", "</a_0>", "<x/>", "<br>", "a "])))
def test_a_syntax_of_any_tags_is_never_warned_of(parts):
    for syntax in ("xml", "html"):
        assert check(syntax, "".join(parts)).warning() is None


@given(
    st.sampled_from(["xliff", "indexed"]),
    st.lists(
        st.sampled_from(["<g id='1'>", "</g>", "<a_0>", "</a_0>", "<x/>", "<br>", "<b>", "a"])
    ),
)
def test_the_syntax_that_is_named_reads_what_was_found(syntax, parts):
    made = check(syntax, "".join(parts))
    if made.others and not made.own:
        with pytest.raises(InputError):
            made.warning()
        again = SyntaxCheck("s.txt", SYNTAXES[made.fits[0]])
        again.add("".join(parts))
        assert again.warning() is None
        assert again.own >= made.others
