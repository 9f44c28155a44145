"""Links or scores in input order: one line of text per input line."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.pharaoh import format_links
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.rejects import Reject
from pairweave.transforms.units import Unit

PLACE = ["id", "corpus", "file", "line"]
# Large strings, because the text of all shards may exceed the 2 GiB of 32-bit offsets.
LINES = pa.schema(
    [
        pa.field("id", pa.large_string()),
        pa.field("corpus", pa.string()),
        pa.field("file", pa.string()),
        pa.field("line", pa.int64()),
        pa.field("links", pa.large_string()),
    ]
)


LinesOf = Callable[[FinishedRun, int], list[pa.Table]]


def collect_lines(
    run: FinishedRun, order: Sequence[tuple[str, str]], lines_of: LinesOf | None = None
) -> bytes:
    """Return the links (as Pharaoh text), or another text, of each input line, in input order.

    A duplicate has the links of the pair that it repeats; any other rejected pair has an empty
    line. Entries of one line (a PO plural) are in the order of their ids.

    Args:
        run: A run of ``align``; with ``lines_of``, of another job.
        order: Corpus and name of each input file with lines, in input order; a file occurs as often
            as it was given, regardless of its number of units.
        lines_of: Returns the lines of a shard's pairs and of its rejects (`LINES`), given the
            run and the shard's number; None for links.

    Raises:
        ConfigError: See `check_copies`.
        WorkerError: See `FinishedRun.table`.
    """
    parts: list[pa.Table] = []
    for shard in range(len(run.names)):
        parts.extend((lines_of or _shard_lines)(run, shard))
    rows = pa.concat_tables(parts)
    positions: dict[tuple[str, str], list[int]] = {}
    for position, place in enumerate(order):
        positions.setdefault(place, []).append(position)
    first = pa.array(
        [
            positions[place][0]
            for place in zip(
                rows.column("corpus").to_pylist(), rows.column("file").to_pylist(), strict=True
            )
        ],
        pa.int64(),
    )
    rows = rows.select(["id", "line", "links"]).append_column("first", first)
    rows = rows.sort_by([("first", "ascending"), ("line", "ascending"), ("id", "ascending")])
    if len(positions) < len(order):
        rows = _part_copies(rows, order, positions)
    return "".join(f"{links}\n" for links in rows.column("links").to_pylist()).encode()


def check_copies(units: Iterable[Unit], order: Sequence[tuple[str, str]]) -> None:
    """Check, before alignment, that lines of files given several times can be told apart.

    Args:
        units: All units of the plan.
        order: As for `collect_lines`.

    Raises:
        ConfigError: A file was given several times with different pairs, such as a source text with
            several target texts: rows do not identify the copy.
    """
    copies = Counter(order)
    read = Counter(
        (
            (unit.corpus, unit.file),
            unit.first_line,
            tuple(part.digest for part in unit.parts),
            *(unit.source_lang, unit.target_lang, unit.columns),
            tuple(sorted(unit.format_options.items())),
        )
        for unit in units
    )
    for (place, *_), times in read.items():
        if times != copies[place]:
            raise _copies_differ(place[1], copies[place])


def _copies_differ(name: str, copies: int) -> ConfigError:
    return ConfigError(
        f"{name}: was given {copies} times with different pairs, so its links cannot be put in "
        "input order; give each copy a corpus name of its own"
    )


def _part_copies(
    rows: pa.Table,
    order: Sequence[tuple[str, str]],
    positions: Mapping[tuple[str, str], Sequence[int]],
) -> pa.Table:
    """Distribute the rows of files given several times, so that each copy has every line once.

    Args:
        rows: Columns id, line, links and first (the file's first position), sorted.
        order: The files by position.
        positions: The positions of each file.
    """
    first = rows.column("first").to_numpy()
    line = rows.column("line").to_numpy()
    ids = rows.column("id").combine_chunks().fill_null("")
    begins = np.ones(len(rows), dtype=np.bool_)
    begins[1:] = (first[1:] != first[:-1]) | (line[1:] != line[:-1])
    begins[1:] |= pa.compute.not_equal(ids[1:], ids[:-1]).to_numpy(zero_copy_only=False)
    starts = np.flatnonzero(begins)
    lengths = np.diff(starts, append=len(rows))
    copies = np.array([len(positions[place]) for place in order], dtype=np.int64)[first]
    odd = np.flatnonzero(lengths % copies[starts])
    if len(odd):
        start = starts[odd[0]]
        raise _copies_differ(order[first[start]][1], int(copies[start]))
    number = (np.arange(len(rows)) - np.repeat(starts, lengths)) % copies
    # The n-th copy of the file whose first position is p is at position table[p, n].
    table = np.zeros((len(order), copies.max(initial=1)), dtype=np.int64)
    for places in positions.values():
        table[places[0], : len(places)] = places
    return rows.take(pa.array(np.lexsort((line, table[first, number]))))


def _shard_lines(run: FinishedRun, shard: int) -> list[pa.Table]:
    """Return the lines of a shard's pairs and of its rejects."""
    kept = run.table(run.names[shard], [*PLACE, "links"])
    rejected = run.table(run.rejects_name(shard), [*PLACE, "reason"])
    texts = format_links(kept.column("links"))
    repeats = pa.compute.equal(rejected.column("reason"), str(Reject.DUPLICATE))
    original = pa.compute.index_in(rejected.column("id"), value_set=kept.column("id"))
    links = pa.compute.if_else(repeats, texts.take(original), "")
    return [
        rows.select(PLACE).append_column("links", column).cast(LINES)
        for rows, column in ((kept, texts), (rejected, pa.compute.fill_null(links, "")))
    ]
