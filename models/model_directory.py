"""A model's directory: what is read from it must be files that can be read more than once."""

from pathlib import Path

from pairweave.transforms.errors import ConfigError

_READ = (".arrow", ".bin", ".json", ".model", ".safetensors", ".spm", ".txt")
"""Suffixes of files read from a model's directory; no directory has them."""


def require_regular(directory: Path) -> None:
    """Refuse a model's directory that has a pipe, a socket, a device or a broken link in it.

    A model is read several times, by this process and by workers; a pipe would make them wait for
    ever. Directories are left alone except where a file should be, and so are hidden names.

    Raises:
        ConfigError: There is one; says what to do.
    """
    for path in sorted(directory.iterdir()):
        if path.is_file() or path.name.startswith("."):
            continue
        wanted = path.suffix in _READ
        if path.is_symlink() and not path.exists():
            if wanted:
                raise ConfigError(
                    f"{path}: links to {path.readlink()}, which is not there; copy or fetch the "
                    "model again"
                )
        elif wanted or not path.is_dir():
            raise ConfigError(
                f"{path}: is not a regular file; put the model's own file in its place"
            )
