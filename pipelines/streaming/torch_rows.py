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
        self._first = stream.state_dict()
        self._own: SharedRows | None = None
        self._ended = False

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of this process's worker."""
        if self._own is None:
            self._own = self._of_worker()
            self._first = self._own.state_dict()
        elif self._ended:
            self._own.load_state_dict(self._first)
        self._ended = False
        yield from self._own
        self._ended = True

    def state_dict(self) -> dict[str, int]:
        """Return the position of this process's worker."""
        return (self._own or self._stream).state_dict()

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Go to a position, with as many workers as when it was saved."""
        self._own = self._of_worker()
        self._own.load_state_dict(state)
        self._ended = False

    def _of_worker(self) -> SharedRows:
        worker = torch.utils.data.get_worker_info()
        return (
            self._stream if worker is None else self._stream.shared(worker.id, worker.num_workers)
        )
