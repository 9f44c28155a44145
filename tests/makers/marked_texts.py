"""Texts with tags for Hypothesis, with all that looks like a tag of some representation."""

from hypothesis import strategies as st

from pairweave.transforms.markup.markup import HTML, INDEXED, XLIFF, XML
from pairweave.transforms.symbols.representations import find_representation

SYNTAXES = (XML, HTML, XLIFF, INDEXED)
TEMPLATE = ("⟦{index}⟧", "⟦/{index}⟧", "⟦{index}/⟧")
BRACES = ("[t{index}:", "[/t{index}:", "[e{index}:")


def representations(syntax=XML):
    """Return every representation, and templates."""
    named = ("indexed", "xliff", "masked", "html", "raw")
    return [find_representation(name, syntax) for name in (*named, TEMPLATE, BRACES)]


_TAGS = (
    *("<g id='1'>", '<g id="2">', '<g id="1">', "</g>", '<x id="2"/>', '<x id="12"/>'),
    *("<bx id='3'/>", "<ex id='3'/>", '<bx id="4"/>', '<ex id="5"/>', '<ex rid="3"/>'),
    *("<br>", "<b>", "</b>", "<i>", "</i>", "<ph>", "</ph>", "<ph>", "</ph>", "<x-20>", "<hr/>"),
    *("<a_0>", "</a_0>", "<a_1>", "</a_1>", "<a_2/>", "<a_00>", "<a_11>", "</a_11>"),
    "<!-- n -->",
)
_ALIKE = (
    *("XLF_X,1", "XLF_OPENG,1", "XLF_CLOSEG,12", "XLF_", "XLF_E", "XLF_EX,1_", ",1", "X,2"),
    *("⟦0⟧", "⟦/1⟧", "⟦2/⟧", "⟦", "⟧", "[t0:", "[/t", "[e1:", "[", ":"),
    *("<", ">", "<a_", "_1>", '<g id="', '1">', "</", "/>", "g>", '<br id="4">', "#text"),
)
_PLAIN = ("_", "__", "0", "12", " ", "  ", "\t", "\u3000", "é", "漢", "word ", "x", "&lt;", ".")

PIECES = st.one_of(
    *(st.sampled_from(pieces) for pieces in (_TAGS, _TAGS, _ALIKE, _PLAIN)), st.text(max_size=2)
)


def marked_texts(max_size=16):
    """Return a strategy for texts with tags, most of them damaged in some way."""
    return st.lists(PIECES, max_size=max_size).map("".join)


@st.composite
def nested_texts(draw):
    """Draw a well-formed text, many of whose tags look alike."""
    names = iter(draw(st.lists(st.sampled_from(["g", "b", "ph", "a"]), max_size=9)))

    def inside(depth):
        parts = []
        for _ in range(draw(st.integers(0, 3))):
            parts.append(draw(st.sampled_from(_PLAIN + _ALIKE)))
            name = next(names, None) if depth < 4 else None
            if name is not None:
                form = draw(st.integers(0, 3))
                parts.append(f"<{name}/>" if not form else f"<{name}>{inside(depth + 1)}</{name}>")
        return "".join(parts)

    return inside(0)
