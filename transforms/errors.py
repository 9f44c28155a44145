"""Errors, sorted by who acts on them."""

import errno
import os


class PairweaveError(Exception):
    """Base of all errors that this package raises on purpose."""


class ConfigError(PairweaveError):
    """An error that the user must fix; raised before the graph runs (exit 2)."""


class ClaimedError(ConfigError):
    """A directory that belongs to another run."""


class InputError(ConfigError):
    """A whole input file (or pair of files) that cannot be used.

    Attributes:
        code: A stable reason code, such as ``gzip_truncated``.
        path: The file as the user named it.
        message: The fault, without the place.
        line: The line of a text file, from 1; None if it is not about one line.
    """

    def __init__(self, code: str, path: str, message: str, line: int | None = None) -> None:
        """Build the message ``path: message [code]``, or ``path:line: message [code]``."""
        place = path if line is None else f"{path}:{line}"
        super().__init__(f"{place}: {message} [{code}]")
        self.code = code
        self.path = path
        self.message = message
        self.line = line

    def __reduce__(self) -> tuple[type["InputError"], tuple[str, str, str, int | None]]:
        """Survive pickling between worker and launcher."""
        return type(self), (self.code, self.path, self.message, self.line)


class IrregularFileError(OSError):
    """A pipe or device instead of a file that can be read more than once, or replaced."""


PATH_ERRORS = (
    *(FileExistsError, FileNotFoundError, IsADirectoryError),
    *(IrregularFileError, NotADirectoryError, PermissionError),
)
"""Errors that a path given by the user can cause."""


class WorkerError(PairweaveError):
    """A fault of the environment on a worker; the runner retries it (exit 1)."""


class MachineError(WorkerError):
    """A fault of the machine, such as a full disk: any shard would fail (exit 1)."""


class FullError(MachineError):
    """A disk, quota or size limit without room: the user must make some (exit 2)."""


FULL = frozenset({errno.ENOSPC, errno.EFBIG, errno.EDQUOT})
"""Error numbers that mean that a file has no room: disk full, file too large, quota used up."""


PLACE_ERRORS = frozenset({errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP}) | FULL
"""Further error numbers that the user must fix, with another place for a file or more room."""


def worker_error(message: str) -> WorkerError:
    """Return the error with a message; its class says who has to act.

    Args:
        message: The message, with that of the system if a file was to be written.

    >>> type(worker_error("model: cannot be written: No space left on device")).__name__
    'FullError'
    """
    is_full = any(os.strerror(number) in message for number in FULL)
    return FullError(message) if is_full else WorkerError(message)


class SetAsideError(PairweaveError):
    """Shards that failed on every attempt, while all others were finished (exit 3)."""


def unreadable(place: str, error: OSError, advice: str = "") -> WorkerError:
    """Return the error for a file of a run or a model that cannot be read.

    Args:
        place: The file.
        error: The reason. Only a missing file is not a fault of the machine.
        advice: The text after the reason.
    """
    kind = WorkerError if isinstance(error, FileNotFoundError) else MachineError
    return kind(f"{place}: cannot be read: {error.strerror or error}{advice}")
