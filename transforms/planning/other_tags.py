"""Notices on tags in a syntax other than the one with which a corpus is read."""

import dataclasses
from collections.abc import Iterator, Sequence

from pairweave.transforms.formats import registry
from pairweave.transforms.markup.markup import find_syntax
from pairweave.transforms.markup.other_syntax import SyntaxCheck, reads_every_tag
from pairweave.transforms.reading.rows import SIDES
from pairweave.transforms.units import Notice, ReadLimits, Unit

ROWS = 1_000
"""Number of rows of each unit to search."""
_TEXTS = (*SIDES, "pairs")
"""Roles of files with texts; ``pairs`` have the texts of both sides."""


def other_tag_notices(units: Sequence[Unit], limits: ReadLimits) -> Iterator[Notice]:
    """Yield a notice on each file of a corpus that has tags of another syntax.

    The first `ROWS` rows of each unit are read for this, and only if tags of another syntax would
    stay text or be misread.

    Args:
        units: The units of one corpus or one group of its files, in their order.
        limits: The limits of its readers.

    Raises:
        InputError: A file has many such tags and no tag of its own syntax (``other_syntax``).
    """
    if not units or not _is_searched(units[0]):
        return
    syntax = find_syntax(units[0].inline_syntax)
    checks = [
        SyntaxCheck(part.name, syntax, "--inline_syntax", ("row looked at", "rows looked at"))
        for part in units[0].parts
        if part.role in _TEXTS
    ]
    for unit in units:
        for line, texts in _first_rows(unit, limits):
            for check, text in zip(checks, texts, strict=True):
                check.add(text, line=line)
    for check in checks:
        message = check.message()
        if message is not None:
            yield Notice("other_syntax", check.path, check.others, message)


def _is_searched(unit: Unit) -> bool:
    """Tell whether tags in texts are treated, and some may be missed or misread.

    A syntax that reads every tag can strip or reject any tag; the meaning of tags matters only
    where they are kept.
    """
    if unit.inline_tags == "raw" or registry.format_of(unit).elements:
        return False
    return unit.inline_tags == "index" or not reads_every_tag(find_syntax(unit.inline_syntax))


def _first_rows(unit: Unit, limits: ReadLimits) -> Iterator[tuple[int, list[str]]]:
    """Yield line and texts of the first rows of a unit, for each of its files."""
    as_written = dataclasses.replace(
        unit, inline_tags="raw", html_entities="keep", c1_controls="keep"
    )
    roles = [part.role for part in unit.parts if part.role in _TEXTS]
    batch = next(registry.format_of(unit).read(as_written, limits, ROWS), None)
    if batch is None:
        return
    lines = batch.column("line").to_pylist()
    columns = [batch.column(side).to_pylist() for side in SIDES]
    for line, *texts_of_row in zip(lines, *columns, strict=True):
        texts = {side: text or "" for side, text in zip(SIDES, texts_of_row, strict=True)}
        texts["pairs"] = "\n".join(texts.values())
        yield line, [texts[role] for role in roles]
