"""Text with inline markup, split up and joined again without losing a character.

The syntax of a text defines its tags; everything else is text, unchanged (entities are not
resolved). Offsets count Unicode code points of the text without its tags.
"""

import dataclasses
import enum
import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.indexed_tag import ANY_TAG, NAME, digits_of


class Kind(enum.StrEnum):
    """The function of a tag, regardless of its form: XLIFF's ``<bx/>`` opens."""

    OPEN = "open"
    CLOSE = "close"
    EMPTY = "self_closing"


class Form(enum.StrEnum):
    """The form of an element: a pair of tags, an empty tag, or half a pair."""

    PAIR = "pair"
    SELF_CLOSING = "self_closing"
    OPEN = "open"
    CLOSE = "close"


@dataclasses.dataclass(frozen=True, slots=True)
class Tag:
    """One tag as written in a text.

    Attributes:
        kind: Its function.
        name: Its name, without an identifier: ``g``, ``a``, ``bx``.
        key: Identifier among tags with the same name, such as XLIFF's ``id``; empty if there is
            none. An opening and a closing tag with different keys are not a pair, but a closing tag
            without a key closes any.
        raw: Its characters.
        offset: Code points of text before it.
    """

    kind: Kind
    name: str
    key: str
    raw: str
    offset: int


@dataclasses.dataclass(frozen=True, slots=True)
class Marked:
    """A text without its tags, and the tags in their order.

    Attributes:
        text: The text without tags.
        tags: The tags; their offsets never decrease.
    """

    text: str
    tags: tuple[Tag, ...]

    def __str__(self) -> str:
        """Return the text with its tags."""
        parts, done = [], 0
        for tag in self.tags:
            parts += [self.text[done : tag.offset], tag.raw]
            done = tag.offset
        parts.append(self.text[done:])
        return "".join(parts)


@dataclasses.dataclass(frozen=True, slots=True)
class Element:
    """A pair of tags, or a tag without a partner.

    Attributes:
        form: Its form.
        opening: Number of its opening tag in `Marked.tags`; of an empty tag, its number; None if
            it only closes.
        closing: Number of its closing tag; None if there is none.
        start: Offset of its first tag.
        end: Offset of its last tag; equal to ``start`` if it has one.
    """

    form: Form
    opening: int | None
    closing: int | None
    start: int
    end: int

    @property
    def first(self) -> int:
        """Return the number of its first tag."""
        number = self.closing if self.opening is None else self.opening
        assert number is not None
        return number


@dataclasses.dataclass(frozen=True, slots=True)
class Syntax:
    """A syntax of tags.

    Attributes:
        name: Its name in options.
        names: The names that tags may have; empty if any name is allowed.
        empty: Names that never have a closing tag, such as HTML's ``br``.
        keys: Attributes that distinguish a tag from others; the first one present counts.
        folds: Whether names are case-insensitive, as in HTML; those above are in lower case.
        codes: Names of native codes (`NATIVE_CODES`).
        only_empty: Those of these names that are text unless they are empty elements.
    """

    name: str
    names: frozenset[str] = frozenset()
    empty: frozenset[str] = frozenset()
    keys: tuple[str, ...] = ()
    folds: bool = False
    codes: frozenset[str] = frozenset()
    only_empty: frozenset[str] = frozenset()


XML = Syntax("xml")

# The elements that the HTML standard calls void.
HTML = Syntax(
    "html",
    empty=frozenset(
        {
            *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta"),
            *("source", "track", "wbr"),
        }
    ),
    folds=True,
)

# Inline elements of TMX 1.4b, of XLIFF 1.2 (section 2.4) and of XLIFF 2.1 (sections 4.2.3 and 4.7).
_WITH_CONTENT = ("bpt", "ept", "it", "ph", "ut")
_WITHOUT_CONTENT = ("x", "bx", "ex", "sc", "ec", "sm", "em", "cp")
_AROUND_TEXT = ("g", "hi", "mrk", "pc")

NATIVE_CODES = frozenset({*_WITH_CONTENT, *_WITHOUT_CONTENT})
"""Names of elements that are one tag with all their content, which is markup of the original
document."""

EMPTY_OPENINGS = {"bx": "bx", "sc": "sc", "sm": "sm"}
"""Native codes without content that open, with the common name of both tags."""

_OPENS = {"bpt": "bpt", **EMPTY_OPENINGS}
_CLOSES = {"ept": "bpt", "ex": "bx", "ec": "sc", "em": "sm"}
# The attribute that connects an opening to a closing tag, the first one present: TMX's i, XLIFF's
# rid, startRef and id.
_TIES = ("i", "rid", "startRef", "id")
_ISOLATED = {"begin": Kind.OPEN, "open": Kind.OPEN, "end": Kind.CLOSE, "close": Kind.CLOSE}

# In text, a code with content is one tag only if it has an identifier: <ph> is also an element of
# other documents, and so are <em> and <sm>.
XLIFF = Syntax(
    "xliff",
    names=NATIVE_CODES.union(_AROUND_TEXT),
    keys=_TIES,
    codes=NATIVE_CODES,
    only_empty=frozenset({"sm", "em", "cp"}),
)

# The form of tags in this project's own data (`transforms.indexed_tag`).
INDEXED = Syntax("indexed")

SyntaxName = Literal["xml", "html", "xliff", "indexed"]
"""The names of `SYNTAXES`, for options."""

SYNTAXES = {syntax.name: syntax for syntax in (XML, HTML, XLIFF, INDEXED)}

_NAME = r"[^\W\d][\w.\-]*(?::[^\W\d][\w.\-]*)?"
# As in browsers, a value without quotes may hold an equals sign (<a href=/page?id=5>), and after
# quotes no space is needed (<a href="a"title="b">).
_VALUE = r"""(?:"[^"]*"|'[^']*'|[^\s"'=<>`][^\s"'<>`]*)"""
_GAP = r"""(?:\s+|(?<=["']))"""
_ATTRIBUTE = rf"""[^\s"'<>/=]+(?:\s*=\s*{_VALUE})?"""
_ATTRIBUTES = rf"(?:{_GAP}{_ATTRIBUTE})*"
_TAG = (
    rf"<(?:(?P<close>/)(?P<closed>{_NAME})\s*"
    rf"|(?P<opened>{_NAME})(?P<attributes>{_ATTRIBUTES})\s*(?P<empty>/)?)>"
)
# A native code with an identifier; its content is text, and elements sub of text.
_CODE = (
    rf"<(?P<code>{'|'.join(_WITH_CONTENT)})(?=\s[^<>]*\b(?:i|id|rid|x)\s*=)(?P<facts>{_ATTRIBUTES})\s*>"
    r"[^<]*(?:<sub\b[^<>]*>[^<]*</sub\s*>[^<]*)*</(?P=code)\s*>"
)
_BEGIN_COMMENT, _END_COMMENT = "<!--", "-->"


class _Patterns(NamedTuple):
    """Matches tags, and tags and comments."""

    tags: re.Pattern[str]
    with_comments: re.Pattern[str]


def _compiled(tags: str) -> _Patterns:
    with_comments = f"{tags}|{_BEGIN_COMMENT}.*?{_END_COMMENT}"
    return _Patterns(re.compile(tags), re.compile(with_comments, re.DOTALL))


_TAGS, _TAGS_AND_CODES = _compiled(_TAG), _compiled(f"{_CODE}|{_TAG}")


def find_syntax(name: str) -> Syntax:
    """Return the syntax with a name.

    Raises:
        ConfigError: There is no such syntax.
    """
    if name not in SYNTAXES:
        raise ConfigError(f"unknown syntax {name!r}; choose from {', '.join(sorted(SYNTAXES))}")
    return SYNTAXES[name]


def parse_markup(string: str, syntax: Syntax = XML) -> Marked:
    """Parse a text with tags; ``str`` of the result is the same string.

    Everything that is not a tag is text, including a lone ``<``. A comment is an empty tag named
    ``!--``.

    >>> marked = parse_markup('see <g id="1">page <x id="2"/>9</g>', XLIFF)
    >>> marked.text
    'see page 9'
    >>> [(tag.kind.value, tag.name, tag.key, tag.offset) for tag in marked.tags]
    [('open', 'g', '1', 4), ('self_closing', 'x', '2', 9), ('close', 'g', '', 10)]
    """
    texts, tags, done, offset = [], [], 0, 0
    for match in _matches(string, syntax):
        facts = _indexed_facts(match) if syntax is INDEXED else _facts(match, syntax)
        if facts is None:
            continue
        before = string[done : match.start()]
        texts.append(before)
        offset += len(before)
        tags.append(Tag(*facts, match[0], offset))
        done = match.end()
    texts.append(string[done:])
    return Marked("".join(texts), tuple(tags))


def _matches(string: str, syntax: Syntax) -> Iterator[re.Match[str]]:
    """Return the tags and comments of a text."""
    if syntax is INDEXED:
        return ANY_TAG.finditer(string)
    patterns = _TAGS_AND_CODES if syntax.codes else _TAGS
    if _BEGIN_COMMENT not in string:
        return patterns.tags.finditer(string)
    return _with_comments(string, patterns)


def _with_comments(string: str, patterns: _Patterns) -> Iterator[re.Match[str]]:
    """Yield the tags and comments of a text in linear time.

    The pattern with comments looks for the end of each comment, to the end of the text if there is
    none. So it is used only as long as a comment with an end follows.
    """
    done, comment = 0, string.find(_BEGIN_COMMENT)
    last = string.rfind(_END_COMMENT) - len(_BEGIN_COMMENT)
    while 0 <= comment <= last:
        match = patterns.with_comments.search(string, done)
        assert match is not None  # at least the comment
        yield match
        done = match.end()
        if comment < done:
            comment = string.find(_BEGIN_COMMENT, done)
    yield from patterns.tags.finditer(string, done)


def kind_of(match: re.Match[str]) -> Kind:
    """Return the kind of a tag that a pattern with the groups ``close`` and ``empty`` found."""
    if match["close"]:
        return Kind.CLOSE
    return Kind.EMPTY if match["empty"] else Kind.OPEN


def _indexed_facts(match: re.Match[str]) -> tuple[Kind, str, str]:
    return kind_of(match), NAME, digits_of(match[0])


def _facts(match: re.Match[str], syntax: Syntax) -> tuple[Kind, str, str] | None:
    """Return a tag's kind, name and key; None if the syntax has no such tag."""
    if syntax.codes and match["code"]:
        return code_facts(match["code"], dict(_values(match["facts"])))
    name = match["opened"] or match["closed"]
    if name is None:
        return None if syntax.names else (Kind.EMPTY, "!--", "")
    if syntax.names and name not in syntax.names:
        return None
    if name in syntax.only_empty and not match["empty"]:
        return None
    if syntax.folds:
        if not (name[0].isascii() and name[0].isalpha()):
            return None  # <écran> and <_a> are text in HTML, whose names begin with ASCII letters
        name = name.lower()
    if match["close"]:
        return Kind.CLOSE, name, ""
    key = _key(match["attributes"], syntax.keys)
    if not match["empty"]:
        return (Kind.EMPTY if name in syntax.empty else Kind.OPEN), name, key
    if name in syntax.codes:
        return code_facts(name, dict(_values(match["attributes"])))
    return Kind.EMPTY, name, key


def code_facts(name: str, attributes: Mapping[str, str]) -> tuple[Kind, str, str]:
    """Return the kind, name and key (`Tag`) of a native code.

    >>> [kind.value for kind, *_ in (code_facts("sm", {"id": "1"}), code_facts("cp", {}))]
    ['open', 'self_closing']
    """
    key = _first(attributes, _TIES)
    if name in _OPENS:
        return Kind.OPEN, _OPENS[name], key
    if name in _CLOSES:
        return Kind.CLOSE, _CLOSES[name], key
    if name != "it":
        return Kind.EMPTY, name, _first(attributes, ("id", "x"))
    # The partner of an isolated tag is in another segment, so it must not match any here.
    kind = _ISOLATED.get(attributes.get("pos", ""), Kind.EMPTY)
    return kind, name, f"{kind} {key}"


def _key(attributes: str, names: Sequence[str]) -> str:
    return _first(dict(_values(attributes)), names) if names and attributes else ""


def _first(attributes: Mapping[str, str], names: Sequence[str]) -> str:
    return next((attributes[name] for name in names if name in attributes), "")


def _values(attributes: str) -> Iterable[tuple[str, str]]:
    for match in _pairs().finditer(attributes):
        yield match[1], match[2].strip("\"'")


@functools.cache
def _pairs() -> re.Pattern[str]:
    return re.compile(rf"""([^\s"'<>/=]+)\s*=\s*({_VALUE})""")


def find_elements(tags: Sequence[Tag]) -> list[Element]:
    """Pair opening and closing tags, in the order of the elements' first tags.

    A closing tag belongs to the last open tag of its name whose key does not differ. Pairs may
    cross; a tag without a partner is an element by itself.
    """
    partner: dict[int, int] = {}
    # Open tags by name, and by name and key; one that was closed may still be in the other list.
    waiting: dict[tuple[str, str | None], list[int]] = {}
    for number, tag in enumerate(tags):
        if tag.kind is Kind.OPEN:
            for key in (None, tag.key):
                waiting.setdefault((tag.name, key), []).append(number)
        elif tag.kind is Kind.CLOSE:
            candidates = waiting.get((tag.name, tag.key or None), [])
            while candidates and candidates[-1] in partner:
                candidates.pop()
            if candidates:
                partner[candidates.pop()] = number
    closed = set(partner.values())
    elements = []
    for number, tag in enumerate(tags):
        at = tag.offset
        if tag.kind is Kind.EMPTY:
            elements.append(Element(Form.SELF_CLOSING, number, None, at, at))
        elif number in partner:
            closing = partner[number]
            elements.append(Element(Form.PAIR, number, closing, at, tags[closing].offset))
        elif tag.kind is Kind.OPEN:
            elements.append(Element(Form.OPEN, number, None, at, at))
        elif number not in closed:
            elements.append(Element(Form.CLOSE, None, number, at, at))
    return elements


def closes(opening: Tag, closing: Tag) -> bool:
    """Tell whether a closing tag can close an opening one."""
    if opening.name != closing.name:
        return False
    return not closing.key or closing.key == opening.key


def is_nested(tags: Sequence[Tag]) -> bool:
    """Tell whether every tag has its partner and pairs are nested or disjoint."""
    waiting: list[Tag] = []
    for tag in tags:
        if tag.kind is Kind.OPEN:
            waiting.append(tag)
        elif tag.kind is Kind.CLOSE and not (waiting and closes(waiting.pop(), tag)):
            return False
    return not waiting


def strip_markup(string: str, syntax: Syntax = XML) -> str:
    """Return a text without its tags.

    >>> strip_markup("a <b>bold</b> < b")
    'a bold < b'
    """
    return parse_markup(string, syntax).text
