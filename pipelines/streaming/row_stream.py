"""Rows of finished runs with new tags in every epoch: what `pairweave.stream` returns."""

import functools
import hashlib
import itertools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pairweave.pipelines.command_line import validation
from pairweave.pipelines.streaming.stream_options import StreamedTagOptions
from pairweave.pipelines.streaming.streamed_runs import open_stream
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.kept_links import COLUMN
from pairweave.transforms.streaming.tag_stream import Position, TagStream

if TYPE_CHECKING:
    import datasets
    import torch.utils.data

Row = dict[str, Any]

_MARK = "stream"
"""Key in a position for the stream that it belongs to: a number, like the other keys."""


class RowStream:
    """Tagged pairs of finished runs, with new tags and a new order in every epoch.

    Iteration continues from the current position to the end of the last epoch. The same options
    give the same rows on every machine; with several ranks, each reads some of the windows.
    """

    def __init__(
        self, stream: TagStream, columns: Sequence[str], rank: int = 0, ranks: int = 1
    ) -> None:
        """Start at the beginning.

        Args:
            stream: The rows.
            columns: The columns of a row.
            rank: Which of the readers this is, from 0.
            ranks: Number of readers that share the rows.

        Raises:
            ConfigError: There is no such rank.
        """
        try:
            rank, ranks = operator.index(rank), operator.index(ranks)
        except TypeError as error:
            raise ConfigError(f"rank {rank!r} of {ranks!r}: give whole numbers") from error
        if not 0 <= rank < ranks:
            raise ConfigError(f"rank {rank} of {ranks}: ranks are counted from 0")
        self._stream, self._columns = stream, list(columns)
        self._rank, self._ranks = rank, ranks
        self._at = Position(0, 0)

    def __iter__(self) -> Iterator[Row]:
        """Yield rows from the current position on; the position moves with each row."""
        for position, rows in self._windows():
            for number, row in enumerate(rows.to_pylist(), position.row):
                self._at = Position(position.epoch, position.window, number + 1)
                yield row

    def batches(self) -> Iterator[pa.Table]:
        """Yield tables of rows from the current position on, much faster than single rows."""
        for position, rows in self._windows():
            self._at = Position(position.epoch, position.window, position.row + rows.num_rows)
            yield rows

    def state_dict(self) -> dict[str, int]:
        """Return the position after the last row that was yielded."""
        return {**self._at._asdict(), _MARK: self._mark}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Go to a position that `state_dict` returned, in a stream with the same options.

        ``epoch``, ``window`` and ``row`` alone are a position of any stream.

        Raises:
            ConfigError: It is not a position, or it belongs to a stream whose rows or order differ.
        """
        try:
            position = Position(*(operator.index(state[name]) for name in Position._fields))
        except (KeyError, TypeError) as error:
            raise ConfigError(
                f"{state!r} is not a position of a stream; give what state_dict returned"
            ) from error
        if state.get(_MARK, self._mark) != self._mark:
            raise ConfigError(
                "this position was saved by a stream with other runs, other options, or another "
                "number of ranks or workers, so it would repeat some rows and skip others; open "
                "the stream as it was then, or begin at an epoch: "
                f"{{'epoch': {position.epoch}, 'window': 0, 'row': 0}}"
            )
        self._at = position

    @functools.cached_property
    def _mark(self) -> int:
        digest = hashlib.sha256(f"{self._stream.mark} {self._ranks}".encode()).digest()
        return int.from_bytes(digest[:6], "big")  # exact in JSON, too

    def to_torch(self) -> "torch.utils.data.IterableDataset[Row]":
        """Return a data set for ``torch.utils.data.DataLoader``, whose workers share the rows."""
        from pairweave.pipelines.streaming.torch_rows import TorchRows

        return TorchRows(self)

    def to_datasets(self) -> "datasets.IterableDataset":
        """Return a data set of the library ``datasets``, with one shard for each window.

        Its own ``state_dict`` resumes it; the position of this object is ignored.
        """
        import datasets

        windows = [(at.epoch, at.window) for at in self._own_positions(Position(0, 0))]
        arguments = {"stream": self, "windows": windows}
        return datasets.IterableDataset.from_generator(rows_of_windows, gen_kwargs=arguments)

    def shared(self, rank: int, ranks: int) -> "RowStream":
        """Return one of several readers that share the rows of this one, at the same position."""
        whole = self._rank + self._ranks * rank, self._ranks * ranks
        reader = RowStream(self._stream, self._columns, *whole)
        reader._at = self._at
        return reader

    def rows_of(self, epoch: int, window: int) -> pa.Table:
        """Return all rows of a window, in their order."""
        return self._stream.window(epoch, window).rows.select(self._columns)

    def _windows(self) -> Iterator[tuple[Position, pa.Table]]:
        for position in self._own_positions(self._at):
            self._at = position
            yield position, self.rows_of(position.epoch, position.window).slice(position.row)
        self._at = Position(self._stream.config.epochs, 0)

    def _own_positions(self, start: Position) -> Iterator[Position]:
        """Yield the windows of this rank, counted over all epochs."""
        for position in self._stream.positions(start):
            number = position.epoch * self._stream.windows + position.window
            if number % self._ranks == self._rank:
                yield position


def rows_of_windows(stream: RowStream, windows: Iterable[tuple[int, int]]) -> Iterator[Row]:
    """Yield the rows of some windows."""
    for epoch, window in windows:
        yield from stream.rows_of(epoch, window).to_pylist()


def open_rows(
    runs: Sequence[str],
    options: Mapping[str, Any],
    columns: Sequence[str] = ("source", "target"),
    rank: int = 0,
    ranks: int = 1,
) -> RowStream:
    """Open finished runs as rows.

    Args:
        runs: Their directories.
        options: Options of ``pairweave stream``.
        columns: See `pairweave.stream`.
        rank: See `pairweave.stream`.
        ranks: See `pairweave.stream`.

    Raises:
        ConfigError: An option or a run cannot be used.
    """
    values = {**options, "runs": tuple(runs)}
    validation.check_keys(values, list(StreamedTagOptions.model_fields))
    chosen = validation.validate(StreamedTagOptions, values, "pairweave stream")
    if isinstance(columns, str):
        raise ConfigError(f"columns: give a list of names, such as [{columns!r}], not a text")
    columns, names = list(columns), [*schemas.TAGGED.names, COLUMN]
    odd = next(itertools.filterfalse(names.__contains__, columns), None)
    if odd is not None:
        raise ConfigError(f"columns: no column {odd}; the columns are {', '.join(names)}")
    stream = open_stream(chosen, links=COLUMN in columns)
    rows = RowStream(stream, columns, rank, ranks)
    windows = stream.config.epochs * stream.windows
    if ranks > windows:
        raise ConfigError(
            f"{ranks} ranks share the windows of all epochs, but there are {windows:,}, so some "
            f"would have no rows; give a smaller window than {chosen.window:,}, or fewer ranks"
        )
    return rows
