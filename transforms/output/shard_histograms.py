"""Histograms of a shard by corpus, for its receipt: lengths, links, tags and masks."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.arrow.flat_columns import chunk_of, fields_of, offsets_of
from pairweave.transforms.counts.histograms import HISTOGRAMS, Bars, trimmed


class _Values(NamedTuple):
    """Values of a histogram, int64 ``[value]``, and the row that each belongs to."""

    name: str
    values: np.ndarray
    rows: np.ndarray


def count_histograms(
    kept: pa.Table, table: pa.Table, data: pa.Table | None, masks: np.ndarray | None = None
) -> Bars:
    """Count the values of every histogram by corpus that the columns of a shard allow.

    Args:
        kept: The kept rows of a shard (`schemas.ROWS`).
        table: The working table of the job, with tokens and links if it aligned; rows of pairs that
            were rejected since do not count.
        data: The rows that the job writes.
        masks: Words of the suggestion in each of them, -1 for a whole sentence, int64 ``[row]``.
    """
    found: Bars = {}
    _add(found, kept, _lengths(kept))
    if "corpus" in table.column_names and "source_tokens" in table.column_names:
        table = _only(table, kept)
        if "links" in table.column_names:
            _add(found, table, _links(table))
    if data is not None and "corpus" in data.column_names:
        if "tags" in data.column_names:
            _add(found, data, _tags(data, table))
        if masks is not None:
            rows = np.flatnonzero(masks >= 0)
            _add(found, data, [_Values("mask", masks[rows], rows)])
    return found


def _only(table: pa.Table, kept: pa.Table) -> pa.Table:
    if table.num_rows == kept.num_rows:
        return table
    return table.filter(pc.is_in(table.column("id"), chunk_of(kept.column("id"))))


def _add(found: Bars, table: pa.Table, every: Iterator[_Values] | list[_Values]) -> None:
    names = chunk_of(table.column("corpus")).cast(pa.string()).dictionary_encode()
    corpora = names.dictionary.to_pylist()
    places = names.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    for name, values, rows in every:
        bars = HISTOGRAMS[name].bars
        bar = HISTOGRAMS[name].bars_of(values)
        counted = np.bincount(places[rows] * bars + bar, minlength=len(corpora) * bars)
        for corpus, counts in zip(corpora, counted.reshape(-1, bars).tolist(), strict=True):
            if any(counts):
                found.setdefault(name, {})[corpus] = trimmed(counts)


def _lengths(kept: pa.Table) -> Iterator[_Values]:
    sides = {
        side: pc.utf8_length(chunk_of(kept.column(side))).to_numpy().astype(np.int64)
        for side in ("source", "target")
    }
    rows = np.arange(kept.num_rows)
    for side, lengths in sides.items():
        yield _Values(f"{side}_length", lengths, rows)
    yield _Values("ratio", 100 * sides["target"] // np.maximum(1, sides["source"]), rows)


def _links(table: pa.Table) -> Iterator[_Values]:
    offsets, links = fields_of(table.column("links"))
    numbers = np.diff(offsets)
    row = np.repeat(np.arange(table.num_rows), numbers)
    here = slice(int(offsets[0]), int(offsets[-1]))
    if "probability" in links:
        # Whole millionths: the sum of whole numbers does not depend on their order.
        parts = np.rint(links["probability"][here].astype(np.float64) * 1e6).astype(np.int64)
        sums = _sums(parts, offsets - offsets[0])
        rows = np.flatnonzero(numbers)
        yield _Values("confidence", sums[rows] // (10_000 * numbers[rows]), rows)
    linked = tokens = np.zeros(table.num_rows, np.int64)
    for side in ("source", "target"):
        starts = offsets_of(table.column(f"{side}_tokens"))
        starts = starts - starts[0]
        marked = np.zeros(starts[-1], np.int64)
        marked[starts[row] + links[side][here]] = 1
        linked = linked + _sums(marked, starts)
        tokens = tokens + np.diff(starts)
    rows = np.flatnonzero(tokens)
    yield _Values("coverage", 100 * linked[rows] // tokens[rows], rows)


def _sums(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    return np.diff(np.concatenate([[0], np.cumsum(values)])[offsets])


def _tags(data: pa.Table, table: pa.Table) -> Iterator[_Values]:
    """Return what is counted of tags; a tag in two parts is one tag with two spans."""
    offsets, tags = fields_of(data.column("tags"), "index", "source_start", "source_end")
    here = slice(int(offsets[0]), int(offsets[-1]))
    row = np.repeat(np.arange(data.num_rows), np.diff(offsets))
    index, start, end = (tags[name][here] for name in ("index", "source_start", "source_end"))
    start, end = start.astype(np.int64), end.astype(np.int64)
    rows = np.flatnonzero(np.diff(offsets))
    yield _Values("tags", distinct_by_row(row, index, data.num_rows)[rows], rows)
    around = end > start
    row, start, end = row[around], start[around], end[around]
    yield _Values("depth", _depths(row, start, end, data.num_rows)[rows], rows)
    if "source_tokens" in table.column_names and "id" in table.column_names:
        yield _Values("span", _tokens_within(data, table, row, start, end), row)


def distinct_by_row(row: np.ndarray, values: np.ndarray, rows: int) -> np.ndarray:
    """Return how many different values each row has, int64 ``[row]``.

    Args:
        row: The row of each value, ascending, int64.
        values: The values, not negative.
        rows: Number of rows.
    """
    both = np.sort(row << 32 | values.astype(np.int64))
    first = np.ones(len(both), np.bool_)
    first[1:] = both[1:] != both[:-1]
    return np.bincount(both[first] >> 32, minlength=rows)


def _depths(row: np.ndarray, start: np.ndarray, end: np.ndarray, rows: int) -> np.ndarray:
    """Return the most spans over one character, int64 ``[row]``."""
    # At one place, spans end (an even number) before others begin (an odd one).
    places = np.sort(np.concatenate([row << 33 | start << 1 | 1, row << 33 | end << 1]))
    depth = np.cumsum(2 * (places & 1) - 1)  # 0 at the end of each row, so it goes on from there
    numbers = 2 * np.bincount(row, minlength=rows)
    found = np.flatnonzero(numbers)
    most = np.zeros(rows, np.int64)
    if len(found):
        most[found] = np.maximum.reduceat(depth, (np.cumsum(numbers) - numbers)[found])
    return most


def _tokens_within(
    data: pa.Table, table: pa.Table, row: np.ndarray, start: np.ndarray, end: np.ndarray
) -> np.ndarray:
    """Return how many source tokens begin within each span, int64 ``[span]``."""
    offsets, tokens = fields_of(table.column("source_tokens"))
    here = slice(int(offsets[0]), int(offsets[-1]))
    pair = np.repeat(np.arange(table.num_rows), np.diff(offsets))
    shown = tokens["end"][here] > tokens["start"][here]
    begin = np.sort((pair << 32 | tokens["start"][here].astype(np.int64))[shown])
    places = pc.index_in(chunk_of(data.column("id")), chunk_of(table.column("id")))
    of = places.to_numpy(zero_copy_only=False).astype(np.int64)[row] << 32
    return np.searchsorted(begin, of | end) - np.searchsorted(begin, of | start)
