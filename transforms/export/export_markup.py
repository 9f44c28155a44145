"""A finished run's pairs with their inline markup, as TMX, XLIFF, PO, LXM or HTML fragments."""

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.export.export import Exported, wanted_batches
from pairweave.transforms.export.export_formats import MarkupExport
from pairweave.transforms.export.export_rows import Selection, select
from pairweave.transforms.export.markup_rows import SIDES, MarkupRow, markup_rows, not_xml
from pairweave.transforms.export.markup_texts import misread
from pairweave.transforms.markup.markup import find_syntax
from pairweave.transforms.option_values import require_choice
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.storage import files

_ALL = Selection()
ROWS = ("tagged", "plain", "all")
UNFIT = ("refuse", "leave_out")

_Unfit = Callable[[MarkupRow], str | None]


def _not_xml(row: MarkupRow) -> str | None:
    reasons = (not_xml(side, text) for side, text in zip(SIDES, row.texts, strict=True))
    return next(filter(None, reasons), None)


def _misread_as(syntax: str) -> _Unfit:
    return functools.partial(misread, syntax=find_syntax(syntax))


def export_markup(
    run: FinishedRun,
    how: MarkupExport,
    output: str,
    rows: str | None = None,
    unfit: str = "refuse",
    inline_syntax: str | None = None,
    selection: Selection = _ALL,
) -> Exported:
    """Write a finished run's rows, in the order of its shards, shard by shard.

    Args:
        run: A run of ``augment`` with indexed tags, or of ``align``.
        how: The format.
        output: Directory of the files, on a disk; they must not exist yet.
        rows: ``tagged``, ``plain`` or ``all``; by default ``tagged``, or ``all`` for jobs other
            than ``augment`` and where the selection names kinds.
        unfit: How to treat rows that the format cannot represent: ``refuse`` or ``leave_out``.
        inline_syntax: The syntax of tags that readers expect, for a format whose texts contain tags
            as characters; by default the format's own.
        selection: The selected rows, and their order. A sample is drawn before unfit rows are
            left out.

    Raises:
        ConfigError: The run has no such rows, a file already exists, or the format cannot represent
            a row.
        WorkerError: A shard is missing or differs from the manifest.
    """
    if unfit not in UNFIT:
        raise ConfigError(f"--unfit {unfit}: {how.name} has no escapes for tags; give leave_out")
    rows = rows or ("tagged" if run.job == "augment" and not selection.kinds else "all")
    require_choice("rows", rows, ROWS)
    selection.check(run.job)
    if run.job == "augment" and rows != "all" and not selection.kinds:
        # So that a sample is drawn from the rows that are written.
        selection = dataclasses.replace(selection, kinds=(rows,))
    _check_representation(run)
    unfit_reason = _unfit_reason(how, inline_syntax)
    paths = tuple(f"{output.rstrip('/')}/pairs{ending}" for ending in how.endings)
    for path in paths:
        if files.exists(path):
            raise ConfigError(f"{path}: already exists; give another --output, or delete it")
    batches = select(lambda: wanted_batches(run, selection), selection, run.data_bytes)
    shifted = bool(run.settings.get("whitespace_shift"))
    read = markup_rows(batches, rows, shifted=shifted)
    fitting = _Fitting(read, unfit_reason, how.name, leave_out=unfit == "leave_out")
    sources = sorted({corpus["source_lang"] for corpus in run.manifest["corpora"].values()})
    _write(paths, how.write(fitting, sources[0] if len(sources) == 1 else None))
    return Exported(paths, fitting.rows, fitting.left_out)


def _check_representation(run: FinishedRun) -> None:
    representation = run.settings.get("representation", "indexed")
    if representation != "indexed":
        raise ConfigError(
            f"{run.directory}: the tags are written as {representation}; only those of a run with "
            "--representation indexed can be exported"
        )


def _unfit_reason(how: MarkupExport, inline_syntax: str | None) -> _Unfit:
    """Return a function that returns the reason why the format cannot represent a row.

    Raises:
        ConfigError: A syntax is given, and the format has elements for tags.
    """
    if how.syntax is None and inline_syntax is not None:
        raise ConfigError(f"--inline_syntax: {how.name} has elements for tags; leave it out")
    syntax = inline_syntax or how.syntax
    return _not_xml if syntax is None else _misread_as(syntax)


class _Fitting:
    """The rows that a format can represent, with the numbers of these and of others left out."""

    def __init__(
        self, rows: Iterator[MarkupRow], unfit: _Unfit, form: str, *, leave_out: bool
    ) -> None:
        self._rows, self._unfit, self._form, self._leave_out = rows, unfit, form, leave_out
        self.rows = self.left_out = 0

    def __iter__(self) -> Iterator[MarkupRow]:
        for row in self._rows:
            reason = self._unfit(row)
            if reason is None:
                self.rows += 1
                yield row
            elif self._leave_out:
                self.left_out += 1
            else:
                raise ConfigError(
                    f"pair {row.id}: {reason}; {self._form} cannot represent it: export the run "
                    "in another format, or with --unfit leave_out"
                )


def _write(paths: Sequence[str], chunks: Iterator[tuple[bytes, ...]]) -> None:
    """Write files in pieces; they get their names when they are complete."""
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(files.open_write(path)) for path in paths]
        for chunk in chunks:
            for file, data in zip(opened, chunk, strict=True):
                file.write(data)
