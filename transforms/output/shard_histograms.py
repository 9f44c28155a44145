"""Histograms of a shard by corpus, for its receipt: lengths, links, tags and masks."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.arrow.flat_columns import chunk_of, fields_of, lengths_of
from pairweave.transforms.counts.histograms import Bars, Values, count_by_group
from pairweave.transforms.kernels import row_counts
from pairweave.transforms.kernels.tags.row_tags import count_tokens, find_depths
from pairweave.transforms.kernels.text.spans import FlatSpans

_NUMBERS = 1 << 15
"""Tags and words are numbered in int16."""


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
    numbers = np.diff(offsets)
    if "probability" in links:
        rows = np.flatnonzero(numbers)
        sums = sums_of_millionths(offsets, links["probability"])
        yield Values("confidence", sums[rows] // (10_000 * numbers[rows]), rows)
    linked = tokens = np.zeros(table.num_rows, np.int64)
    for side in ("source", "target"):
        linked = linked + distinct_by_row(offsets, links[side])
        tokens = tokens + lengths_of(table.column(f"{side}_tokens"))
    rows = np.flatnonzero(tokens)
    yield Values("coverage", 100 * linked[rows] // tokens[rows], rows)


def sums_of_millionths(offsets: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the sum of each row's shares in millionths, int64 ``[row]``.

    Args:
        offsets: Start of each row's shares, int64 ``[row + 1]``.
        shares: The shares, in [0, 1], float32.
    """
    sums = np.empty(len(offsets) - 1, np.int64)
    row_counts.sum_millionths(offsets, shares, sums)
    return sums


def distinct_by_row(offsets: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return how many different numbers each row has, int64 ``[row]``.

    Args:
        offsets: Start of each row's numbers, int64 ``[row + 1]``.
        numbers: The numbers, not negative, int16.
    """
    counts = np.empty(len(offsets) - 1, np.int64)
    row_counts.count_distinct(offsets, numbers, np.full(_NUMBERS, -1, np.int64), counts)
    return counts


def _tags(data: pa.Table, table: pa.Table) -> Iterator[Values]:
    """Return the values of tags to count; a tag in two parts is one tag with two spans."""
    offsets, tags = fields_of(data.column("tags"), "index", "source_start", "source_end")
    rows = np.flatnonzero(np.diff(offsets))
    yield Values("tags", distinct_by_row(offsets, tags["index"])[rows], rows)
    spans = FlatSpans(offsets, tags["source_start"], tags["source_end"])
    yield Values("depth", find_depths(spans)[rows], rows)
    if "source_tokens" in table.column_names and "id" in table.column_names:
        tokens, fields = fields_of(table.column("source_tokens"))
        places = pc.index_in(chunk_of(data.column("id")), chunk_of(table.column("id")))
        counts = np.full(len(spans.starts), -1, np.int64)
        count_tokens(
            spans, places.to_numpy(), FlatSpans(tokens, fields["start"], fields["end"]), counts
        )
        inside = slice(int(offsets[0]), int(offsets[-1]))
        row = np.repeat(np.arange(data.num_rows), np.diff(offsets))
        yield Values("span", counts[inside][counts[inside] >= 0], row[counts[inside] >= 0])
