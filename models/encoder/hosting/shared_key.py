"""The key by which the processes of one run recognize each other when they share an encoder.

Beam lets processes share an object through a loopback port, protected by a key that is the same for
every run. Each run therefore has its own key in its private temporary directory.
"""

import tempfile
from pathlib import Path

from apache_beam.utils import multi_process_shared

from pairweave.transforms.storage import disk_files


def use() -> None:
    """Make this process use and require the run's own key, if there is one."""
    path = Path(tempfile.gettempdir(), disk_files.KEY)
    # In a temporary directory open to all users, anyone could write a file of that name.
    if path.is_file() and path.parent.stat().st_mode & 0o077 == 0:
        multi_process_shared.AUTH_KEY = path.read_bytes()
