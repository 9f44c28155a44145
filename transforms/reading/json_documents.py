"""Recognises texts that are one JSON document, or one per line, instead of lines of text."""

import json

import orjson

from pairweave.transforms.reading.known_content import HEAD_BYTES
from pairweave.transforms.storage.byte_streams import BYTE_ORDER_MARK

PARSED_BYTES = 1 << 20
"""Texts of up to this size are parsed as a whole; a larger one is judged by its beginning, of this
size, and its last character."""

IS_JSON = (
    "is JSON, which is read as lines (.jsonl, or --format jsonl), each an object with source and "
    "target"
)
"""The message about a file whose name ends in .json."""

AS_JSON_LINES = (
    "JSON lines, each an object; give one file with both sides as input with --format jsonl, or "
    "write one text per line"
)
"""The message about a file whose lines are JSON objects."""

_KINDS = {b"{": (b"}", "object"), b"[": (b"]", "array")}
_CUT_TOKEN = 8
"""Maximum length of the incomplete token that the cut may leave at the end of a beginning, such as
``\\u00e`` or ``fals``."""


class DocumentWatch:
    """Watches a text that is read in pieces, to tell whether it is one JSON document."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._last = b""
        self._size = 0
        self._possible = True

    def see(self, chunk: bytes) -> None:
        """Take a piece of the text."""
        if not self._possible:
            return
        self._size += len(chunk)
        self._head += chunk[: PARSED_BYTES - len(self._head)]
        begin = self._begin()
        self._possible = not begin or begin[:1] in _KINDS
        self._last = chunk.rstrip()[-1:] or self._last

    def _begin(self) -> bytes:
        return bytes(self._head[:4096]).removeprefix(BYTE_ORDER_MARK).lstrip()

    def kind(self) -> str | None:
        """Return ``object`` or ``array`` if the whole text is one that has texts; else None.

        An array of only numbers may be a line of text, such as a reference in brackets.
        """
        begin = self._begin()
        if not self._possible or not begin:
            return None
        close, kind = _KINDS[begin[:1]]
        text = bytes(self._head).removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace")
        if b'"' not in self._head or self._last != close:
            return None
        if self._size <= PARSED_BYTES:
            return kind if _parses(text) else None
        return kind if _goes_on(text) else None


def are_json_lines(head: bytes) -> bool:
    r"""Tell whether a text has several lines, each of which is a JSON object with a text.

    Args:
        head: Its first `known_content.HEAD_BYTES` bytes, or all of a smaller one.

    >>> are_json_lines(b'{"en": "a"}\n{"en": "b"}\n'), are_json_lines(b'{"en": "a"}\n{0} files\n')
    (True, False)
    """
    lines = head.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    if len(head) >= HEAD_BYTES:
        lines.pop()  # perhaps only a part of a line
    lines = [line for line in lines if line.strip()]
    return len(lines) > 1 and all(map(_is_object, lines))


def _is_object(line: bytes) -> bool:
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        value = orjson.loads(line)
    except ValueError:
        return False
    return isinstance(value, dict) and any(isinstance(each, str) for each in value.values())


def _parses(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _goes_on(text: str) -> bool:
    """Tell whether a text may be the beginning of one document that does not end in it."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg.startswith("Unterminated string"):
            return True
        at_end = error.pos >= len(text.rstrip()) - _CUT_TOKEN
        return at_end and not error.msg.startswith("Extra data")
    except RecursionError:
        return False
    return False
