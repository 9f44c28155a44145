"""Tell paths on a disk from URIs of object stores; for modules that do not use Beam."""

from pathlib import Path

from pairweave.transforms.errors import ConfigError


def is_uri(path: str) -> bool:
    """Tell whether a path names an object store.

    >>> is_uri("gs://bucket/a.gz"), is_uri("data/a.gz")
    (True, False)
    """
    return "://" in path


def on_disk(path: str) -> Path:
    """Return a path on a disk, for files that cannot be read from an object store.

    Raises:
        ConfigError: It names an object store.
    """
    if is_uri(path):
        raise ConfigError(f"{path}: can only be read from a disk; copy it there and give that path")
    return Path(path)
