"""Shared by the tests of plan and readers: reading whole inputs, and a slow reader as oracle."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import xxhash

from pairweave.transforms import schemas
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.ids import SEPARATOR
from pairweave.transforms.markup.pair_markup import PairMarkup
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import CorpusInput, Plan, ReadLimits

LIMITS = ReadLimits()


def pair_id(source_lang: str, target_lang: str, *texts: str) -> str:
    """Return the id of one pair: xxh3-128 of languages and texts, 32 hex.

    Args:
        source_lang: BCP 47.
        target_lang: BCP 47.
        *texts: Source, target and, where there is one, the translation.

    >>> pair_id("en", "de", "One.", "Eins.")
    '35d14bcdfed7ba74f3729f9732d06c98'
    """
    joined = SEPARATOR.join((source_lang, target_lang, *texts))
    return xxhash.xxh3_128_hexdigest(joined.encode())


def corpus(**fields) -> CorpusInput:
    """Make an English-German corpus; `fields` are those of CorpusInput and of its formats."""
    own = {
        name: fields.pop(name)
        for name in ("csv_delimiter", "po_take", "xliff_take")
        if name in fields
    }
    languages = {"source_lang": "en", "target_lang": "de"}
    return CorpusInput(**{**languages, **fields}, format_options=own)


def moses(source: Path, target: Path, translation: Path | None = None, **fields) -> CorpusInput:
    """Make a corpus of line-parallel files."""
    extra = (str(translation),) if translation else ()
    return corpus(
        source_input=(str(source),),
        target_input=(str(target),),
        translation_input=extra,
        **fields,
    )


def single(path: Path, **fields) -> CorpusInput:
    """Make a corpus of one file with both sides."""
    return corpus(input=(str(path),), **fields)


def read_plan(plan: Plan, limits: ReadLimits = LIMITS, batch_rows: int = 8192) -> list[dict]:
    """Read all units and check what every reader promises."""
    rows = []
    for unit in plan.units:
        batches = list(read_unit(unit, limits, batch_rows))
        for batch in batches:
            batch.validate(full=True)
            schemas.require(batch, schemas.ROWS)
            assert 0 < batch.num_rows <= batch_rows
        rows_of_unit = pa.Table.from_batches(batches, schemas.ROWS).to_pylist()
        assert len(rows_of_unit) == unit.rows
        rows.extend(rows_of_unit)
    assert len(rows) == plan.rows
    for row in rows:
        check_row(row)
    return rows


def check_row(row: dict) -> None:
    """Assert what holds for every row that a reader makes, kept or rejected."""
    if row["reason"] is None:
        assert row["stage"] is None
        assert row["raw"] is None
        assert row["source"] is not None
        assert row["target"] is not None
    else:
        assert row["stage"] == "read"
        assert row["detail"]
        assert len(row["raw"] or b"") <= 4096
    if row["source"] is None or row["target"] is None:
        assert row["id"] is None
    elif row["markup"] is not None:
        # The id is that of the texts with their tags.
        markup = PairMarkup.from_json(row["markup"])
        assert markup.to_json() == row["markup"]
        assert markup.elements
        assert row["id"] != pair_id(
            row["source_lang"], row["target_lang"], row["source"], row["target"]
        )
    else:
        texts = [row["source"], row["target"]]
        texts += [row["translation"]] if row["translation"] is not None else []
        assert row["id"] == pair_id(row["source_lang"], row["target_lang"], *texts)


def read_all(
    *corpora: CorpusInput,
    limits: ReadLimits = LIMITS,
    unit_rows: int = 65_536,
    batch_rows: int = 8192,
) -> list[dict]:
    """Plan and read corpora; return their rows."""
    return read_plan(make_plan(corpora, limits, unit_rows), limits, batch_rows)


def pairs(rows: list[dict]) -> list[tuple[str, str]]:
    """Return the kept pairs."""
    return [(row["source"], row["target"]) for row in rows if row["reason"] is None]


def reasons(rows: list[dict]) -> list[str | None]:
    """Return the reason of each row; None for a kept one."""
    return [row["reason"] for row in rows]


def slow_lines(data: bytes, max_line_bytes: int) -> list[tuple[str | None, str | None]]:
    """Read a text the obvious way; return (line, reason) of each line."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return [_slow_line(line.removesuffix(b"\r"), max_line_bytes) for line in lines]


def _slow_line(line: bytes, max_line_bytes: int) -> tuple[str | None, str | None]:
    if len(line) > max_line_bytes:
        return None, "line_too_long"
    try:
        text = line.decode()
    except UnicodeDecodeError:
        return None, "invalid_utf8"
    if any(ord(character) < 32 and character != "\t" for character in text):
        return None, "control_char"
    return text, None


def slow_pairs(source: bytes, target: bytes, max_line_bytes: int) -> Iterator[tuple]:
    """Yield (line number, source, target, reason) of line-parallel text."""
    sides = zip(slow_lines(source, max_line_bytes), slow_lines(target, max_line_bytes), strict=True)
    for number, ((left, left_reason), (right, right_reason)) in enumerate(sides, 1):
        yield number, left, right, left_reason or right_reason


def normal(rows: list[dict]) -> list[dict]:
    """Drop what differs between forms of one text: the unit and the file's name."""
    return [
        {key: value for key, value in row.items() if key not in ("unit", "file", "corpus")}
        for row in rows
    ]
