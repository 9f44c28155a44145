"""Temporary files that killed processes left in a table."""

from pathlib import Path

from pairweave.transforms.storage import disk_files, files


def delete(table: str) -> None:
    """Delete the temporary files of dead writers; those of living writers stay.

    There are no such files in a store.
    """
    if files.is_uri(table):
        return
    for name in files.list_below(table):
        path = Path(table, name)
        if path.name.startswith(disk_files.PREFIX) and disk_files.is_dead(path):
            path.unlink(missing_ok=True)
