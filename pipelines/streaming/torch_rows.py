"""A stream as a data set of torch."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import torch.utils.data


class SharedRows(Protocol):
    """Rows that several readers can share, each from its own position."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield rows from the current position on."""

    def state_dict(self) -> dict[str, int]:
        """Return the position."""

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Go to a position."""

    def shared(self, rank: int, ranks: int) -> "SharedRows":
        """Return one of several readers that share the rows."""


class TorchRows(torch.utils.data.IterableDataset):  # type: ignore[misc]
    """The rows of a stream; the workers of a loader share its windows.

    It has the position of a ``RowStream``, which torchdata's ``StatefulDataLoader`` saves and
    restores. When a pass has ended, the next one has the same rows, however many workers a loader
    has and however long they live.
    """

    def __init__(self, stream: SharedRows) -> None:
        self._stream = stream
        self._first: dict[str, int] | None = None
        self._ended = False
        self._own: SharedRows | None = None
        self._share: tuple[int, int] | None = None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of this process's worker."""
        first = self._first_position()
        if self._ended:
            self._stream.load_state_dict(first)
            self._own = None
        self._ended = False
        yield from self._reader()
        self._ended = True

    def state_dict(self) -> dict[str, int]:
        """Return the position of this process's worker."""
        return self._reader().state_dict()

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Go to a position, with as many workers as when it was saved."""
        self._first_position()
        self._reader().load_state_dict(state)
        self._ended = False

    def _first_position(self) -> dict[str, int]:
        """Return where the first pass begins; called before anything is read, to remember it."""
        if self._first is None:
            self._first = self._stream.state_dict()
        return self._first

    def _reader(self) -> SharedRows:
        """Return the reader of this process's worker.

        A worker is a copy of this object, which may have been read before there were workers.
        """
        worker = torch.utils.data.get_worker_info()
        share = None if worker is None else (worker.id, worker.num_workers)
        if self._own is None or share != self._share:
            self._own = self._stream if share is None else self._stream.shared(*share)
            self._share = share
        return self._own
