"""The lock of a table: users of files share it; ``vacuum``, which deletes files, holds it alone.

Nights need no lock against each other (`records`). A vacuum does: a file that a night has written
and not yet committed is in no version, just like one that may be deleted. On a disk it is a lock
of the system, which ends with the process; in an object store a lease (`storage.leases`).
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from pairweave.pipelines.process import file_lock
from pairweave.pipelines.refresh.chain import records
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.storage import disk_files, files, leases
from pairweave.transforms.storage.leases import Lease

LOCK, LEASES = "lock", "leases"


_leases: dict[str, Lease] = {}
"""The leases of this process on tables in stores."""


def require_kept(table: str) -> None:
    """Check that no vacuum can have started since this process took the lock of a table.

    A lock of the system cannot be lost, a lease can.

    Raises:
        WorkerError: Its lease was not written for too long.
    """
    lease = _leases.get(table)
    if lease is not None and not lease.is_kept():
        raise WorkerError(
            f"{table}: its lease in {records.STATE}/{LEASES} was not written for over "
            f"{leases.SECONDS / 2 / 60:.0f} minutes, as when a machine stands still, so a vacuum "
            "may delete files of this night: nothing was committed; run the same command again"
        )


@contextlib.contextmanager
def held(table: str, *, alone: bool) -> Iterator[None]:
    """Hold the lock of a table; it ends with the process, however that ends.

    Args:
        table: Directory of all tables.
        alone: Whether no other process may hold it.

    Raises:
        WorkerError: It is held in a way that excludes this one.
    """
    if files.is_uri(table):
        with _leased(table, alone=alone):
            yield
        return
    path = Path(table, records.STATE, LOCK)
    disk_files.make_directories(path.parent)
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    with _locked(lock, table, alone=alone):
        yield


@contextlib.contextmanager
def reading(table: str) -> Iterator[None]:
    """Hold the lock of a table while its files are read; without one where nothing can be written.

    Raises:
        WorkerError: Its vacuum deletes files now.
    """
    if files.is_uri(table):
        with contextlib.ExitStack() as lease:
            with contextlib.suppress(PermissionError):  # as in a read-only copy
                lease.enter_context(_leased(table, alone=False))
            yield
        return
    path = Path(table, records.STATE, LOCK)
    try:
        lock = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:  # a copy on a read-only mount; `vacuum` cannot delete there either
        yield
        return
    with _locked(lock, table, alone=False):
        yield


@contextlib.contextmanager
def _locked(lock: int, table: str, *, alone: bool) -> Iterator[None]:
    """Hold the lock on an open file, which is closed in the end."""
    try:
        if not file_lock.take(lock, shared=not alone):
            raise _in_use(table, alone=alone)
        yield
    finally:
        os.close(lock)


@contextlib.contextmanager
def _leased(table: str, *, alone: bool) -> Iterator[None]:
    try:
        with leases.held(files.join(table, records.STATE, LEASES), alone=alone) as lease:
            _leases[table] = lease
            try:
                yield
            finally:
                _leases.pop(table, None)
    except leases.HeldError as error:
        raise _in_use(
            table,
            alone=alone,
            hint=f" (if it was killed, in {leases.SECONDS / 60:.0f} minutes): {error}",
        ) from error


def _in_use(table: str, *, alone: bool, hint: str = "") -> WorkerError:
    other = "a refresh or its compact, verify or export uses" if alone else "its vacuum deletes"
    return WorkerError(
        f"{table}: {other} files of it now; run the same command again when that has ended{hint}"
    )


def delete_leftovers(table: str) -> None:
    """Delete the temporary files that killed processes left in a table; those of living ones stay.

    There are no such files in a store.
    """
    if files.is_uri(table):
        return
    for name in files.list_below(table):
        path = Path(table, name)
        if path.name.startswith(disk_files.PREFIX) and disk_files.is_dead(path):
            path.unlink(missing_ok=True)
