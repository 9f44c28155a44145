"""Pages for people, made from the templates in ``templates/`` with Jinja2.

A template gets plain numbers and texts. An undefined name in a template is an error.
"""

import base64
import functools
import hashlib
import html
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jinja2
import jinja2.ext
from markupsafe import Markup

from pairweave.transforms.text.control_characters import visible_block

Filters = Mapping[str, Callable[[str], str]]

_DIRECTORY = Path(__file__).with_name("templates")
_BETWEEN_MARKUP = re.compile(r"(?<=[>}])\s*\n\s*(?=[<{])")
_IN_TEXT = re.compile(r"\s*\n\s*")
_OPTION = re.compile(r"(--[a-z0-9_]+)")


def render_html(name: str, **context: object) -> str:
    """Render a template of HTML; every text in it is escaped, its control characters are visible.

    A line break between tags, with the indentation after it, is layout of the
    template and not written; within text it is a blank.

    Args:
        name: The template's file.
        context: The values that it shows, by name.
    """
    return _html().get_template(name).render(context)


def script_hash(name: str) -> str:
    """Return the name of an inline script of ``templates/`` in a page's security policy.

    Args:
        name: The script's file. It is in an element of its own, after a line break.
    """
    digest = hashlib.sha256(b"\n" + (_DIRECTORY / name).read_bytes()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def render_markdown(name: str, filters: Filters, **context: object) -> str:
    """Render a template of Markdown, which escapes a text only where it names a filter for it.

    Args:
        name: The template's file.
        filters: The filters that the template has besides `number` and `percent`, by name.
        context: The values that it shows, by name.
    """
    return _markdown(tuple(filters.items())).get_template(name).render(context)


def number(value: object) -> str:
    """Return a number with thousands separators; anything else as it is.

    >>> number(12345), number("3 to 8")
    ('12,345', '3 to 8')
    """
    return f"{value:,}" if isinstance(value, int) else str(value)


def percent(share: float) -> str:
    """Return a share as a percentage that is 0 or 100 only if the share is exactly that.

    >>> percent(0.125), percent(1e-6)
    ('12.5 %', 'under 0.01 %')
    """
    if 0 < share < 0.0001:
        return "under 0.01 %"
    if 0.9999 < share < 1:
        return "over 99.99 %"
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + " %"


def with_options(text: str) -> Markup:
    """Return a text in which no line breaks within the name of an option.

    >>> str(with_options("a < b; --max_tags 3"))
    'a &lt; b; <span class="option">--max_tags</span> 3'
    """
    between = Markup('<span class="option">{}</span>')
    parts = _OPTION.split(text)
    return Markup("").join(
        between.format(_escaped(part)) if place % 2 else _escaped(part)
        for place, part in enumerate(parts)
    )


def without_layout(source: str) -> str:
    r"""Return a template of HTML without the line breaks that only lay it out.

    >>> without_layout("<p>\n  <b>a</b>\n  {{ x }}\n</p>\n<p class='y'\n  id='z'>one\n  two</p>\n")
    "<p><b>a</b>{{ x }}</p><p class='y' id='z'>one two</p>"
    """
    return _IN_TEXT.sub(" ", _BETWEEN_MARKUP.sub("", source.strip()))


class _Layout(jinja2.ext.Extension):
    """Removes the layout of HTML templates before they are compiled."""

    def preprocess(
        self,
        source: str,
        name: str | None,
        filename: str | None = None,  # noqa: ARG002 - Jinja2 gives it
    ) -> str:
        """Return a template in the form to be compiled."""
        return without_layout(source) if (name or "").endswith(".html.j2") else source


@functools.cache
def _html() -> jinja2.Environment:
    extensions = [_Layout, "jinja2.ext.do"]
    environment = _environment(autoescape=True, finalize=_escaped, extensions=extensions)
    environment.filters["with_options"] = with_options
    return environment


@functools.cache
def _markdown(filters: tuple[tuple[str, Callable[[str], str]], ...]) -> jinja2.Environment:
    environment = _environment(trim_blocks=True, lstrip_blocks=True)
    environment.filters |= dict(filters)
    return environment


def _environment(**settings: Any) -> jinja2.Environment:  # noqa: ANN401 - as Jinja2 names them
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_DIRECTORY),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        **settings,
    )
    environment.filters |= {"number": number, "percent": percent}
    return environment


def _escaped(value: object) -> Markup:
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(visible_block(str(value))))
