"""Inspects all files of a plan, or blocks of their lines."""

import dataclasses
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence

import pyarrow as pa
import xxhash

from pairweave.transforms.file_labels import file_labels
from pairweave.transforms.findings import OF_LINES, Finding
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.inspection.bare_texts import BareTexts
from pairweave.transforms.inspection.file_look import FileLook
from pairweave.transforms.sentences.coverage_evidence import PairCoverage
from pairweave.transforms.units import ReadLimits, Unit

BLOCK_ROWS = 4_096
"""Consecutive rows in a block of a sample: a stretch of lines shows only next to its neighbours."""

MIN_SAMPLE = 32_768
"""Minimum number of rows to look at, which takes 0.3 seconds of CPU."""

SAMPLE_PART = 16
"""A sample of a larger input takes one row in this many. A look at a million pairs takes 9 seconds
of CPU, `augment` with a fitted model some 60, so the sample costs less than 2 % of the run."""

STRATUM_BLOCKS = 16
"""Number of blocks in a stratum; the first blocks of all strata are chosen before any second one. A
reader stops after the last block, and a unit of plain text has 65,536 rows."""

LAST_BLOCK = 64
"""Number of blocks at the start of a unit from which a sample is chosen. A compressed file is one
unit, and everything before a block has to be read: a million lines take 3 seconds."""

MAX_SAMPLE = 250_000
"""Rows of the largest sample: workers share the run, but the planning process looks by itself."""

LOOK_AGAIN_ROWS = 4_000_000
"""A file of up to this many rows is looked at as a whole if its sample shows a stretch of lines
that do not belong together: this takes half a minute and gives the exact lines."""

Labels = Mapping[str, str]
"""The name of the file of each role, such as ``target``."""

Blocks = Mapping[int, Collection[int]]
"""Numbers of the blocks to look at, by the number of their unit."""


def look_at(
    units: Sequence[Unit], limits: ReadLimits, coverage: PairCoverage | None = None
) -> Iterator[Finding]:
    """Read units, and yield the findings on each file, in the order of the units.

    Args:
        units: Units of a plan, in its order.
        limits: Limits of the readers.
        coverage: Judges pairs by a fitted aligner, which finds shorter stretches.
    """
    for labels, file in _files(units):
        yield from _look(labels, file, limits, coverage=coverage)


def sample_size(rows: int) -> int:
    """Return the size of the sample of an input, in rows.

    >>> [sample_size(rows) for rows in (20_000, 1_600_000, 90_000_000)]
    [32768, 100000, 250000]
    """
    return max(MIN_SAMPLE, min(MAX_SAMPLE, rows // SAMPLE_PART))


@dataclasses.dataclass(frozen=True)
class Look:
    """The result of a look at an input.

    Attributes:
        findings: The findings on each file, in the order of the units.
        pairs: Number of rows that were looked at.
        stretches: First and last line of each stretch of lines that do not belong together, in
            order, by the number of each unit of the file: files of several corpora may share a
            name.
    """

    findings: tuple[Finding, ...]
    pairs: int
    stretches: dict[int, list[tuple[int, int]]]


def look_at_sample(units: Sequence[Unit], limits: ReadLimits, sample: int) -> Look:
    """Read blocks of lines chosen by hash, and return the findings on each file.

    If a file's sample shows a stretch of lines that do not belong together, the whole file is read
    for that kind of findings.

    Args:
        units: Units of a plan, in its order.
        limits: Limits of the readers.
        sample: Rows to look at; all if there are fewer.
    """
    whole = sum(unit.rows for unit in units)
    blocks = choose_blocks(units, sample) if whole > sample else None
    findings: list[Finding] = []
    pairs = 0
    stretches: dict[int, list[tuple[int, int]]] = {}
    for labels, file in _files(units):
        rows = sum(_rows_in(unit, blocks) for unit in file)
        if not rows and any(unit.rows for unit in file):
            continue
        if blocks is None:
            of_file = list(_look(labels, file, limits))
        else:
            of_file = list(_look_again(labels, file, limits, blocks, rows))
        findings += of_file
        pairs += rows
        lines = [(each.first_line, each.last_line) for each in of_file if each.kind in OF_LINES]
        if lines:
            stretches |= {unit.index: sorted(lines) for unit in file}
    return Look(tuple(findings), pairs, stretches)


def _look_again(
    labels: Labels, file: Sequence[Unit], limits: ReadLimits, blocks: Blocks, rows: int
) -> list[Finding]:
    """Look at blocks of a file, and at all of it if they show a stretch of lines."""
    of_sample = list(_look(labels, file, limits, blocks))
    whole = sum(unit.rows for unit in file)
    if rows == whole:
        return of_sample
    of_sample = [_of_sample(each, rows, whole) for each in of_sample]
    if whole > LOOK_AGAIN_ROWS or not any(each.kind in OF_LINES for each in of_sample):
        return of_sample
    exact = [each for each in _look(labels, file, limits) if each.kind in OF_LINES]
    return [*exact, *(each for each in of_sample if each.kind not in OF_LINES)]


def _of_sample(finding: Finding, rows: int, whole: int) -> Finding:
    evidence = f"{finding.evidence} (in {rows:,} of {whole:,} lines that were looked at)"
    return dataclasses.replace(finding, evidence=evidence)


def _files(units: Sequence[Unit]) -> Iterator[tuple[Labels, list[Unit]]]:
    """Yield the names of each file and of the files that accompany it, and its units."""
    labels = file_labels((unit.corpus, unit.file) for unit in units)
    beside = file_labels((unit.corpus, part.name) for unit in units for part in unit.parts)
    for file, group in itertools.groupby(units, key=lambda unit: (unit.corpus, unit.file)):
        of_file = list(group)
        corpus, _ = file
        roles = {part.role: beside[corpus, part.name] for part in of_file[0].parts}
        yield roles | {of_file[0].parts[0].role: labels[file]}, of_file


def choose_blocks(units: Sequence[Unit], sample: int) -> Blocks:
    """Return the blocks of a sample: the first of all strata, then the second ones, and so on.

    Blocks with the same number within their strata are in the order of hashes of the files'
    contents.

    Args:
        units: Units of a plan.
        sample: Rows of the sample; the last block may exceed it.
    """
    ranked = sorted(
        (block % STRATUM_BLOCKS, _hash(unit, block), unit.index, block)
        for unit in units
        for block in range(min(LAST_BLOCK, -(-unit.rows // BLOCK_ROWS)))
    )
    rows_of = {unit.index: unit.rows for unit in units}
    chosen: dict[int, set[int]] = {}
    left = sample
    for _, _, index, block in ranked:
        if left <= 0:
            break
        chosen.setdefault(index, set()).add(block)
        left -= _block_rows(rows_of[index], block)
    return chosen


def _hash(unit: Unit, block: int) -> int:
    digests = ":".join(part.digest for part in unit.parts)
    return xxhash.xxh3_64_intdigest(f"{digests}:{unit.row_group}:{block}".encode())


def _block_rows(rows: int, block: int) -> int:
    return min(BLOCK_ROWS, rows - block * BLOCK_ROWS)


def _rows_in(unit: Unit, blocks: Blocks | None) -> int:
    """Return the number of rows of a unit in some blocks, or in all."""
    if blocks is None:
        return unit.rows
    return sum(_block_rows(unit.rows, block) for block in blocks.get(unit.index, ()))


def _look(
    labels: Labels,
    file: Sequence[Unit],
    limits: ReadLimits,
    blocks: Blocks | None = None,
    coverage: PairCoverage | None = None,
) -> Iterator[Finding]:
    """Yield the findings on a file, by all its rows or by the rows of some blocks."""
    first = file[0]
    rows = sum(_rows_in(unit, blocks) for unit in file)
    name = labels[first.parts[0].role]
    bare = BareTexts((name, labels.get("target", name)), first, limits)
    look = FileLook(
        name,
        (first.source_lang, first.target_lang),
        rows,
        reads_tags=first.inline_tags != "raw",
        files=labels,
        coverage=coverage,
    )
    for unit in file:
        if blocks is None:
            batches = read_unit(unit, limits)
        else:
            batches = _read_blocks(unit, limits, blocks.get(unit.index, ()))
        for batch in batches:
            look.add(batch)
            bare.add(batch)
    # Planning has noticed that both sides are the same.
    copied = all(unit.copied for unit in file)
    of_texts = (each for each in look.findings() if not (copied and each.kind == "copied"))
    yield from bare.findings(of_texts)


def _read_blocks(
    unit: Unit, limits: ReadLimits, blocks: Collection[int]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of some blocks of a unit; stop reading after the last block."""
    ranges = [(block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS) for block in sorted(blocks)]
    if not ranges:
        return
    begin = 0
    for batch in read_unit(unit, limits):
        end = begin + batch.num_rows
        for first, last in ranges:
            inside = range(max(first, begin), min(last, end))
            if len(inside):
                yield batch.slice(inside.start - begin, len(inside))
        begin = end
        if begin >= ranges[-1][1]:
            return
