"""Histograms of a shard by corpus, for its receipt: lengths, links, tags and masks."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.arrow.flat_columns import chunk_of, fields_of, offsets_of
from pairweave.transforms.counts.histograms import Bars, Values, count_by_group


def count_histograms(
    kept: pa.Table, table: pa.Table, data: pa.Table | None, masks: np.ndarray | None = None
) -> Bars:
    """Count the values of every histogram by corpus that the columns of a shard allow.

    Args:
        kept: The kept rows of a shard (`schemas.ROWS`).
        table: The working table of the job, with tokens and links if it aligned; rows of pairs
            that were rejected later do not count.
        data: The rows that the job writes.
        masks: Words in each row's suggestion, -1 for a whole sentence, int64 ``[row]``.
    """
    by_pair = [*_lengths(kept)]
    if "corpus" in table.column_names and "source_tokens" in table.column_names:
        table = _only(table, kept)
        if "links" in table.column_names:
            by_pair += _links(table)
    histograms = _by_corpus(kept, by_pair)
    if data is not None and "corpus" in data.column_names:
        if "tags" in data.column_names:
            histograms |= _by_corpus(data, _tags(data, table))
        if masks is not None:
            rows = np.flatnonzero(masks >= 0)
            histograms |= _by_corpus(data, [Values("mask", masks[rows], rows)])
    return histograms


def _only(table: pa.Table, kept: pa.Table) -> pa.Table:
    if table.num_rows == kept.num_rows:
        return table
    return table.filter(pc.is_in(table.column("id"), chunk_of(kept.column("id"))))


def _by_corpus(table: pa.Table, by_row: Iterable[Values]) -> Bars:
    """Count values by the corpora of a table's rows; the groups of the values are these rows."""
    names = table.column("corpus").cast(pa.string()).combine_chunks().dictionary_encode()
    corpora = names.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    by_corpus = [each._replace(groups=corpora[each.groups]) for each in by_row]
    return count_by_group(by_corpus, names.dictionary.to_pylist())


def _lengths(kept: pa.Table) -> Iterator[Values]:
    sides = {
        side: pc.utf8_length(kept.column(side)).to_numpy().astype(np.int64)
        for side in ("source", "target")
    }
    rows = np.arange(kept.num_rows)
    for side, lengths in sides.items():
        yield Values(f"{side}_length", lengths, rows)
    yield Values("ratio", 100 * sides["target"] // np.maximum(1, sides["source"]), rows)


def _links(table: pa.Table) -> Iterator[Values]:
    offsets, links = fields_of(table.column("links"))
    sides = (offsets_of(table.column("source_tokens")), offsets_of(table.column("target_tokens")))
    numbers = np.diff(offsets)
    row = np.repeat(np.arange(table.num_rows), numbers)
    inside = slice(int(offsets[0]), int(offsets[-1]))
    if "probability" in links:
        # Whole millionths: the sum of whole numbers does not depend on their order.
        parts = np.rint(links["probability"][inside].astype(np.float64) * 1e6).astype(np.int64)
        sums = _sums(parts, offsets - offsets[0])
        rows = np.flatnonzero(numbers)
        yield Values("confidence", sums[rows] // (10_000 * numbers[rows]), rows)
    linked = tokens = np.zeros(table.num_rows, np.int64)
    for side, starts in zip(("source", "target"), sides, strict=True):
        starts -= starts[0]
        marked = np.zeros(starts[-1], np.int64)
        marked[starts[row] + links[side][inside]] = 1
        linked = linked + _sums(marked, starts)
        tokens = tokens + np.diff(starts)
    rows = np.flatnonzero(tokens)
    yield Values("coverage", 100 * linked[rows] // tokens[rows], rows)


def _sums(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    return np.diff(np.concatenate([[0], np.cumsum(values)])[offsets])


def _tags(data: pa.Table, table: pa.Table) -> Iterator[Values]:
    """Return the values of tags to count; a tag in two parts is one tag with two spans."""
    offsets, tags = fields_of(data.column("tags"), "index", "source_start", "source_end")
    inside = slice(int(offsets[0]), int(offsets[-1]))
    row = np.repeat(np.arange(data.num_rows), np.diff(offsets))
    index, start, end = (tags[name][inside] for name in ("index", "source_start", "source_end"))
    start, end = start.astype(np.int64), end.astype(np.int64)
    rows = np.flatnonzero(np.diff(offsets))
    yield Values("tags", distinct_by_row(row, index, data.num_rows)[rows], rows)
    nonempty = end > start
    row, start, end = row[nonempty], start[nonempty], end[nonempty]
    yield Values("depth", _depths(row, start, end, data.num_rows)[rows], rows)
    if "source_tokens" in table.column_names and "id" in table.column_names:
        yield Values("span", _tokens_within(data, table, row, start, end), row)


def distinct_by_row(row: np.ndarray, values: np.ndarray, rows: int) -> np.ndarray:
    """Return how many different values each row has, int64 ``[row]``.

    Args:
        row: The row of each value, ascending, int64.
        values: The values, not negative.
        rows: Number of rows.
    """
    # A stable sort takes little time where most is in order, as here; the default does not.
    both = np.sort(row << 32 | values.astype(np.int64), kind="stable")
    first = np.ones(len(both), np.bool_)
    first[1:] = both[1:] != both[:-1]
    return np.bincount(both[first] >> 32, minlength=rows)


def _depths(row: np.ndarray, start: np.ndarray, end: np.ndarray, rows: int) -> np.ndarray:
    """Return the largest number of spans over one character, int64 ``[row]``."""
    # At one place, spans end (an even number) before others begin (an odd one).
    places = np.sort(
        np.concatenate([row << 33 | start << 1 | 1, row << 33 | end << 1]), kind="stable"
    )
    depth = np.cumsum(2 * (places & 1) - 1)  # 0 at the end of each row, where the next one starts
    numbers = 2 * np.bincount(row, minlength=rows)
    with_spans = np.flatnonzero(numbers)
    most = np.zeros(rows, np.int64)
    if len(with_spans):
        most[with_spans] = np.maximum.reduceat(depth, (np.cumsum(numbers) - numbers)[with_spans])
    return most


def _tokens_within(
    data: pa.Table, table: pa.Table, row: np.ndarray, start: np.ndarray, end: np.ndarray
) -> np.ndarray:
    """Return how many source tokens begin within each span, int64 ``[span]``."""
    offsets, tokens = fields_of(table.column("source_tokens"))
    inside = slice(int(offsets[0]), int(offsets[-1]))
    pair = np.repeat(np.arange(table.num_rows), np.diff(offsets))
    shown = tokens["end"][inside] > tokens["start"][inside]
    begin = np.sort((pair << 32 | tokens["start"][inside].astype(np.int64))[shown], kind="stable")
    places = pc.index_in(chunk_of(data.column("id")), chunk_of(table.column("id")))
    pair_key = places.to_numpy(zero_copy_only=False).astype(np.int64)[row] << 32
    return np.searchsorted(begin, pair_key | end) - np.searchsorted(begin, pair_key | start)
