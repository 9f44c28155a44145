"""Export a finished run's rows to the files that trainers read."""

import contextlib
import dataclasses
import hashlib
import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, Literal, TypeAlias, cast

import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.arrow.replaced_columns import replaced
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.export.export_formats import BREAKS, Alignment, RowExport, flat_names
from pairweave.transforms.export.export_links import add_links, find_cut
from pairweave.transforms.export.export_rows import Selection, select, wanted_rows
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.storage import files

Unfit = Literal["refuse", "leave_out", "escape"]

# The backslash is first because the other escapes add backslashes.
_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))

_ALL = Selection()

CARD = "README.md"
"""The name of a card next to exported files."""

_STEMS = {"suggest": "suggestions", "augment": "tagged", "filter": "filtered"}
"""Stems of the files' names, by job."""

Rows: TypeAlias = pa.RecordBatch


@dataclasses.dataclass(frozen=True)
class Exported:
    """The result of an export.

    Attributes:
        paths: The files.
        rows: Number of rows in them.
        left_out: Number of rows left out.
        digests: The SHA-256 of each file of a format with a card.
    """

    paths: tuple[str, ...]
    rows: int
    left_out: int
    digests: Mapping[str, str] = dataclasses.field(default_factory=dict)


def export(
    run: FinishedRun,
    how: RowExport,
    output: str,
    unfit: Unfit = "refuse",
    selection: Selection = _ALL,
    *,
    alignment: Alignment | None = None,
    header: bool = True,
    sizes: Sequence[int] = (),
) -> Exported:
    r"""Write a finished run's rows, in the order of its shards or shuffled.

    Either all files appear under their names at the end, or none.

    Args:
        run: The run.
        how: The format, which must support the run's job.
        output: Directory of the files.
        unfit: How to treat rows that the format cannot represent: ``refuse``, ``leave_out``, or
            ``escape``: in every text, write backslashes, tabs and line breaks as ``\\``, ``\t``,
            ``\n`` and ``\r``.
        selection: The rows to export, and their order.
        alignment: The words that links refer to, for a format with links
            (`transforms.export.export_links`); by default the format's own.
        header: Whether to write a header, for a format that can have one.
        sizes: Instead of all rows, samples of these sizes, each in files of its own; a larger
            sample contains a smaller one.

    Raises:
        ConfigError: The format has no links, a file already exists, a row is unfit, or there are
            fewer rows than the largest size.
        WorkerError: A shard is missing or differs from the manifest.
    """
    selection.check(run.job)
    words = _alignment(how, alignment, unfit)
    if how.linked is not None and words != "none":
        how = dataclasses.replace(how, endings=how.linked.endings, write=how.linked.write)
    source = _Fitting(run, how, unfit, selection)
    finish = _finisher(run, words)
    stem = files.join(output, _STEMS[run.job])
    columns = flat_names(run.schema()) if header and how.header is not None else None
    target = RowFiles(how, stem, run.data_bytes, finish, columns)
    card = files.join(output, CARD)
    if how.card is not None:
        require_absent(card)
    done = target.write(source.read, selection, sizes)
    if how.card is not None:
        inside = files.join(output, "")
        digests = {path.removeprefix(inside): digest for path, digest in done.digests.items()}
        files.write_bytes(card, how.card(run.manifest, digests).encode())
        done = dataclasses.replace(done, paths=(*done.paths, card))
    return dataclasses.replace(done, left_out=source.left_out)


class _Hashed(io.RawIOBase):
    """A file that is written, with the hash of what has been written.

    Attributes:
        hash: SHA-256.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.hash = hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.hash.update(data)
        return self._file.write(data)

    def tell(self) -> int:
        return self._file.tell()


@dataclasses.dataclass(frozen=True)
class RowFiles:
    """The files that rows are exported to.

    Attributes:
        how: Their format.
        stem: Their path without the format's endings.
        stored_bytes: The size of all rows in Parquet (`transforms.export.export_rows.select`).
        finish: Adds the columns to rows that the format needs.
        header: The columns that a header names, for a format that can have one; None without it.
    """

    how: RowExport
    stem: str
    stored_bytes: int
    finish: Callable[[Rows], Rows] = lambda batch: batch
    header: Sequence[str] | None = None

    def write(
        self, read: Callable[[], Iterable[Rows]], selection: Selection, sizes: Sequence[int] = ()
    ) -> Exported:
        """Write a selection of rows; either all files appear under their names at the end, or none.

        Args:
            read: Reads the rows, each time the same.
            selection: The sample of the rows, and their order.
            sizes: See `export`.

        Raises:
            ConfigError: A file exists already, or there are fewer rows than the largest size.
        """
        samples = [
            (f"{self.stem}-{size}", dataclasses.replace(selection, sample=size)) for size in sizes
        ]
        samples = samples or [(self.stem, selection)]
        paths = [tuple(stem + ending for ending in self.how.endings) for stem, _ in samples]
        for path in itertools.chain(*paths):
            require_absent(path)
        if sizes:
            require_rows(read(), max(sizes))
        rows = 0
        hashed: dict[str, _Hashed] = {}
        with contextlib.ExitStack() as stack:
            for own, (_, wanted) in zip(paths, samples, strict=True):
                opened = [stack.enter_context(files.open_write(path)) for path in own]
                if self.how.card is not None:
                    hashed |= {path: _Hashed(file) for path, file in zip(own, opened, strict=True)}
                    opened = [cast("BinaryIO", hashed[path]) for path in own]
                rows += self._write(select(read, wanted, self.stored_bytes), opened)
        digests = {path: file.hash.hexdigest() for path, file in hashed.items()}
        return Exported(tuple(itertools.chain(*paths)), rows, 0, digests)

    def _write(self, batches: Iterable[Rows], opened: Sequence[BinaryIO]) -> int:
        if self.how.rows_writer is None:
            return self._write_bytes(batches, opened)
        rows = 0
        with self.how.rows_writer(opened) as write:
            for batch in batches:
                rows += batch.num_rows
                write(self.finish(batch))
        return rows

    def _write_bytes(self, batches: Iterable[Rows], opened: Sequence[BinaryIO]) -> int:
        if self.how.header is not None and self.header is not None:
            opened[0].write(self.how.header(self.header))
        rows = 0
        for batch in batches:
            rows += batch.num_rows
            for file, data in zip(opened, self.how.write(self.finish(batch)), strict=True):
                file.write(data)
        return rows


def require_absent(path: str) -> None:
    """Check that a file does not exist yet.

    Raises:
        ConfigError: It exists.
    """
    if files.exists(path):
        raise ConfigError(f"{path}: already exists; give another --output, or delete it")


def require_rows(batches: Iterable[Rows], wanted: int) -> None:
    """Check that there are rows for the largest size of a series.

    Raises:
        ConfigError: There are fewer.
    """
    rows = sum(batch.num_rows for batch in batches)
    if rows < wanted:
        raise ConfigError(
            f"--sizes: expected at least {wanted} rows for the largest size, found {rows}; give "
            "smaller sizes"
        )


class _Fitting:
    """The selected rows of a run that a format can represent, and the number of the others."""

    def __init__(
        self, run: FinishedRun, how: RowExport, unfit: Unfit, selection: Selection
    ) -> None:
        self._run, self._how, self._unfit, self._selection = run, how, unfit, selection
        self.left_out = 0

    def read(self) -> Iterator[Rows]:
        self.left_out = 0
        for batch in wanted_batches(self._run, self._selection):
            fit = fitting(batch, self._how, self._unfit)
            self.left_out += batch.num_rows - fit.num_rows
            yield fit


def _alignment(how: RowExport, alignment: Alignment | None, unfit: Unfit) -> Alignment:
    """Return the words that links refer to.

    Raises:
        ConfigError: The format has no links, or escapes would change the words.
    """
    if how.linked is None:
        if alignment is not None:
            raise ConfigError(f"--alignment: {how.name} has no links; leave it out")
        return "none"
    words = alignment or how.linked.words
    if words != "none" and unfit == "escape":
        raise ConfigError(
            "--unfit escape: escapes change the words that links refer to; give --unfit leave_out, "
            "or --alignment none"
        )
    return words


def _finisher(run: FinishedRun, words: Alignment) -> Callable[[Rows], Rows]:
    if words == "none":
        return lambda batch: batch
    shifted = bool(run.settings.get("whitespace_shift"))
    cut = find_cut(words, run.tags(), shifted=shifted)
    return lambda batch: add_links(batch, words, cut)


def wanted_batches(run: FinishedRun, selection: Selection) -> Iterator[Rows]:
    """Yield the rows of the selected methods and kinds; raises as `FinishedRun.batches`."""
    for batch in run.batches():
        yield wanted_rows(batch, run.job, selection)


def escape(column: pa.Array) -> pa.Array:
    """Escape backslashes, tabs and line breaks with a backslash."""
    for plain, written in _ESCAPES:
        column = pc.replace_substring(column, plain, written)
    return column


def fitting(rows: Rows, how: RowExport, unfit: Unfit) -> Rows:
    """Return the rows that can be written, escaped if requested.

    Args:
        rows: Rows of a run.
        how: The format.
        unfit: How to treat rows that the format cannot represent, as for `export`.

    Raises:
        ConfigError: A row cannot be written, and ``unfit`` does not leave it out.
    """
    texts = how.texts or tuple(
        field.name for field in rows.schema if pa.types.is_string(field.type)
    )
    checks = [*how.reserved]
    if how.breaks and unfit == "escape":
        for name in texts:
            rows = replaced(rows, name, escape(rows.column(name)))
    elif how.breaks:
        checks += [(name, how.breaks) for name in texts]
    fits = pa.array([True] * rows.num_rows, pa.bool_())
    for name, pattern in checks:
        bad = pc.fill_null(pc.match_substring_regex(rows.column(name), pattern), False)  # noqa: FBT003
        if unfit != "leave_out" and pc.any(bad).as_py():
            row = pc.index(bad, value=True).as_py()
            # Escapes would change the words that links refer to.
            with_links = how.linked is not None and how.write is how.linked.write
            remedy = (
                "--unfit leave_out"
                if unfit == "escape" or with_links or (name, pattern) in how.reserved
                else "--unfit leave_out, --unfit escape"
            )
            raise ConfigError(
                f"pair {rows.column('id')[row]}: its {name} contains text reserved in {how.name} "
                f"({BREAKS.get(pattern, pattern)}): {rows.column(name)[row].as_py()!r}; give "
                f"--format jsonl, or {remedy}"
            )
        fits = pc.and_(fits, pc.invert(bad))
    return rows.filter(fits)
