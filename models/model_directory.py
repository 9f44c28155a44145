"""Checks that all files that are read from a model's directory can be read repeatedly."""

from pathlib import Path

from pairweave.transforms.errors import ConfigError

_READ = (".arrow", ".bin", ".json", ".model", ".safetensors", ".spm", ".txt")
"""Suffixes of the files that are read from a model's directory; no directory may have one."""


def require_regular(directory: Path) -> None:
    """Refuse a model's directory that contains a pipe, a socket, a device or a broken link.

    A model is read several times, by this process and by workers; a pipe would block them forever.
    Hidden names are ignored, and so are directories, unless they have the suffix of a file.

    Raises:
        ConfigError: The directory contains such an entry; says what to do.
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
