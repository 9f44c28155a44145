"""The key by which the processes of one run recognize each other when they share an encoder.

Beam lets processes share an object through a port of the loopback, and guards it by a key that is
the same for everyone. In the run's private temporary directory lies a key of its own.
"""

import tempfile
from pathlib import Path

from apache_beam.utils import multi_process_shared

from pairweave.transforms.storage import disk_files


def use() -> None:
    """Make this process use and require the run's own key, if there is one."""
    path = Path(tempfile.gettempdir(), disk_files.KEY)
    # Where the temporary directory is everybody's, so would a file of that name be.
    if path.is_file() and path.parent.stat().st_mode & 0o077 == 0:
        multi_process_shared.AUTH_KEY = path.read_bytes()
