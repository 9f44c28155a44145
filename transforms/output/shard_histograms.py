"""Histograms of a shard by corpus, for its receipt: lengths, links, tags and masks."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.arrow.flat_columns import chunk_of, fields_of, lengths_of
from pairweave.transforms.counts.histograms import Bars, Values, count_by_group
from pairweave.transforms.kernels.row_counts import (
    count_tokens,
    distinct_by_row,
    find_depths,
    sums_of_millionths,
)
from pairweave.transforms.kernels.text.spans import FlatSpans


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


def _links(table: pa.Table) -> list[Values]:
    offsets, links = fields_of(table.column("links"))
    numbers = np.diff(offsets)
    tokens = lengths_of(table.column("source_tokens")) + lengths_of(table.column("target_tokens"))
    rows = np.flatnonzero(tokens)
    linked = distinct_by_row(offsets, links["source"]) + distinct_by_row(offsets, links["target"])
    coverage = Values("coverage", 100 * linked[rows] // tokens[rows], rows)
    if "probability" not in links:
        return [coverage]
    rows = np.flatnonzero(numbers)
    sums = sums_of_millionths(offsets, links["probability"])
    return [Values("confidence", sums[rows] // (10_000 * numbers[rows]), rows), coverage]


def _tags(data: pa.Table, table: pa.Table) -> list[Values]:
    """Return the values of tags to count; a tag in two parts is one tag with two spans."""
    tokens = _source_tokens(data, table)
    offsets, tags = fields_of(data.column("tags"), "index", "source_start", "source_end")
    spans = FlatSpans(offsets, tags["source_start"], tags["source_end"])
    rows = np.flatnonzero(np.diff(offsets))
    values = [
        Values("tags", distinct_by_row(offsets, tags["index"])[rows], rows),
        Values("depth", find_depths(spans)[rows], rows),
    ]
    if tokens is not None:
        inside = slice(int(offsets[0]), int(offsets[-1]))
        counts = count_tokens(spans, *tokens)[inside]
        row = np.repeat(np.arange(data.num_rows), np.diff(offsets))
        values.append(Values("span", counts[counts >= 0], row[counts >= 0]))
    return values


def _source_tokens(data: pa.Table, table: pa.Table) -> tuple[np.ndarray, FlatSpans] | None:
    """Return the pair of each row ``[row]`` and the pairs' tokens; None if there are none."""
    if "source_tokens" not in table.column_names or "id" not in table.column_names:
        return None
    offsets, fields = fields_of(table.column("source_tokens"))
    pairs = pc.index_in(chunk_of(data.column("id")), chunk_of(table.column("id")))
    return pairs.to_numpy(), FlatSpans(offsets, fields["start"], fields["end"])
