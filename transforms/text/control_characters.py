"""Replaces control characters in text for people by visible characters."""

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)} | {0x7F: "\u2421"}
_ESCAPES = {code: f"\\x{code:02x}" for code in range(0x80, 0xA0)}
_NO_CHARACTERS = {code: f"\\u{code:04x}" for code in (0xFFFE, 0xFFFF)}
_LINE = _PICTURES | _ESCAPES | _NO_CHARACTERS
_BLOCK = {code: mark for code, mark in _LINE.items() if code not in (0x09, 0x0A)}
# Overrides of the text direction can make a name look like another one.
_DIRECTIONS = {code: f"\\u{code:04x}" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
# Python represents a byte of a file's name that is not UTF-8 by a lone surrogate.
_BYTES = {code: f"\\x{code - 0xDC00:02x}" for code in range(0xDC80, 0xDD00)}
_SURROGATES = {code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)}
_C1 = {code: f"\\u{code:04x}" for code in range(0x80, 0xA0)}  # the same form as in JSON
_TERMINAL = _SURROGATES | _BYTES | _DIRECTIONS | _BLOCK | _C1


def visible_line(text: str) -> str:
    r"""Return text with each control character as its picture, line ends and tabs included.

    >>> visible_line("a\tb\x1b[31m")
    'a␉b␛[31m'
    """
    return text.translate(_LINE)


def visible_block(text: str) -> str:
    """Return text with each control character except tab and line feed as its picture."""
    return text.translate(_BLOCK)


def for_terminal(text: str) -> str:
    r"""Return text that is safe to print to a terminal, even with untrusted names in it.

    Control characters except tab and line feed become their pictures; direction overrides,
    surrogates, and bytes of a name that are not UTF-8 become Python escapes.

    >>> print(for_terminal("a\x1b]0;b\udcff"))
    a␛]0;b\xff
    """
    return text.translate(_TERMINAL)
