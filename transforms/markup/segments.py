"""The content of one segment of TMX or XLIFF, from its events: text, and inline elements as tags.

An element's name determines what it does. *Native codes* (``bpt``, ``ept``, ``it``, ``ph``, ``ut``)
are one tag with all their content: it is the markup of the original document, and text inside it
(``sub``) belongs to that markup, not to the sentence. Elements that only mark text (``hi``, ``g``,
``mrk``, ``pc``), and unknown ones, are an opening and a closing tag. White space is unchanged,
regardless of ``xml:space``; comments and processing instructions are not content.
"""

import html
from collections.abc import Mapping

from pairweave.transforms.markup.markup import NATIVE_CODES, Kind, Marked, Tag, code_facts


class Segment:
    """Collects the events inside one segment."""

    def __init__(self, max_bytes: int) -> None:
        """Begin a segment.

        Args:
            max_bytes: Maximum number of bytes of text and markup to keep.
        """
        self._limit = max_bytes
        self._texts: list[str] = []
        self._tags: list[Tag] = []
        self._offset = 0
        self._code: list[str] = []  # the pieces of the open native code
        self._code_depth = 0
        self._code_name = ""
        self._code_attributes: Mapping[str, str] = {}
        self._empty = False  # the last event was an opening tag inside a code
        self.bytes = 0

    @property
    def is_too_long(self) -> bool:
        """Tell whether the segment is over the limit; then only its start is kept."""
        return self.bytes > self._limit

    @property
    def has_tags(self) -> bool:
        """Tell whether there are inline tags."""
        return bool(self._tags)

    @property
    def in_code(self) -> bool:
        """Tell whether a native code is open."""
        return self._code_depth > 0

    def count(self, more: int) -> None:
        """Count bytes that the segment takes without keeping them."""
        self.bytes += more

    def start(self, local: str, name: str, attributes: Mapping[str, str]) -> None:
        """Take an opening tag (see `transforms.reading.xml_stream.Handler`)."""
        raw = opening_tag(name, attributes)
        if not self._count(raw):
            return
        if self._code_depth:
            self._close_start()
            self._code.append(raw[:-1])
            self._code_depth += 1
            self._empty = True
        elif local in NATIVE_CODES:
            self._code, self._code_depth, self._empty = [raw[:-1]], 1, True
            self._code_name, self._code_attributes = local, attributes
        else:
            key = next((attributes[n] for n in ("x", "id", "mid", "rid") if n in attributes), "")
            self._add(Kind.OPEN, local or name, key, raw)

    def end(self, local: str, name: str) -> None:
        """Take a closing tag."""
        if self.is_too_long:
            return
        raw = f"</{name}>"
        if not self._code_depth:
            self._add(Kind.CLOSE, local or name, "", raw)
            return
        self._code.append("/>" if self._empty else raw)
        self._empty = False
        self._code_depth -= 1
        if not self._code_depth:
            facts = code_facts(self._code_name, self._code_attributes)
            self._add(*facts, "".join(self._code))

    def text(self, data: str) -> None:
        """Take text."""
        if not self._count(data):
            return
        if self._code_depth:
            self._close_start()
            self._code.append(escape_text(data))
        else:
            self._texts.append(data)
            self._offset += len(data)

    def finish(self) -> Marked:
        """Return the content."""
        return Marked("".join(self._texts), tuple(self._tags))

    def _count(self, data: str) -> bool:
        """Count bytes; return whether they are still within the limit."""
        self.bytes += len(data) if data.isascii() else len(data.encode())
        return not self.is_too_long

    def _close_start(self) -> None:
        if self._empty:
            self._code.append(">")
            self._empty = False

    def _add(self, kind: Kind, name: str, key: str, raw: str) -> None:
        self._tags.append(Tag(kind, name, key, raw, self._offset))


def opening_tag(name: str, attributes: Mapping[str, str]) -> str:
    """Return an opening tag.

    >>> opening_tag("g", {"id": "1", "note": 'a "b" & c'})
    '<g id="1" note="a &quot;b&quot; &amp; c">'
    """
    written = (f' {key}="{escape_attribute(value)}"' for key, value in attributes.items())
    return f"<{name}{''.join(written)}>"


def escape_text(text: str) -> str:
    r"""Return text as XML content that a parser reads back unchanged.

    >>> escape_text("a < b\r\n")
    'a &lt; b&#13;\n'
    """
    return html.escape(text, quote=False).replace("\r", "&#13;")


def escape_attribute(value: str) -> str:
    r"""Return a value as written between double quotes.

    >>> escape_attribute("a\n<b>")
    'a&#10;&lt;b&gt;'
    """
    value = value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    value = value.replace('"', "&quot;").replace("\t", "&#9;").replace("\n", "&#10;")
    return value.replace("\r", "&#13;")
