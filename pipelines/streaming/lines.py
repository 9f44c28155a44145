"""Rows of a stream as lines for a trainer."""

import dataclasses
import re
from collections.abc import Callable, Sequence

import pyarrow as pa

from pairweave.pipelines.streaming.stream_options import StreamCommandOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.export.export import fitting
from pairweave.transforms.export.export_formats import Alignment, RowExport
from pairweave.transforms.export.export_links import add_links, find_cut
from pairweave.transforms.formats import registry
from pairweave.transforms.symbols.representations import find_representation
from pairweave.transforms.tags.tag_config import TagConfig

_BATCH_ROWS = 8_192


class Lines:
    """Writes rows as lines."""

    def __init__(self, tags: Sequence[TagConfig], options: StreamCommandOptions) -> None:
        """Choose the format.

        Args:
            tags: How the tags of each run are drawn.
            options: Options of ``stream``.

        Raises:
            ConfigError: Options contradict each other or the runs.
        """
        self._how = _format(options)
        self._unfit = options.unfit
        self._finish = _finisher(tags, options.alignment)

    def fit(self, rows: pa.Table) -> list[pa.RecordBatch]:
        """Return the rows that can be written.

        Raises:
            ConfigError: A row cannot be written, and no option says how to treat it.
        """
        batches = rows.to_batches(max_chunksize=_BATCH_ROWS)
        return [fitting(batch, self._how, self._unfit) for batch in batches]

    def write(self, batch: pa.RecordBatch) -> bytes:
        """Return rows as lines in UTF-8."""
        return self._how.write(self._finish(batch))[0]


def _format(options: StreamCommandOptions) -> RowExport:
    if options.format == "jsonl":
        for name in ("alignment", "unfit"):
            if name in options.model_fields_set:
                raise ConfigError(f"--{name} is for --format lines; leave it out")
        return registry.row_export("jsonl")
    how = registry.row_export("opustrainer")
    if options.alignment == "none":
        return how
    if options.unfit == "escape":
        raise ConfigError(
            "--unfit escape: escapes change the words that links refer to; give --unfit leave_out, "
            "or --alignment none"
        )
    assert how.linked is not None
    return dataclasses.replace(how, endings=how.linked.endings, write=how.linked.write)


def _finisher(
    tags: Sequence[TagConfig], words: Alignment
) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
    """Return a function that adds links between the words of lines."""
    if words == "none":
        return lambda batch: batch
    ways = {(_tag_pattern(each), each.whitespace_shift) for each in tags}
    if len(ways) > 1:
        raise ConfigError(
            "--alignment: the runs write their tags in different ways; give --representation, and "
            "--whitespace_shift true or false, or stream each of them by itself"
        )
    pattern, shifted = ways.pop()
    cut = find_cut(words, re.compile(pattern), shifted=shifted)
    return lambda batch: add_links(batch, words, cut)


def _tag_pattern(tags: TagConfig) -> str:
    if tags.representation == "raw":
        assert tags.profile is not None
        return tags.profile.names.pattern()
    return find_representation(tags.representation).pattern().pattern
