"""The registry of formats, one line each; modules of formats are imported on demand.

The module of a format that can be read has an `InputFormat` named ``INPUT``; the module of a
format that can be written has a `RowExport` or a `MarkupExport` named ``EXPORT``. Options that only
one format has are declared here, since ``--help`` imports no format; readers get them from the unit
(`transforms.units.Unit.options`).
"""

import dataclasses
import functools
import importlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

import pydantic
from pydantic import Field

from pairweave.transforms.config import Config
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.plugins.corpus_format import FORMAT
from pairweave.transforms.plugins.entry_points import known_name, plan_plugin

if TYPE_CHECKING:
    import pyarrow as pa

    from pairweave.transforms.export.export_formats import MarkupExport, RowExport
    from pairweave.transforms.reading.input_format import InputFormat
    from pairweave.transforms.units import CorpusInput, ReadLimits, Unit


Writes = Literal["rows", "elements", "characters"]
"""Kinds of output: rows of a table, or pairs whose inline markup is written as elements of the file
or as characters of its texts. Options list formats in this order."""


class FormatOptions(Config):
    """Options of single formats: how CSV is divided into fields, which PO and XLIFF is read."""

    csv_delimiter: Literal["comma", "semicolon", "tab"] = Field(
        "comma", description="what separates the fields of CSV"
    )
    po_take: tuple[Literal["fuzzy", "obsolete"], ...] = Field(
        (), description="PO entries to read instead of rejecting them: fuzzy, obsolete"
    )
    xliff_take: tuple[Literal["untranslated", "doubtful"], ...] = Field(
        (), description="XLIFF segments to read instead of rejecting them for their state"
    )


@dataclasses.dataclass(frozen=True)
class Entry:
    """The facts about a format that options need before its module is imported.

    Attributes:
        name: The format's name, and its module's.
        reads: Whether jobs read it.
        writes: The kind of output that ``export`` writes in this format, if any.
        options: Names of the `FormatOptions` that apply only to it.
    """

    name: str
    reads: bool = False
    writes: Writes | None = None
    options: frozenset[str] = frozenset()


ENTRIES = (
    Entry("wets", writes="rows"),
    Entry("mt5", writes="rows"),
    Entry("moses", reads=True, writes="rows"),
    Entry("opustrainer", writes="rows"),
    Entry("tsv", reads=True, writes="rows"),
    Entry("csv", reads=True, writes="rows", options=frozenset({"csv_delimiter"})),
    Entry("jsonl", reads=True, writes="rows"),
    Entry("parquet", reads=True),
    Entry("po", reads=True, writes="characters", options=frozenset({"po_take"})),
    Entry("tmx", reads=True, writes="elements"),
    Entry("xliff", reads=True, writes="elements", options=frozenset({"xliff_take"})),
    Entry("xliff2", writes="elements"),
    Entry("lxm", reads=True, writes="characters"),
    Entry("moses_zip", reads=True),
    Entry("html", writes="characters"),
    Entry("chat", writes="rows"),
    Entry("hf", writes="rows"),
)

LINE_PARALLEL = "moses"
"""The default format of a corpus with a file for each side."""


def input_names() -> tuple[str, ...]:
    """Return the names of the formats that can be read."""
    return tuple(entry.name for entry in ENTRIES if entry.reads)


def options_of(name: str) -> frozenset[str]:
    """Return the names of the options that apply only to a format."""
    return next((entry.options for entry in ENTRIES if entry.name == name), frozenset())


def given_options(values: Mapping[str, object]) -> dict[str, object]:
    """Return the `FormatOptions` among some options whose values are not their defaults."""
    return {
        name: values[name]
        for name, field in FormatOptions.model_fields.items()
        if name in values and values[name] != field.get_default()
    }


def export_names(*kinds: Writes) -> tuple[str, ...]:
    """Return the names of the formats that can be written, of these kinds or of all."""
    order = kinds or get_args(Writes)
    return tuple(entry.name for kind in order for entry in ENTRIES if entry.writes == kind)


def markup_export_names() -> tuple[str, ...]:
    """Return the names of the formats for pairs with inline markup."""
    return export_names("elements", "characters")


def _module(name: str) -> Any:  # noqa: ANN401 - what it defines is checked by its tests
    return importlib.import_module(f"{__package__}.{name}")


def input_format(name: str) -> "InputFormat":
    """Return a format that can be read, by one of `input_names` or by the name of a plugin.

    Raises:
        ConfigError: There is no such format.
    """
    if name not in input_names():
        return _plugin_format(name)
    return _module(name).INPUT


def format_of(unit: "Unit") -> "InputFormat":
    """Return the format of a unit."""
    if unit.plugin is None:
        return input_format(unit.format)
    from pairweave.transforms.formats.plugin_format import input_format_of

    return input_format_of(unit.plugin)


@functools.cache
def _plugin_format(name: str) -> "InputFormat":
    """Return the format of a plugin; its code is hashed once per process, when it is loaded."""
    from pairweave.transforms.formats.plugin_format import input_format_of

    return input_format_of(plan_plugin(FORMAT, name, "--format")[0])


def input_formats() -> "tuple[InputFormat, ...]":
    """Return all formats that can be read."""
    return tuple(map(input_format, input_names()))


def extensions() -> "dict[str, InputFormat]":
    """Return the formats that are recognized by the suffixes of their files."""
    return {ending: each for each in input_formats() for ending in each.extensions}


def row_export(name: str) -> "RowExport":
    """Return a format for rows."""
    return _module(name).EXPORT


def row_export_of(name: str, directory: str, job: str) -> "RowExport":
    """Return a format for the rows of a run.

    Raises:
        ConfigError: The run's job has no such rows.
    """
    export = row_export(name)
    if job in export.jobs:
        return export
    raise _no_export(name, directory, job)


def markup_export(name: str) -> "MarkupExport":
    """Return a format for pairs with inline markup."""
    return _module(name).EXPORT


def markup_export_of(name: str, directory: str, job: str) -> "MarkupExport":
    """Return a format for pairs with inline markup, for the rows of a run.

    Raises:
        ConfigError: The run's rows are not pairs.
    """
    if job in _PAIR_JOBS:
        return markup_export(name)
    raise _no_export(name, directory, job)


def _no_export(name: str, directory: str, job: str) -> ConfigError:
    able = [each for each in export_names("rows") if job in row_export(each).jobs]
    able += markup_export_names() if job in _PAIR_JOBS else ()
    return ConfigError(
        f"{directory}: a run of {job} cannot be exported as {name}"
        + (f"; it can as {', '.join(able)}" if able else "")
    )


_PAIR_JOBS = ("augment", "filter", "bitext", "align")
"""Jobs whose rows are pairs of texts."""


def check_corpus(corpus: "CorpusInput") -> None:
    """Refuse a corpus with options that do not apply to its format.

    Raises:
        ConfigError: An option does not apply; says why.
    """
    _check_options(corpus)
    name = corpus.format
    if name is None:
        return
    label = corpus.label
    try:
        known_name(FORMAT, name, input_names())
    except ValueError as error:
        raise ConfigError(f"{label}: format {name}: {error}") from error
    file_format = input_format(name)
    if file_format.sides != bool(corpus.source_input):
        sides = " or ".join(each.name for each in input_formats() if each.sides)
        raise ConfigError(
            f"{label}: format {sides} goes with source_input and target_input, every other with "
            "input"
        )
    if file_format.named_rows and corpus.translation_input:
        raise ConfigError(f"{label}: the format {name} has no translation_input")
    if file_format.named_rows and corpus.score_input:
        raise ConfigError(f"{label}: the format {name} has no score_input")
    if file_format.named_rows:
        corpus.check_no_link_files()


def _check_options(corpus: "CorpusInput") -> None:
    """Check the values of options that only one format has."""
    given = {name: corpus.format_options.get(name) for name in FormatOptions.model_fields}
    try:
        FormatOptions.model_validate(
            {name: each for name, each in given.items() if each is not None}
        )
    except pydantic.ValidationError as error:
        problem = error.errors()[0]
        raise ConfigError(
            f"{corpus.label}: {problem['loc'][0]}: {problem['msg'].lower()}, got "
            f"{problem['input']!r}"
        ) from error


def read_unit(
    unit: "Unit", limits: "ReadLimits", batch_rows: int = 8192
) -> "Iterator[pa.RecordBatch]":
    """Yield the rows of a unit in order, in batches of at most ``batch_rows``.

    There are exactly ``unit.rows`` rows. A rejected row has the stage ``read``, a reason, a detail,
    the sides that could be read, and the start of bytes that are not text. Only the end of the
    iterator shows that the bytes are the planned ones, so no row may be used before.

    Args:
        unit: What to read.
        limits: The limits that the plan was made with.
        batch_rows: Maximum number of rows in a batch.

    Yields:
        Batches of `transforms.schemas.ROWS`.

    Raises:
        WorkerError: The file cannot be read on this machine, or its bytes or number of rows are
            not what was planned.
        InputError: Pages of a Parquet file are damaged.
    """
    rows = 0
    for batch in format_of(unit).read(unit, limits, batch_rows):
        rows += batch.num_rows
        yield batch
    if rows != unit.rows:
        raise WorkerError(
            f"{unit.label}: {unit.rows} rows were planned, {rows} were read; "
            "was the plan made with other limits?"
        )


def read_first(
    units: "Iterable[Unit]", limits: "ReadLimits", rows: int
) -> "Iterator[pa.RecordBatch]":
    """Yield up to a number of the first rows of each corpus, in batches; see `read_unit`."""
    for _, of_corpus in itertools.groupby(units, key=lambda unit: unit.corpus):
        left = rows
        for batch in itertools.chain.from_iterable(read_unit(each, limits) for each in of_corpus):
            yield batch.slice(0, left)
            left -= min(left, batch.num_rows)
            if not left:
                break
