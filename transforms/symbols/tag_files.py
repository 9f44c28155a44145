"""Encode files of tagged lines with symbols, and decode them, with a table for each line."""

import contextlib
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.markup.markup import Syntax
from pairweave.transforms.markup.other_syntax import SyntaxCheck
from pairweave.transforms.markup.tag_table import TagTable
from pairweave.transforms.storage.text_lines import read_in_step
from pairweave.transforms.storage.whole_files import open_whole, require_apart
from pairweave.transforms.symbols.representations import find_representation
from pairweave.transforms.symbols.tag_coding import Coding


@dataclasses.dataclass(frozen=True, slots=True)
class EncodeFiles:
    """Input and output files of `encode_files`.

    Attributes:
        input: Tagged lines.
        output: Lines with symbols.
        table: Tables of the original tags, JSON, one per line.
        target_input: The other side of the pairs; None if there is none.
        target_output: Its lines with symbols.
        target_table: Its tables.
    """

    input: str
    output: str
    table: str
    target_input: str | None = None
    target_output: str | None = None
    target_table: str | None = None

    def __post_init__(self) -> None:
        target = (self.target_input, self.target_output, self.target_table)
        if any(target) and not all(target):
            raise ConfigError(
                "target_input, target_output and target_table belong together: give all three "
                "or none"
            )
        require_apart([path for path in dataclasses.astuple(self) if path])


def encode_files(
    paths: EncodeFiles, coding: Coding, symbols: int, warn: Callable[[str], None]
) -> dict[str, Any]:
    """Encode the tags of a file, or of both files of a line-parallel pair together.

    Args:
        paths: The files to read and to write.
        coding: How tags are encoded.
        symbols: Number of elements of a line for which the model has symbols.
        warn: Receives a warning about tags in another syntax, which are encoded as text.

    Returns:
        Counts: lines; those with tags; tags (of both sides); among them text that looks like a
        symbol and is kept as a tag; the maximum number of elements of a line, for which
        a model must have symbols; and lines with more elements than ``symbols``.

    Raises:
        InputError: A file cannot be read, the sides have different numbers of lines, or a file
            has tags only in another syntax (`transforms.markup.other_syntax`).
    """
    facts = _facts(coding)
    names = ("lines", "tagged_lines", "tags", "literals", "most_elements", "lines_beyond_symbols")
    count = dict.fromkeys(names, 0)
    target = [path for path in (paths.target_input,) if path]
    checks = [SyntaxCheck(path, coding.syntax) for path in (paths.input, *target)]
    with contextlib.ExitStack() as stack:
        outputs = [
            (stack.enter_context(open_whole(output)), stack.enter_context(open_whole(table)))
            for output, table in (
                (paths.output, paths.table),
                (paths.target_output, paths.target_table),
            )
            if output and table
        ]
        for lines in read_in_step(paths.input, *target):
            texts = [line.text for line in lines]
            for check, text in zip(checks, texts, strict=True):
                check.add(text)
            if len(texts) == 1:
                encoded = [coding.encode(texts[0])]
            else:
                source, other, source_table, other_table = coding.encode_pair(*texts)
                encoded = [(source, source_table), (other, other_table)]
            for line, (string, table), (out, table_out) in zip(
                lines, encoded, outputs, strict=True
            ):
                out.write(line.with_text(string))
                table_out.write(orjson.dumps({**facts, **table.to_json()}) + b"\n")
            _count(count, [table for _, table in encoded], symbols)
        _conclude(checks, warn)
    return count


def _count(count: dict[str, int], tables: Sequence[TagTable], symbols: int) -> None:
    count["lines"] += 1
    count["tagged_lines"] += any(table.marks for table in tables)
    for table in tables:
        count["tags"] += len(table.marks)
        count["literals"] += len(table.literals.keys() & table.entries.keys())
        count["most_elements"] = max(count["most_elements"], len(table.numbers))
    count["lines_beyond_symbols"] += max(len(table.numbers) for table in tables) > symbols


def _conclude(checks: Sequence[SyntaxCheck], warn: Callable[[str], None]) -> None:
    """Warn of tags in another syntax, before the outputs get their names.

    Raises:
        InputError: A file has tags only in another syntax.
    """
    for warning in [check.warning() for check in checks]:
        if warning is not None:
            warn(warning)


def _facts(coding: Coding) -> dict[str, Any]:
    return {
        "representation": coding.representation.to_json(),
        "whitespace_shift": coding.whitespace_shift,
    }


def decode_files(
    path: str,
    output: str,
    *,
    table: str | None = None,
    source: str | None = None,
    coding: Coding,
    warn: Callable[[str], None],
) -> dict[str, int]:
    """Decode lines with symbols, which a model may have changed.

    Args:
        path: Lines with symbols.
        output: File for the lines with real tags.
        table: The tables from encoding, which also record how the tags were encoded.
        source: Instead of the tables, the tagged lines that were encoded.
        coding: With ``source``, how they were encoded.
        warn: With ``source``, receives a warning about its tags in another syntax.

    Returns:
        Counts: lines, tags, missing tags that were restored, spurious ones removed, tags moved to
        restore order and nesting, places where white space was not shifted though the source's was,
        and lines with any of these repairs.

    Raises:
        ConfigError: Both or neither of ``table`` and ``source`` are given, or the output is also
            an input.
        InputError: A file cannot be read, the numbers of lines differ, a line is not a table, or
            the source has tags only in another syntax.
    """
    other = table or source
    if other is None or (table is not None and source is not None):
        raise ConfigError(
            "give either --table, which tags encode wrote, or --source, which it read"
        )
    require_apart([path, output, other])
    names = ("lines", "tags", "dropped", "spurious", "moved", "spaces", "repaired_lines")
    count = dict.fromkeys(names, 0)
    check = SyntaxCheck(other, coding.syntax)
    with open_whole(output) as out:
        for line, facts in read_in_step(path, other):
            count["lines"] += 1
            if table is None:
                check.add(facts.text)
                tags = coding.encode(facts.text)[1]
            else:
                coding, tags = _read_table(facts.text, table, count["lines"], coding.syntax)
            string, repairs = coding.decode(line.text, tags)
            out.write(line.with_text(string))
            count["tags"] += len(tags.marks)
            count["repaired_lines"] += bool(repairs)
            for name, value in dataclasses.asdict(repairs).items():
                count[name] += value
        _conclude([check], warn)
    return count


def _read_table(text: str, path: str, line: int, syntax: Syntax) -> tuple[Coding, TagTable]:
    """Read one line of a table.

    Raises:
        InputError: The line is not a table; names the file and the line.
    """
    try:
        value = orjson.loads(text)
        if not isinstance(value, Mapping) or not isinstance(value.get("whitespace_shift"), bool):
            raise ConfigError(
                "this is not a table of tags: expected an object that tags encode wrote"
            )
        name = value.get("representation", "")
        if not isinstance(name, str) and not all(isinstance(form, str) for form in name):
            raise ConfigError("expected a representation: its name, or the three forms of tags")
        representation = find_representation(name, syntax)
        return Coding(representation, syntax, value["whitespace_shift"]), TagTable.from_json(value)
    except (ConfigError, TypeError, orjson.JSONDecodeError) as error:
        raise InputError("invalid_table", path, str(error), line) from error
