"""The input of a stage of the local runner: shuffled groups in a file, and their bundles."""

# Beam types these parts as Any, and its coders take positional booleans (FBT003).
# ruff: noqa: ANN401, FBT003

import collections
import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

from apache_beam.coders.coder_impl import create_InputStream, create_OutputStream
from apache_beam.runners.portability.fn_api_runner import execution
from apache_beam.transforms.window import GlobalWindow, GlobalWindows
from apache_beam.utils import windowed_value

from pairweave.transforms.arrow import exchange

BUNDLES = 256
"""The approximate maximum number of bundles in a stage: each costs a few milliseconds."""

BUNDLE_BYTES = 64 << 20
"""A bundle of several groups is closed when it reaches this size."""

MEMORY_BYTES = 64 << 20
"""Amount of data that one shuffle keeps in memory before it writes to its file."""

_ON_TIME = windowed_value.PaneInfo(
    is_first=True,
    is_last=True,
    timing=windowed_value.PaneInfoTiming.ON_TIME,
    index=0,
    nonspeculative_index=0,
)

Piece = list[bytes]


class SpilledGroups:
    """The grouped input of one GroupByKey: values in a file, their positions in memory.

    It replaces Beam's `GroupingBuffer` and takes over its coders.
    """

    cleared = False

    def __init__(self, buffer: execution.GroupingBuffer) -> None:
        self._decoder = buffer._pre_grouped_coder.get_impl()
        self._key_coder = buffer._key_coder
        self._value_coder = buffer._pre_grouped_coder.value_coder()
        self._encoder = buffer._post_grouped_coder.get_impl()
        self._places: dict[bytes, list[tuple[int, int]]] = collections.defaultdict(list)
        self._file = tempfile.SpooledTemporaryFile(MEMORY_BYTES)  # noqa: SIM115 - see close
        # Closed with the run, or sooner when no stage is left that reads it.
        self.close = weakref.finalize(self, self._file.close)
        self._end = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._places)

    def append(self, elements: bytes) -> None:
        """Add encoded (key, value) elements.

        Raises:
            MachineError: The disk is full.
        """
        stream = create_InputStream(elements)
        with self._lock:
            self._file.seek(self._end)
            while stream.size() > 0:
                key, value = self._decoder.decode_from_stream(stream, True).value
                encoded = self._value_coder.encode(value)
                self._places[self._key_coder.encode(key)].append((self._end, len(encoded)))
                try:
                    self._file.write(encoded)
                except OSError as error:
                    raise exchange.unwritable(error, len(encoded)) from error
                self._end += len(encoded)

    def extend(self, other: object) -> None:
        """Add another buffer's content; a buffer of another kind is always empty."""
        if isinstance(other, SpilledGroups) and other is not self:
            for group in other:
                self.append(group)

    def copy(self) -> "SpilledGroups":
        """Return itself, because it can be read any number of times."""
        return self

    def __iter__(self) -> Iterator[bytes]:
        """Yield each group as an encoded (key, values) element."""
        for encoded_key, places in self._places.items():
            with self._lock:
                values = []
                for start, size in places:
                    self._file.seek(start)
                    values.append(self._value_coder.decode(self._file.read(size)))
            element = GlobalWindows.windowed_value(
                (self._key_coder.decode(encoded_key), values),
                timestamp=GlobalWindow().max_timestamp(),
                pane_info=_ON_TIME,
            )
            stream = create_OutputStream()
            self._encoder.encode_to_stream(element, stream, True)
            yield stream.get()

    def partition(self, parts: int) -> list[Piece]:
        """Divide the groups; only Beam calls this."""
        groups = list(self)
        return [groups[part::parts] for part in range(parts)]

    def clear(self) -> None:
        """Do nothing: the file is deleted with the buffer."""

    def reset(self) -> None:
        """Do nothing."""


def pieces(buffer: Any, workers: int) -> Iterator[Piece]:
    """Cut the input of a stage into bundles."""
    if isinstance(buffer, SpilledGroups):
        count, groups = len(buffer), iter(buffer)
    elif isinstance(buffer, execution.GroupingBuffer):
        # As many parts as groups: one group a part.
        parts = buffer.partition(max(1, len(buffer._table)))
        count, groups = len(parts), (group for part in parts for group in part)
    else:
        for part in buffer.partition(workers):
            yield from _bundles(part, len(part))
        return
    yield from _bundles(groups, -(-count // BUNDLES))


def _bundles(groups: Iterable[bytes], most: int) -> Iterator[Piece]:
    """Combine at most ``most`` groups into a bundle, or fewer if they are large."""
    bundle: Piece = []
    size = 0
    for group in groups:
        bundle.append(group)
        size += len(group)
        if len(bundle) >= most or size >= BUNDLE_BYTES:
            yield bundle
            bundle, size = [], 0
    if bundle:
        yield bundle
