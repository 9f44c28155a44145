"""The plan: every input is found, digested, counted and divided into units before workers start.

A unit is the complete instruction for a worker. It names bytes by path, range and digest, so
globs, runners, bundles and working directories affect neither the bytes that are read nor their
order.
"""

import dataclasses
import functools
import os
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from pairweave.transforms.counted import counted
from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.formats import registry
from pairweave.transforms.formats.moses import Side, shift_between
from pairweave.transforms.merged_notices import merged
from pairweave.transforms.planning.earlier_run import check_shard
from pairweave.transforms.planning.locate import FileGroup, LocatedFile, locate
from pairweave.transforms.planning.other_tags import other_tag_notices
from pairweave.transforms.planning.scan_attention import scan_attention
from pairweave.transforms.reading.scan import Cut, Scan, ScanRequest, stored_file
from pairweave.transforms.reading.scan_lines import scan_lines
from pairweave.transforms.storage import files
from pairweave.transforms.storage.byte_streams import decompress
from pairweave.transforms.storage.text_lines import odd_count
from pairweave.transforms.units import (
    Columns,
    CorpusInput,
    InputFile,
    Notice,
    Part,
    Plan,
    ReadLimits,
    Unit,
)

if TYPE_CHECKING:
    from pairweave.transforms.sentences.line_shift import LineShift

__all__ = [
    "Columns",
    "CorpusInput",
    "InputFile",
    "Notice",
    "Part",
    "Plan",
    "ReadLimits",
    "Unit",
    "make_plan",
]

UNIT_ROWS = 65_536

MAX_DOCUMENT_LINES = 200_000
"""Maximum number of lines on one side of a document pair, for which the band of its second pass has
room (`models.sentences.sentence_aligner.POSITIONS`). At this length the band is 20 sentences wide
on either side of the first pass' path and is not widened; a path that touches its edge is noted."""


def make_plan(
    corpora: Sequence[CorpusInput],
    limits: ReadLimits | None = None,
    unit_rows: int = UNIT_ROWS,
    threads: int | None = None,
    *,
    documents: bool = False,
) -> Plan:
    """Find, check and divide all inputs, reading each file once.

    The plan depends only on the corpora, the files, ``limits`` and ``unit_rows``. Units are in the
    order of the corpora, then of the files, then of the rows.

    Args:
        corpora: The corpora to read.
        limits: Limits of reading; the readers must use the same.
        unit_rows: Rows in a unit of plain line-based text; a Parquet row group, a compressed file
            and a catalogue are one unit each.
        threads: Number of files read at once; by default one per core, at most 8.
        documents: Whether the input is documents: a file of one side translates a file of the
            other, perhaps with different lines, and such a pair is one unit. A unit of a table has
            as many rows as usual, and each row is a document pair.

    Raises:
        ConfigError: The settings of the corpora are inconsistent.
        InputError: A file, or a pair of files, cannot be used: ``no_match``,
            ``file_count_mismatch``, ``line_count_mismatch``, ``unsupported_format``,
            ``unsupported_charset``, ``unreadable``, ``empty_file``, ``missing_column``,
            ``gzip_truncated``, ``gzip_corrupt``, ``zstd_truncated``, ``zstd_corrupt``,
            ``zstd_window``, ``document_too_long``, ``expansion_limit``, ``parquet_corrupt``,
            ``po_syntax``, ``other_syntax``, or an error of XML (`transforms.reading.xml_stream`) or
            LXM (`transforms.formats.lxm`).
    """
    limits = limits or ReadLimits()
    if unit_rows < 1:
        raise ConfigError(f"unit_rows must be 1 or more, got {unit_rows}")
    for corpus in corpora:
        registry.check_corpus(corpus)
    names = [corpus.name for corpus in corpora if corpus.name is not None]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise ConfigError(f"two corpora are named {min(repeated)}")
    groups = locate(corpora)
    for group in groups:
        _check_links_field(group)
    scans = _scan_all(groups, limits, unit_rows, threads or min(8, os.cpu_count() or 1))
    planned: list[InputFile] = []
    units: list[Unit] = []
    notices: list[Notice] = []
    seen: dict[tuple[str, ...], str] = {}
    for group, each in zip(groups, scans, strict=True):
        file_scans = _join_by_name(each) if group.format().named_rows else each
        if group.corpus.run is not None:
            check_shard(group.files[0], file_scans[0].sha256, group.corpus.run)
        planned.extend(_input_files(group, file_scans))
        if documents and not group.corpus.input:
            units.append(_document(group, file_scans, len(units)))
            notices.extend(_unpaired_notices(group))
        else:
            _check_line_counts(group, file_scans, limits)
            new_units = list(_units(group, file_scans, len(units)))
            notices.extend(other_tag_notices(new_units, limits))
            units.extend(new_units)
        for file, scan in zip(group.files, file_scans, strict=True):
            notices.extend(_notices(file.name, scan, group.inline_tags()))
        notices.extend(_same_content_notices(group, file_scans, seen))
    return Plan(tuple(planned), tuple(units), merged(notices))


def _check_links_field(group: FileGroup) -> None:
    if group.corpus.links_field is not None and not group.format().columns:
        able = ", ".join(each.name for each in registry.input_formats() if each.columns)
        raise ConfigError(
            f"{group.files[0].name}: links_field {group.corpus.links_field}: only "
            f"{able} have columns, but this file is {group.files[0].format}"
        )


def _scan_all(
    groups: Sequence[FileGroup], limits: ReadLimits, unit_rows: int, threads: int
) -> list[list[Scan]]:
    """Scan all files; if several are bad, report the first in the plan's order."""
    jobs = [[_scan_job(group, file, limits, unit_rows) for file in group.files] for group in groups]
    with ThreadPoolExecutor(max_workers=threads) as pool:
        futures = [[pool.submit(job) for job in row] for row in jobs]
        try:
            return [[future.result() for future in row] for row in futures]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _scan_job(
    group: FileGroup, file: LocatedFile, limits: ReadLimits, unit_rows: int
) -> Callable[[], Scan]:
    request = ScanRequest(
        path=file.path,
        name=file.name,
        role=file.role,
        compression=file.compression,
        corpus=group.corpus,
        langs=group.langs(),
        limits=limits,
        unit_rows=unit_rows,
    )
    beside = {"pharaoh": scan_lines, "attention": scan_attention}
    scan = beside.get(file.format) or registry.input_format(file.format).scan
    return functools.partial(scan, request)


def _join_by_name(scans: Sequence[Scan]) -> list[Scan]:
    """Count the rows of two files whose rows are matched by name."""
    rows = len({name for scan in scans for name in scan.names})
    counted = [dataclasses.replace(scan, rows=rows) for scan in scans]
    return [dataclasses.replace(scan, cuts=(scan.whole(),) if rows else ()) for scan in counted]


def _check_line_counts(group: FileGroup, scans: Sequence[Scan], limits: ReadLimits) -> None:
    odd = odd_count([scan.rows for scan in scans])
    if odd is not None:
        counts = ", ".join(
            f"{file.name} has {counted(scan.rows, 'line')}"
            for file, scan in zip(group.files, scans, strict=True)
        )
        shift = _shift(group, scans, limits)
        raise InputError(
            "line_count_mismatch",
            group.files[odd].name,
            f"{counts}; line-parallel files must have the same number of lines"
            f"{f', and {shift.message}' if shift is not None else ''}",
            None if shift is None else shift.line,
        )


def _shift(group: FileGroup, scans: Sequence[Scan], limits: ReadLimits) -> "LineShift | None":
    """Find where the texts stop running in parallel, if their numbers of lines differ."""
    sides = [
        (file, scan)
        for file, scan in zip(group.files, scans, strict=True)
        if file.role in ("source", "target")
    ]
    more = sides[-1][1].rows - sides[0][1].rows
    if not more:
        return None
    source, target = (
        Side(
            file.name,
            file.role,
            decompress(
                stored_file(file.path, file.name, file.compression),
                file.compression,
                file.name,
                limits,
            ),
            limits,
        )
        for file, _ in sides
    )
    return shift_between(source, target, more, limits)


def _corpus_name(group: FileGroup) -> str:
    return group.corpus.name or posixpath.basename(group.files[0].name)


def _input_files(group: FileGroup, scans: Sequence[Scan]) -> Iterator[InputFile]:
    for file, scan in zip(group.files, scans, strict=True):
        yield InputFile(
            name=file.name,
            path=files.absolute(file.path),
            corpus=_corpus_name(group),
            role=file.role,
            format=file.format,
            bytes=scan.bytes,
            sha256=scan.sha256,
            rows=scan.rows,
            text_bytes=scan.text_bytes,
        )


def _units(group: FileGroup, scans: Sequence[Scan], first_index: int) -> Iterator[Unit]:
    source_lang, target_lang = group.langs()
    lead, file = scans[0], group.files[0]
    if lead.langs is not None:
        source_lang, target_lang = lead.langs
    paired = list(zip(group.files, scans, strict=True))
    attention = [_part(each, scan.whole()) for each, scan in paired if each.role == "attention"]
    paired = [(each, scan) for each, scan in paired if each.role != "attention"]
    cuts = [scan.cuts for _, scan in paired]
    if len(set(map(len, cuts))) > 1:
        # A compressed file must be read whole, so a plain file paired with one is, too.
        cuts = [(scan.whole(),) for _, scan in paired]
    line = 1 + lead.header_lines
    for index, row in enumerate(zip(*cuts, strict=True)):
        yield Unit(
            index=first_index + index,
            corpus=_corpus_name(group),
            source_lang=source_lang,
            target_lang=target_lang,
            format=file.format,
            parts=tuple(_part(each, cut) for (each, _), cut in zip(paired, row, strict=True)),
            first_line=line,
            rows=row[0].rows,
            columns=lead.columns,
            skip_lines=0 if file.compression == "none" else lead.header_lines,
            row_group=row[0].row_group,
            format_options=_listed(group.corpus.format_options),
            inline_tags=group.inline_tags(),
            inline_syntax=group.inline_syntax(),
            tags_differ=group.corpus.tags_differ,
            attention=attention[0] if attention else None,
            html_entities=group.corpus.html_entities,
            c1_controls=group.corpus.c1_controls,
            earlier=() if group.corpus.run is None else group.corpus.run.corpora,
            plugin=group.format().plugin,
        )
        line += row[0].rows


def _listed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of formats in the form for a plan: choices sorted, each once."""
    return {
        name: tuple(sorted(set(value))) if isinstance(value, tuple) else value
        for name, value in options.items()
    }


def _document(group: FileGroup, scans: Sequence[Scan], index: int) -> Unit:
    """Return a document pair; it has at most as many rows as both files have lines.

    Raises:
        InputError: A file is too long to be aligned (``document_too_long``).
    """
    for file, scan in zip(group.files, scans, strict=True):
        if scan.rows > MAX_DOCUMENT_LINES:
            raise InputError(
                "document_too_long",
                file.name,
                f"has {scan.rows} lines, but a document, which is aligned as a whole, can have at "
                f"most {MAX_DOCUMENT_LINES}; divide it, for example by chapters",
            )
    source_lang, target_lang = group.langs()
    paired = zip(group.files, scans, strict=True)
    return Unit(
        index=index,
        corpus=_corpus_name(group),
        source_lang=source_lang,
        target_lang=target_lang,
        format=group.files[0].format,
        parts=tuple(_part(file, scan.whole()) for file, scan in paired),
        first_line=1,
        rows=sum(scan.rows for scan in scans),
        c1_controls=group.corpus.c1_controls,
    )


def _unpaired_notices(group: FileGroup) -> Iterator[Notice]:
    if len(group.files) == 1:
        (file,) = group.files
        other = "target" if file.role == "source" else "source"
        yield Notice(
            "unpaired_document",
            file.name,
            1,
            f"has no counterpart of the same name in {other}_input; all its sentences are rejected "
            "as unaligned",
        )


def _part(file: LocatedFile, cut: Cut) -> Part:
    return Part(
        file.name,
        files.absolute(file.path),
        file.compression,
        cut.ranges,
        cut.digest,
        file.role,
    )


def _notices(name: str, scan: Scan, inline_tags: str) -> Iterator[Notice]:
    if scan.rows_with_tags and inline_tags == "strip":
        yield Notice(
            "tags_stripped",
            name,
            scan.rows_with_tags,
            f"inline tags are removed from {counted(scan.rows_with_tags, 'row')}; "
            "pairweave augment --inline_tags index keeps them",
        )
    if scan.untranslatable:
        yield Notice(
            "not_for_translation",
            name,
            scan.untranslatable,
            f"no pair is made of {counted(scan.untranslatable, 'segment')} without a target, "
            "marked as not to be translated",
        )
    outside, what = scan.outside_segments, "text outside of the segments of {} is in no pair"
    if scan.outside_tags and inline_tags != "strip":
        outside += scan.outside_tags
        what = "text or tags outside of the segments of {} are in no pair"
    if outside:
        yield Notice("outside_segments", name, outside, what.format(counted(outside, "unit")))
    if not scan.rows:
        what = "zero bytes" if not scan.bytes else "no rows"
        yield Notice("empty_file", name, 1, f"{what}; nothing was read from it")
    if scan.byte_order_mark:
        yield Notice("byte_order_mark", name, 1, "a byte order mark was dropped")
    if scan.carriage_returns:
        yield Notice(
            "carriage_returns",
            name,
            scan.carriage_returns,
            "a carriage return was dropped from the end of "
            f"{counted(scan.carriage_returns, 'line')}",
        )


def _same_content_notices(
    group: FileGroup, scans: Sequence[Scan], seen: dict[tuple[str, ...], str]
) -> Iterator[Notice]:
    """Yield notices on files with the content of earlier files, or of the other side."""
    if not any(scan.bytes for scan in scans):
        return
    name = group.files[0].name
    digests = tuple(scan.sha256 for scan in scans)
    if digests in seen:
        yield Notice("duplicate_file", name, 1, f"the same content as {seen[digests]}")
    seen.setdefault(digests, name)
    if len(digests) > 1 and digests[0] == digests[1]:
        same = group.files[0].path == group.files[1].path
        which = "the target is the same file" if same else "the target has the same content"
        message = f"{which}; give the translation as target_input"
        yield Notice("copied", name, scans[0].rows, message)
