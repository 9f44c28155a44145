"""Leases on a place in an object store, which has no locks: an object for each holder.

A holder writes its object, and then looks for the objects of others; if two start at once, at least
one sees the other. A holder writes its object again every minute; the lease of a killed holder ends
after `SECONDS`. All times are by the clock of the store.
"""

import contextlib
import os
import platform
import threading
import uuid
from collections.abc import Iterator

import orjson

from pairweave.transforms.storage import files

SECONDS = 600.0
"""Number of seconds for which a lease is valid after it was last written."""

BEAT_SECONDS = 60.0
"""Seconds after which a lease is written again."""

_ALONE, _SHARED = "alone", "shared"


class HeldError(Exception):
    """Somebody else has a lease that excludes this one; the message says where it is."""


class Lease:
    """A lease that this process holds."""

    def __init__(self, own: str) -> None:
        """Write its object."""
        self._own = own
        self._lock = threading.Lock()
        self._has_lapsed = False
        _write(own)
        self._written = files.size_and_time(own)[1]

    def renew(self) -> None:
        """Write the object again, and record whether this was too late.

        Raises:
            OSError: The store fails.
        """
        with self._lock:
            _write(self._own)
            try:
                written = files.size_and_time(self._own)[1]
            except FileNotFoundError:  # another process deleted it, believing that it had ended
                self._has_lapsed = True
                return
            self._has_lapsed |= written - self._written > SECONDS / 2
            self._written = written

    def is_kept(self) -> bool:
        """Write the object again; tell whether this always happened within half of `SECONDS`.

        If it did not, for example because the machine was suspended, others may believe that the
        lease has ended. Half of the time is a margin for slow requests.

        Raises:
            OSError: The store fails.
        """
        self.renew()
        return not self._has_lapsed


@contextlib.contextmanager
def held(place: str, *, alone: bool) -> Iterator[Lease]:
    """Hold a lease until the block ends.

    Args:
        place: URI below which leases are.
        alone: Whether nobody else may hold a lease; otherwise others may, unless they hold it
            alone.

    Raises:
        HeldError: Somebody else holds a lease that excludes this one.
        OSError: The store fails.
    """
    own = files.join(place, f"{_ALONE if alone else _SHARED}-{uuid.uuid4().hex}.json")
    try:
        lease = Lease(own)
        _require_no_other(place, own, alone=alone)
        with _renewed(lease):
            yield lease
    finally:
        with contextlib.suppress(OSError):  # the lease ends by itself
            files.delete(own)


def _write(own: str) -> None:
    files.write_bytes(own, orjson.dumps({"machine": platform.node(), "process": os.getpid()}))


def _require_no_other(place: str, own: str, *, alone: bool) -> None:
    now = files.size_and_time(own)[1]
    for name in files.list_names(place):
        path = files.join(place, name)
        if path == own or not (alone or name.startswith(_ALONE)):
            continue
        with contextlib.suppress(FileNotFoundError):  # the lease has ended meanwhile
            if now - files.size_and_time(path)[1] < SECONDS:
                raise HeldError(path)
            files.delete(path)


@contextlib.contextmanager
def _renewed(lease: Lease) -> Iterator[None]:
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(BEAT_SECONDS):
            with contextlib.suppress(OSError):  # the next beat may reach the store
                lease.renew()

    thread = threading.Thread(target=beat, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
