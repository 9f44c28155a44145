"""The private temporary directory of one run of the command.

All temporary files of a run and its helpers (spilled shuffles, sockets, the files that Beam stages,
a Java server's own) go into one directory that only its user can enter, so that removing it removes
everything. A lock shows whether its run is still alive: the system releases it when the last
process that holds it ends, however that process ends.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pairweave.pipelines.process import file_lock
from pairweave.transforms.storage import disk_files

PREFIX = "pairweave-run-"
LOCK = "lock"
KEY_BYTES = 32
_UNLOCKED = "new-lock"


def make() -> Path:
    """Make a private directory that is locked for as long as this process or a fork of it runs.

    Raises:
        OSError: No temporary directory can be written.
    """
    directory = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = os.open(directory / _UNLOCKED, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    file_lock.take(lock, wait=True)
    (directory / disk_files.KEY).write_bytes(os.urandom(KEY_BYTES))
    # The file must never be visible unlocked under its own name: it would look like a dead run's.
    (directory / _UNLOCKED).rename(directory / LOCK)
    return directory


def use(directory: Path) -> None:
    """Make a directory the temporary one of this process and its child processes."""
    os.environ["TMPDIR"] = str(directory)
    tempfile.tempdir = None


def remove(directory: Path) -> None:
    """Remove a private directory; files that cannot be removed stay."""
    shutil.rmtree(directory, ignore_errors=True)


def remove_own(directory: str, maker: int) -> None:
    """Remove a directory, unless this process is only a fork of the one that made it."""
    if os.getpid() == maker:
        remove(Path(directory))


def sweep() -> None:
    """Remove this user's private directories whose runs are dead, as after a power failure."""
    for directory in _of_this_user(Path(tempfile.gettempdir())):
        with contextlib.suppress(OSError), (directory / LOCK).open("rb") as lock:
            if file_lock.take(lock.fileno()):
                remove(directory)


def _of_this_user(parent: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        for entry in os.scandir(parent):
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid == os.getuid():
                        yield Path(entry.path)
