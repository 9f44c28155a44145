"""Finds tags in a syntax other than the one with which a text is read.

XLIFF and indexed tags have few names, so all other tags would stay text. XML and HTML read tags of
any name, with two exceptions that are found here: elements of HTML that nothing closes, under XML,
and tags of XLIFF with an id. The latter are well-formed XML, but their ids would be attributes like
any others. The halves of a pair (``<bx id="1"/>`` … ``<ex id="1"/>``) would be two empty tags, and
two tags with translated attributes could not be distinguished.
"""

import dataclasses
from collections.abc import Iterable, Sequence

from pairweave.transforms.counted import counted
from pairweave.transforms.errors import InputError
from pairweave.transforms.markup.markup import (
    HTML,
    INDEXED,
    XLIFF,
    XML,
    Form,
    Marked,
    Syntax,
    Tag,
    find_elements,
    parse_markup,
)

_VOID = (
    "such tags are taken for opening tags that nothing closes; give {option} html if this is HTML, "
    "or write <br/>"
)
_WITHOUT_IDS = "such tags are read without their ids; give {option} xliff if this is XLIFF"
_MISREAD = {
    ("xml", "html"): _VOID,
    ("xml", "xliff"): _WITHOUT_IDS,
    ("html", "xliff"): _WITHOUT_IDS,
}
"""How a syntax that reads every tag misreads the tags of another one, and what to do."""

MANY = 100
"""A file without tags of its syntax is refused if one line in this many has tags of another."""

_COMMENT = "!--"
_BARE = frozenset({"br", "hr", "wbr"})
"""Void elements of HTML that count as tags even without attributes; ``<source>`` may be a
placeholder in the usage of a command."""


@dataclasses.dataclass(slots=True)
class _Others:
    """Elements of other syntaxes that one message is about.

    Attributes:
        number: Number of elements.
        lines: Number of lines with such elements.
        first_line: The first line with such an element, from 1; 0 if there is none.
        first_tag: The first tag of that element.
        fits: Names of the syntaxes that read all of these elements, the narrowest first; HTML
            reads any.
    """

    number: int = 0
    lines: int = 0
    first_line: int = 0
    first_tag: str = ""
    fits: list[str] = dataclasses.field(default_factory=lambda: ["indexed", "xliff", "xml", "html"])

    def add(self, elements: Sequence[tuple[Tag, ...]], line: int) -> None:
        """Count the elements of a line, each given by its tags."""
        if not elements:
            return
        if not self.lines:
            self.first_line, self.first_tag = line, elements[0][0].raw
        self.lines += 1
        self.number += len(elements)
        for element in elements:
            self.fits = [name for name in self.fits if _reads(name, element)]


@dataclasses.dataclass(slots=True)
class SyntaxCheck:
    """Counts the tags of a file's own syntax, and of others, in its lines.

    A whole pair of tags counts, and so does an empty tag; a lone ``<file>`` or ``a < b`` is text.

    Attributes:
        path: The file.
        syntax: The syntax that it is read with.
        option: The option that sets the syntax.
        unit: The words for one and for several of the counted things, for messages.
        lines: Number of lines seen.
        own: Number of tags of the syntax.
        void: Void elements of HTML that XML takes for opening tags.
        foreign: All other elements of other syntaxes.
    """

    path: str
    syntax: Syntax
    option: str = "--syntax"
    unit: tuple[str, str] = ("line", "lines")
    lines: int = 0
    own: int = 0
    void: _Others = dataclasses.field(default_factory=_Others)
    foreign: _Others = dataclasses.field(default_factory=_Others)

    @property
    def others(self) -> int:
        """Return the number of elements of other syntaxes."""
        return self.void.number + self.foreign.number

    def add(self, string: str, marked: Marked | None = None, line: int | None = None) -> None:
        """Count the tags of the next line.

        Args:
            string: The line with its tags.
            marked: The line as parsed with the syntax, if the caller has it.
            line: The number of the line, from 1; by default the number of lines seen.
        """
        self.lines += 1
        if "<" not in string:
            return
        marked = marked or parse_markup(string, self.syntax)
        self.own += len(marked.tags)
        line = self.lines if line is None else line
        if self.syntax is XML:
            self.void.add(_void_tags(marked), line)
        reads_all = reads_every_tag(self.syntax)
        self.foreign.add(_tags_with_ids(marked) if reads_all else _other_tags(string, marked), line)

    def warning(self) -> str | None:
        """Return the warning about elements of other syntaxes; None if there are none.

        Raises:
            InputError: The file has many such elements and no tag of its own syntax.
        """
        message = self.message()
        return None if message is None else f"{self.path}:{self._found[0].first_line}: {message}"

    def message(self) -> str | None:
        """Return the warning without the place.

        Raises:
            InputError: See `warning`.
        """
        return "; ".join(map(self._about, self._found)) or None

    @property
    def _found(self) -> list[_Others]:
        """Return what was found, in the order of its first lines."""
        found = [each for each in (self.void, self.foreign) if each.number]
        return sorted(found, key=lambda each: each.first_line)

    def _about(self, others: _Others) -> str:
        """Return the warning about some elements."""
        named = others.fits[0]
        seen = (
            f"{counted(others.number, 'tag')} in {others.lines:,} of "
            f"{counted(self.lines, *self.unit)} {'is' if others.number == 1 else 'are'} {named}, "
            f"not {self.syntax.name}, the first is {others.first_tag[:80]}"
        )
        if not self.own and others.lines * MANY >= self.lines:
            raise InputError(
                "other_syntax",
                self.path,
                f"expected tags of {self.syntax.name}, but {seen}, and no tag is "
                f"{self.syntax.name}; give {self.option} {named}, or write < as &lt; where it "
                "begins no tag",
                others.first_line,
            )
        misread = _MISREAD.get((self.syntax.name, named), "such tags are taken for text")
        return f"{seen}; {misread.format(option=self.option)}"


def check_lines(path: str, lines: Iterable[str], syntax: Syntax) -> str | None:
    """Check all lines of a file; see `SyntaxCheck.warning`, which this returns and raises."""
    check = SyntaxCheck(path, syntax)
    for line in lines:
        check.add(line)
    return check.warning()


def reads_every_tag(syntax: Syntax) -> bool:
    """Tell whether a syntax has every tag of any other syntax, so that no tag would stay text."""
    return not syntax.names and syntax is not INDEXED


def _other_tags(string: str, marked: Marked) -> list[tuple[Tag, ...]]:
    """Return the tags of each element that the syntax does not read."""
    own = {tag.raw for code in marked.tags for tag in parse_markup(code.raw, HTML).tags}
    tags = [tag for tag in parse_markup(string, HTML).tags if tag.raw not in own]
    elements: list[tuple[Tag, ...]] = []
    for element in find_elements(tags):
        first = tags[element.first]
        if element.form is Form.PAIR and element.closing is not None:
            elements.append((first, tags[element.closing]))
        elif element.form is Form.SELF_CLOSING and first.name != _COMMENT:
            plain = first.raw.lower() == f"<{first.name}>"
            if not plain or first.name in _BARE:
                elements.append((first,))
    return elements


def _void_tags(marked: Marked) -> list[tuple[Tag, ...]]:
    """Return the tags of XML that are elements of HTML without an end, such as ``<br>``."""
    elements = find_elements(marked.tags)
    open_tags = [marked.tags[each.first] for each in elements if each.form is Form.OPEN]
    return [(tag,) for tag in open_tags if _is_void(tag)]


def _is_void(tag: Tag) -> bool:
    name = tag.name.lower()
    return name in HTML.empty and (name in _BARE or tag.raw.lower() != f"<{name}>")


def _tags_with_ids(marked: Marked) -> list[tuple[Tag, ...]]:
    """Return the tags of XML or HTML that are elements of XLIFF, such as ``<x id="1"/>``.

    A ``<ph/>`` without attributes needs no id. In a drawing, ``<g>`` is an element of SVG.
    """
    if any(tag.name == "svg" for tag in marked.tags):
        return []
    elements: list[tuple[Tag, ...]] = []
    for element in find_elements(marked.tags):
        first = marked.tags[element.first]
        own = parse_markup(first.raw, XLIFF).tags
        if not own or not (own[0].key or first.raw.replace(" ", "") == "<ph/>"):
            continue
        if element.form is Form.PAIR and element.closing is not None:
            elements.append((first, marked.tags[element.closing]))
        elif element.form is Form.SELF_CLOSING:
            elements.append((first,))
    return elements


def _reads(name: str, element: tuple[Tag, ...]) -> bool:
    """Tell whether a syntax has a whole element."""
    syntax = {"indexed": INDEXED, "xliff": XLIFF, "xml": XML, "html": HTML}[name]
    marked = parse_markup("".join(tag.raw for tag in element), syntax)
    return not marked.text and all(
        element.form in (Form.PAIR, Form.SELF_CLOSING) or syntax is XLIFF
        for element in find_elements(marked.tags)
    )
