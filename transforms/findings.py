"""The findings of a look at a corpus, as plain data for terminal, JSON, report and API."""

import dataclasses
from collections.abc import Sequence
from typing import Any, Self

KINDS = {
    "no_letters": "a side without letters, such as a column of numbers",
    "other_columns": "columns or fields that hold the texts and are not read",
    "header": "a first line that names the columns and is read as a pair",
    "misaligned": "lines that are not translations of their counterparts",
    "moved": "lines whose translations are some lines further on or back",
    "inline_tags": "tags in texts, such as <b> or <g id=1>, that are read as text",
    "placeholders": "placeholders in texts, such as {0} or %s",
    "exchanged_languages": "the languages of the two sides are exchanged",
    "other_language": "a side in another language than the one given",
    "mixed_languages": "lines in several languages",
    "one_language": "both sides are in the same language",
    "duplicates": "pairs that occur more than once",
    "repeated_side": "one text beside many different ones",
    "copied": "pairs with the same text on both sides",
    "empty": "pairs with an empty side",
    "empty_file": "files without a pair",
    "unreadable": "lines that cannot be read as pairs",
    "untranslated": "entries without a finished translation",
    "encoding": "characters that were damaged by a wrong encoding",
    "c1_controls": "control characters from U+0080 to U+009F, which a wrong encoding leaves",
}
"""Kinds of findings, and the subject of each."""

OF_LINES = frozenset({"misaligned", "moved"})
"""Kinds of findings on stretches of lines, whose pairs can be rejected."""


def file_of(sides: Sequence[str], counts: Sequence[int]) -> str:
    """Return the file that a finding names: the target's if only the target is concerned.

    Args:
        sides: The files of source and target, which may be one.
        counts: Number of texts of each side that it concerns.
    """
    return sides[0] if counts[0] else sides[1]


@dataclasses.dataclass(frozen=True, slots=True)
class Finding:
    """A fact about a corpus that its owner should know before using it.

    Attributes:
        kind: One of `KINDS`.
        file: The file as the user named it. For line-parallel text, the file of the side that is
            concerned, or the source's file if both are.
        first_line: The first line that is concerned, from 1.
        last_line: The last such line, also if the lines are scattered.
        count: Number of lines that are concerned.
        evidence: The measurement, as a sentence without its full stop.
        option: The option that fixes the problem; empty if there is none.
        curve: For the first stretch of lines in a file: the mean evidence, in hundredths of a nat,
            that lines belong together, in equal parts of the file; None for a part without
            lines.
    """

    kind: str
    file: str
    first_line: int
    last_line: int
    count: int
    evidence: str
    option: str = ""
    curve: tuple[int | None, ...] = dataclasses.field(default=(), repr=False)

    @property
    def message(self) -> str:
        """Return the finding without its file, for people."""
        mend = f"; {self.option}" if self.option else ""
        return f"{self.evidence}{mend}"

    @property
    def place(self) -> str:
        """Return the place of the finding."""
        if not self.first_line:
            return self.file
        if self.first_line == self.last_line:
            return f"{self.file}:{self.first_line}"
        return f"{self.file}:{self.first_line}-{self.last_line}"

    def __str__(self) -> str:
        return f"{self.place}: {self.message} [{self.kind}]"

    def as_json(self) -> dict[str, Any]:
        """Return the finding as an object of JSON."""
        document = dataclasses.asdict(self)
        if self.curve:
            return {**document, "curve": list(self.curve)}
        del document["curve"]
        return document

    def rejected(self) -> Self:
        """Return the finding for a run that rejects the pairs of the finding."""
        if self.kind not in OF_LINES:
            return self
        return dataclasses.replace(self, option="these pairs are rejected as misaligned")
