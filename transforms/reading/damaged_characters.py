"""Damaged characters: HTML entities in plain text, and C1 controls.

A machine translation from a web page may contain ``&#39;`` for an apostrophe; a text that was read
in the wrong encoding may contain U+0093 for a quotation mark. The options of a unit decide whether
such texts are kept, repaired or rejected.
"""

import dataclasses
import html.entities
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.arrow.flat_columns import texts_of
from pairweave.transforms.markup.markup import Marked, Tag, find_syntax, parse_markup
from pairweave.transforms.problems import Problem
from pairweave.transforms.rejects import Reject
from pairweave.transforms.units import Notice, Unit

ENTITIES, CONTROLS = "html_entities", "c1_controls"

SIDES = ("source", "target", "translation")
MANY = 0.005
"""Minimum share of a column's texts with entities for a notice."""

_ENTITY = re.compile(r"&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{0,31}));")
_LIKE_ENTITY = r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{0,31});"
_C1 = re.compile("[\x80-\x9f]")
_UNDEFINED = frozenset({0x81, 0x8D, 0x8F, 0x90, 0x9D})
"""Bytes without a character in windows-1252."""

_WINDOWS = {
    code: bytes([code]).decode("windows-1252")
    for code in range(0x80, 0xA0)
    if code not in _UNDEFINED
}
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_NO_TEXT_IN_LINE = re.compile("[\x00-\x08\x0a-\x1f\ud800-\udfff]")


def first_entity(text: str) -> re.Match[str] | None:
    """Return the first HTML entity of a text; it ends in a semicolon and has a known name.

    >>> first_entity("AT&T; don&#39;t").group()
    '&#39;'
    """
    entities = (match for match in _ENTITY.finditer(text) if match[3] is None or _name(match))
    return next(entities, None)


def decode_entities(text: str) -> str:
    """Replace HTML entities with their characters, once: ``&amp;quot;`` becomes ``&quot;``.

    A number from 128 to 159 means a byte of windows-1252, as in HTML (its standard, section
    13.2.5.80). Unlike in HTML, an entity must end in a semicolon. A number that is not a character
    is left to the check for control characters.

    >>> decode_entities("don&#39;t &lt;b&gt; R&D &copy;2 &#x93;")
    "don't <b> R&D ©2 “"
    """
    return _ENTITY.sub(_character, text)


def _character(match: re.Match[str]) -> str:
    if match[3] is not None:
        return _name(match) or match.group()
    code = int(match[1]) if match[1] else int(match[2], 16)
    # A number beyond Unicode becomes a surrogate, which is rejected.
    return _WINDOWS.get(code) or chr(code if code <= 0x10FFFF else 0xD800)


def _name(match: re.Match[str]) -> str | None:
    return html.entities.html5.get(f"{match[3]};")


@dataclasses.dataclass(frozen=True, slots=True)
class CharacterRules:
    """The treatment of entities and C1 controls in one unit.

    Attributes:
        entities: ``keep``, ``decode`` or ``reject``.
        controls: ``keep``, ``mend`` or ``reject``.
        in_line: Whether line breaks are forbidden in texts.
        syntax: Syntax of tags in texts that contain their tags as characters: decoding must not
            create any. None if tags are parsed before.
    """

    entities: str
    controls: str
    in_line: bool
    syntax: str | None

    @classmethod
    def of(cls, unit: Unit, *, in_line: bool) -> "CharacterRules":
        """Return the rules of a unit; ``in_line`` if its texts are lines or parts of lines."""
        return cls(
            unit.html_entities,
            unit.c1_controls,
            in_line,
            unit.inline_syntax if unit.inline_tags == "raw" else None,
        )

    def __bool__(self) -> bool:
        """Tell whether any text can change or be rejected."""
        return self.entities != "keep" or self.controls != "keep"

    def apply(self, text: str, side: str) -> str | Problem:
        """Return a text after the rules, or the reason to reject it.

        Args:
            text: The text, without parsed tags.
            side: ``source``, ``target`` or ``translation``, for the message.
        """
        if self.entities == "reject" and (entity := first_entity(text)):
            where = f"at character {entity.start()}"
            return Problem(Reject.HTML_ENTITY, f"{side}: {entity.group()} {where}")
        decoded = text
        if self.entities == "decode":
            decoded = decode_entities(text)
            problem = self._decoded_problem(text, decoded, side)
            if problem is not None:
                return problem
        return self._controlled(decoded, side)

    def _decoded_problem(self, text: str, decoded: str, side: str) -> Problem | None:
        if decoded == text:
            return None
        control = (_NO_TEXT_IN_LINE if self.in_line else _NO_TEXT).search(decoded)
        if control is not None:
            what = (
                f"U+{ord(control.group()):04X} at character {control.start()}, from an HTML entity"
            )
            return Problem(Reject.CONTROL_CHAR, f"{side}: {what}")
        if self.syntax is not None and "<" in decoded:
            syntax = find_syntax(self.syntax)
            tags = len(parse_markup(decoded, syntax).tags)
            if tags != len(parse_markup(text, syntax).tags):
                return Problem(
                    Reject.HTML_ENTITY,
                    f"{side}: its &lt; would decode to {self.syntax} tags; give --inline_tags "
                    "strip, index or reject, or keep entities",
                )
        return None

    def _controlled(self, text: str, side: str) -> str | Problem:
        control = _C1.search(text)
        if control is None or self.controls == "keep":
            return text
        if self.controls == "mend":
            text = text.translate(_WINDOWS)
            control = _C1.search(text)
            if control is None:
                return text
        what = f"U+{ord(control.group()):04X} at character {control.start()}"
        more = ", not a character of windows-1252" if self.controls == "mend" else ""
        return Problem(Reject.CONTROL_CHAR, f"{side}: {what}{more}")

    def apply_marked(self, marked: Marked, side: str) -> Marked | Problem:
        """Apply the rules to a text between its tags; no new tags are created."""
        parts: list[str] = []
        tags: list[Tag] = []
        done = length = 0
        for end in [*(tag.offset for tag in marked.tags), len(marked.text)]:
            cleaned = self.apply(marked.text[done:end], side)
            if isinstance(cleaned, Problem):
                return cleaned
            parts.append(cleaned)
            length += len(cleaned)
            done = end
            if len(tags) < len(marked.tags):
                tags.append(dataclasses.replace(marked.tags[len(tags)], offset=length))
        return Marked("".join(parts), tuple(tags))


def apply_rules(
    columns: Mapping[str, list[str | None]],
    rules: CharacterRules,
    problems: MutableMapping[int, Problem],
    skip: Callable[[str, int], bool],
) -> None:
    """Change the texts of a batch in place, and add problems.

    Args:
        columns: Texts by side; null if there is none.
        rules: The rules.
        problems: By row; rows with a problem keep it, and their texts are not changed.
        skip: Returns whether the text of a side and row was handled elsewhere.
    """
    for side, texts in columns.items():
        column = pa.array(texts, pa.string())
        for row in np.flatnonzero(with_entity(column) | with_c1(column)).tolist():
            text = texts[row]
            if text is None or row in problems or skip(side, row):
                continue
            cleaned = rules.apply(text, side)
            if isinstance(cleaned, Problem):
                problems[row] = cleaned
            else:
                texts[row] = cleaned


def with_entity(texts: pa.Array) -> np.ndarray:
    """Flag texts with an HTML entity, bool ``[text]``; False for null."""
    marks = np.zeros(len(texts), np.bool_)
    like = pc.fill_null(pc.match_substring(texts, "&"), fill_value=False)
    if not pc.any(like).as_py():
        return marks
    like = pc.and_(like, pc.fill_null(pc.match_substring_regex(texts, _LIKE_ENTITY), False))  # noqa: FBT003
    for row in pc.indices_nonzero(like).to_pylist():
        marks[row] = first_entity(texts[row].as_py()) is not None
    return marks


def with_c1(texts: pa.Array) -> np.ndarray:
    """Flag texts with a C1 control (U+0080 to U+009F), bool ``[text]``."""
    marks = np.zeros(len(texts), np.bool_)
    data, offsets = texts_of(pc.fill_null(texts, ""))
    data = data[offsets[0] : offsets[-1]]
    places = np.flatnonzero((data[:-1] == 0xC2) & ((data[1:] & 0xE0) == 0x80))
    marks[np.searchsorted(offsets - offsets[0], places, side="right") - 1] = True
    return marks


_KINDS = {ENTITIES: with_entity, CONTROLS: with_c1}
_ABOUT = {
    ENTITIES: "HTML entities such as &#39; are kept in {}; --html_entities decode turns them into "
    "characters, reject rejects the pairs",
    CONTROLS: "C1 control characters (U+0080 to U+009F), usually from text in another encoding, "
    "are kept in {}; --c1_controls mend reads them as windows-1252, reject rejects the pairs",
}


def count_characters(batch: pa.RecordBatch) -> Counter[str]:
    """Count texts with such characters by kind and side, in rows that no reader rejected.

    Args:
        batch: Rows as read (`transforms.schemas.ROWS`).

    Returns:
        Counts above 0, by ``kind_side``.
    """
    counts: Counter[str] = Counter()
    is_open = batch.column("reason").is_null().to_numpy(zero_copy_only=False)
    for side in SIDES:
        texts = batch.column(side)
        if texts.null_count == len(texts):
            continue
        for kind, find in _KINDS.items():
            number = int(np.count_nonzero(find(texts) & is_open))
            if number:
                counts[f"{kind}_{side}"] = number
    return counts


def character_notices(
    units: Iterable[Mapping[str, Any]],
    counts: Mapping[int, Mapping[str, int]],
    files: Mapping[tuple[str, str], str] | None = None,
) -> Iterator[Notice]:
    """Yield notices on the number of texts with such characters, by file and side.

    Any C1 control gives a notice; entities only if at least `MANY` of the texts have them.

    Args:
        units: The units of a plan.
        counts: `count_characters` of each unit, by its number.
        files: The file with the texts of a side, by the file of its unit and the side, where the
            two files differ.
    """
    rows: Counter[str] = Counter()
    numbers: Counter[tuple[str, str, str]] = Counter()
    for unit in units:
        rows[unit["file"]] += unit["rows"]
        for name, number in counts.get(unit["index"], {}).items():
            kind, _, side = name.rpartition("_")
            numbers[unit["file"], side, kind] += number
    for (file, side, kind), number in sorted(numbers.items()):
        if kind == CONTROLS or number >= MANY * rows[file]:
            texts = f"{number:,} of {rows[file]:,} {side}s"
            name = (files or {}).get((file, side), file)
            yield Notice(kind, name, number, _ABOUT[kind].format(texts))
