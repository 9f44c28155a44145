"""A finished run's rows as the files that trainers read."""

import contextlib
import dataclasses
import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Literal, TypeAlias

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pairweave.transforms.arrow.flat_texts import texts_of
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.output.export_links import add_links, find_cut, tag_finder
from pairweave.transforms.output.export_rows import Selection, select, wanted_rows
from pairweave.transforms.output.names import DATA, data_name
from pairweave.transforms.storage import files

ExportFormat = Literal["wets", "mt5", "moses", "opustrainer", "tsv", "jsonl"]
Alignment = Literal["whitespace", "moses", "none"]
Unfit = Literal["refuse", "leave_out", "escape"]

NOTHING = "<NULL_REP>"
"""What stands for an empty suggestion (WeTS)."""

SEPARATOR = " <sep> "
"""What stands between source and masked translation (Zhu et al., equation 1)."""

BATCH_ROWS = 8_192

# In this order: a backslash comes before what makes new ones.
_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))

_ALL = Selection()

_LINKED: dict[str, Alignment] = {"moses": "none", "opustrainer": "whitespace"}
"""The formats that may have links, and what these count if nothing else is said."""

Rows: TypeAlias = pa.RecordBatch
Json = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes:
        paths: The files.
        rows: Rows in them.
        left_out: Rows left out.
    """

    paths: tuple[str, ...]
    rows: int
    left_out: int


@dataclasses.dataclass(frozen=True)
class _Format:
    """A file format.

    Attributes:
        endings: One for each file.
        texts: Columns written as text, that must not hold `breaks`; all strings if there is none.
        breaks: What a text must not hold (RE2); empty if it may hold anything.
        reserved: What no value escapes: a column and what it must not match (RE2).
        write: Turns rows into the bytes of each file.
        header: What the first file begins with, by the names of the columns.
    """

    endings: tuple[str, ...]
    texts: tuple[str, ...]
    breaks: str
    reserved: tuple[tuple[str, str], ...]
    write: Callable[[Rows], list[bytes]]
    header: Callable[[Sequence[str]], bytes] = lambda _names: b""


def export(
    directory: str,
    manifest: Json,
    form: ExportFormat,
    output: str,
    unfit: Unfit = "refuse",
    selection: Selection = _ALL,
    *,
    alignment: Alignment | None = None,
    header: bool = True,
) -> Exported:
    r"""Write a finished run's rows, in the order of its shards or shuffled.

    All files appear under their names at the end, or none.

    Args:
        directory: The run's.
        manifest: Its manifest.
        form: ``wets``: sources, masked translations and suggestions line by line, an empty
            suggestion as `NOTHING`; ``mt5``: a line of source, `SEPARATOR`, masked translation,
            tab, suggestion; ``moses``: both sides line by line; ``opustrainer``: source, target and
            links with tabs between, no header; ``tsv``: all columns but lists under their names,
            nothing for null; ``jsonl``: all columns.
        output: Directory of the files.
        unfit: What becomes of rows that the format cannot carry as they are: ``refuse``,
            ``leave_out``, or ``escape``: in every text a backslash, a tab and a line break are
            written as ``\\``, ``\t``, ``\n`` and ``\r``.
        selection: Which rows, and in which order.
        alignment: The words that links of ``moses`` and ``opustrainer`` count
            (`transforms.output.export_links`); by default none and ``whitespace``.
        header: Whether ``tsv`` begins with the names of its columns.

    Raises:
        ConfigError: The run's rows have no such format, files are in the way, or a row is unfit.
        WorkerError: A shard is missing or not what the manifest says.
    """
    selection.check(str(manifest["job"]))
    words = _alignment(form, alignment, unfit)
    name, how = _format(directory, manifest, form)
    how = _with_links(how, form) if words != "none" else how
    paths = tuple(files.join(output, name + ending) for ending in how.endings)
    for path in paths:
        if files.exists(path):
            raise ConfigError(f"{path}: is there already; give another --output, or delete it")
    source = _Fitting(directory, manifest, how, form, unfit, selection)
    rows = 0
    finish = _finisher(directory, manifest, words)
    with contextlib.ExitStack() as stack:
        opened: list[BinaryIO] = [stack.enter_context(files.open_write(path)) for path in paths]
        first = header
        for batch in select(source.read, selection, data_bytes(manifest)):
            if first:
                opened[0].write(how.header(_flat_names(batch.schema)))
                first = False
            rows += batch.num_rows
            for file, data in zip(opened, how.write(finish(batch)), strict=True):
                file.write(data)
    return Exported(paths, rows, source.left_out)


class _Fitting:
    """The wanted rows of a run that a format can carry, and how many it cannot."""

    def __init__(
        self,
        directory: str,
        manifest: Json,
        how: _Format,
        form: ExportFormat,
        unfit: Unfit,
        selection: Selection,
    ) -> None:
        self._directory, self._manifest, self._how = directory, manifest, how
        self._form, self._unfit, self._selection = form, unfit, selection
        self.left_out = 0

    def read(self) -> Iterator[Rows]:
        self.left_out = 0
        for batch in wanted_batches(self._directory, self._manifest, self._selection):
            fit = _fitting(batch, self._how, self._form, self._unfit)
            self.left_out += batch.num_rows - fit.num_rows
            yield fit


def _alignment(form: ExportFormat, alignment: Alignment | None, unfit: Unfit) -> Alignment:
    """Return what links count.

    Raises:
        ConfigError: The format has no links, or escapes would change the words.
    """
    if form not in _LINKED:
        if alignment is not None:
            raise ConfigError(f"--alignment: {form} has no links; leave it out")
        return "none"
    words = alignment or _LINKED[form]
    if words != "none" and unfit == "escape":
        raise ConfigError(
            "--unfit escape: escapes change the words that links count; give --unfit leave_out, or "
            "--alignment none"
        )
    return words


def _with_links(how: _Format, form: ExportFormat) -> _Format:
    if form == "moses":
        return dataclasses.replace(
            how,
            endings=(*how.endings, ".align"),
            write=lambda rows: [*_moses(rows), _lines(rows.column("links"))],
        )
    columns = ("source", "target", "links")
    return dataclasses.replace(
        how, write=lambda rows: [_lines(*map(rows.column, columns), separator="\t")]
    )


def _finisher(directory: str, manifest: Json, words: Alignment) -> Callable[[Rows], Rows]:
    if words == "none":
        return lambda batch: batch
    shifted = bool(manifest["configuration"].get("whitespace_shift"))
    cut = find_cut(words, tag_finder(directory, manifest), shifted=shifted)
    return lambda batch: add_links(batch, words, cut)


def data_bytes(manifest: Json) -> int:
    """Return the size of a run's shards in Parquet."""
    return sum(
        entry["bytes"] for entry in manifest["files"] if entry["name"].startswith(f"{DATA}/")
    )


def wanted_batches(directory: str, manifest: Json, selection: Selection) -> Iterator[Rows]:
    """Yield the rows of the wanted methods and kinds; raises as `shard_batches`."""
    for batch in shard_batches(directory, manifest):
        yield wanted_rows(batch, str(manifest["job"]), selection)


def shard_batches(directory: str, manifest: Json) -> Iterator[Rows]:
    """Yield a finished run's rows, shard by shard, each shard checked against the manifest.

    Raises:
        WorkerError: A shard is missing or not what the manifest says.
    """
    entries = {entry["name"]: entry for entry in manifest["files"]}
    for shard in range(manifest["shards"]):
        name = data_name(shard, manifest["shards"])
        try:
            data = files.read_bytes(files.join(directory, name))
        except OSError as error:
            raise WorkerError(f"{name}: cannot be read: {error}") from error
        found = hashlib.sha256(data).hexdigest()
        if found != entries[name]["sha256"]:
            raise WorkerError(
                f"{name}: sha256 {entries[name]['sha256']} was written, found {found}"
            )
        yield from pq.ParquetFile(io.BytesIO(data)).iter_batches(batch_size=BATCH_ROWS)


def escape(column: pa.Array) -> pa.Array:
    """Write backslashes, tabs and line breaks as backslash and letter."""
    for plain, written in _ESCAPES:
        column = pc.replace_substring(column, plain, written)
    return column


def _format(directory: str, manifest: Json, form: ExportFormat) -> tuple[str, _Format]:
    """Return the stem of the files' names and the format.

    Raises:
        ConfigError: The run's rows have no such format.
    """
    stems = {"suggest": "suggestions", "augment": "tagged"}
    able = {
        "suggest": ("wets", "mt5", "tsv", "jsonl"),
        "augment": ("moses", "opustrainer", "tsv", "jsonl"),
    }
    job = str(manifest["job"])
    if form not in able.get(job, ()):
        raise ConfigError(
            f"{directory}: a run of {job} cannot be exported as {form}"
            + (f"; it can as {', '.join(able[job])}" if job in able else "")
        )
    return stems[job], FORMATS[form]


def _fitting(rows: Rows, how: _Format, form: ExportFormat, unfit: Unfit) -> Rows:
    """Return the rows as they can be written.

    Raises:
        ConfigError: A row cannot, and that is refused.
    """
    texts = how.texts or tuple(
        field.name for field in rows.schema if pa.types.is_string(field.type)
    )
    checks = [*how.reserved]
    if how.breaks and unfit == "escape":
        for name in texts:
            place = rows.schema.get_field_index(name)
            rows = rows.set_column(place, rows.schema.field(place), escape(rows.column(name)))
    elif how.breaks:
        checks += [(name, how.breaks) for name in texts]
    fits = pa.array([True] * rows.num_rows)
    for name, pattern in checks:
        bad = pc.fill_null(pc.match_substring_regex(rows.column(name), pattern), False)  # noqa: FBT003
        if unfit != "leave_out" and pc.any(bad).as_py():
            row = pc.index(bad, value=True).as_py()
            remedy = (
                "--unfit leave_out"
                if unfit == "escape" or (name, pattern) in how.reserved
                else "--unfit leave_out, --unfit escape"
            )
            raise ConfigError(
                f"pair {rows.column('id')[row]}: its {name} holds a sign of {form} ({pattern}): "
                f"{rows.column(name)[row].as_py()!r}; export as jsonl, or with {remedy}"
            )
        fits = pc.and_(fits, pc.invert(bad))
    return rows.filter(fits)


def _flat_names(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if not pa.types.is_list(field.type)]


def _lines(*columns: pa.Array, separator: str = "") -> bytes:
    """Return one line for each row: its texts with a separator between them."""
    filled = [pc.fill_null(pc.cast(column, pa.string()), "") for column in columns]
    joined = pc.binary_join_element_wise(*filled, separator)
    data, offsets = texts_of(pc.binary_join_element_wise(joined, "", "\n"))
    return data[offsets[0] : offsets[-1]].tobytes()


def _suggested(rows: Rows) -> pa.Array:
    texts = rows.column("suggestion")
    return pc.if_else(pc.equal(texts, ""), NOTHING, texts)


def _wets(rows: Rows) -> list[bytes]:
    columns = (rows.column("source"), rows.column("masked"), _suggested(rows))
    return [_lines(column) for column in columns]


def _mt5(rows: Rows) -> list[bytes]:
    given = pc.binary_join_element_wise(rows.column("source"), rows.column("masked"), SEPARATOR)
    return [_lines(given, _suggested(rows), separator="\t")]


def _moses(rows: Rows) -> list[bytes]:
    return [_lines(rows.column(side)) for side in ("source", "target")]


def _two(rows: Rows) -> list[bytes]:
    return [_lines(rows.column("source"), rows.column("target"), separator="\t")]


def _tsv(rows: Rows) -> list[bytes]:
    columns = [rows.column(name) for name in _flat_names(rows.schema)]
    return [_lines(*columns, separator="\t")]


def _jsonl(rows: Rows) -> list[bytes]:
    option = orjson.OPT_APPEND_NEWLINE
    return [b"".join(orjson.dumps(row, option=option) for row in rows.to_pylist())]


def _tsv_header(names: Sequence[str]) -> bytes:
    return ("\t".join(names) + "\n").encode()


_LINE = "[\n\r]"
_FIELD = "[\t\n\r]"
_NULL = ("suggestion", f"^{NOTHING}$")
_SEP = tuple((side, "<sep>") for side in ("source", "masked"))
_TEXTS = ("source", "masked", "suggestion")

FORMATS: dict[str, _Format] = {
    "wets": _Format((".src", ".mask", ".tgt"), _TEXTS, _LINE, (_NULL,), _wets),
    "mt5": _Format((".mt5.tsv",), _TEXTS, _FIELD, (_NULL, *_SEP), _mt5),
    "moses": _Format((".src", ".tgt"), ("source", "target"), _LINE, (), _moses),
    "opustrainer": _Format((".opustrainer.tsv",), ("source", "target"), _FIELD, (), _two),
    "tsv": _Format((".tsv",), (), _FIELD, (), _tsv, _tsv_header),
    "jsonl": _Format((".jsonl",), (), "", (), _jsonl),
}
