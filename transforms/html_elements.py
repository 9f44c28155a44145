"""HTML made of elements, in which every text is escaped by construction.

What comes out is HTML and XML at once, so that either parser can check it.
"""

import html
from collections.abc import Iterable, Sequence

from pairweave.transforms.control_characters import visible_block

_VOID = frozenset({"meta", "rect"})


class Html(str):
    """Text that is HTML already; any other text is escaped where it is put into an element."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str) -> Html:
    """Return an element.

    Args:
        name: The element's name.
        children: Its content: `Html` as it is, other text escaped.
        attributes: Its attributes; ``class_`` is ``class``, ``_`` in a name is ``-``.

    >>> element("p", "a < b", element("b", "c"), class_="x")
    '<p class="x">a &lt; b<b>c</b></p>'
    """
    pairs = (
        f' {key.rstrip("_").replace("_", "-")}="{_escaped(value)}"'
        for key, value in attributes.items()
    )
    start = f"<{name}{''.join(pairs)}"
    if name in _VOID:
        return Html(f"{start}/>")
    return Html(f"{start}>{join(children)}</{name}>")


def join(children: Iterable[str], between: str = "") -> Html:
    """Return content put together, what is not `Html` escaped."""
    parts = (child if isinstance(child, Html) else _escaped(child) for child in children)
    return Html(_escaped(between).join(parts))


def _escaped(text: str) -> str:
    return html.escape(visible_block(text))


def bar(share: float, label: str, kind: str = "") -> Html:
    """Return a horizontal bar as inline SVG.

    Args:
        share: Its length, 0 to 1; more than nothing is always seen.
        label: What it says to those who do not see it.
        kind: A class for its colour.
    """
    width = max(0.5, 100 * share) if share > 0 else 0.0
    track = element("rect", class_="track", width="100", height="10")
    filled = element("rect", class_=f"fill {kind}".strip(), width=f"{width:.2f}", height="10")
    return element(
        "svg",
        element("title", label),
        track,
        filled,
        class_="bar",
        viewBox="0 0 100 10",
        preserveAspectRatio="none",
        role="img",
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> Html:
    """Return a table that scrolls by itself where the page is narrow.

    Args:
        heads: The columns' names.
        rows: The cells.
        numbers: Columns that hold numbers, aligned at the right.
    """
    style = ["number" if column in numbers else "text" for column in range(len(heads))]

    def cells(name: str, texts: Sequence[str]) -> Html:
        parts = (element(name, text, class_=kind) for text, kind in zip(texts, style, strict=True))
        return element("tr", *parts)

    body = join((cells("td", row) for row in rows), "\n")
    whole = element(
        "table", element("thead", cells("th", heads)), "\n", element("tbody", body), "\n"
    )
    return element("div", whole, class_="scroll")


def fold(summary: str, *content: str) -> Html:
    """Return content that is folded away until it is asked for."""
    return element("details", element("summary", summary), *content)
