"""Files without room, by a limit of their size, which stands for a full disk, too."""

import contextlib
import resource


@contextlib.contextmanager
def most_bytes(most):
    """Let no file of this process grow beyond a number of bytes."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
