"""Finding an encoder's files and checking that they are safe to read. No torch."""

import dataclasses
import json
import re
from pathlib import Path

from pairweave.models.model_directory import require_regular
from pairweave.models.weights.pickled_weights import (
    OF_TORCH,
    looks_pickled,
    refuse_directory,
    refuse_file,
    refuse_named,
)
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage.disk_files import on_disk

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_WANTED = ("*.json", "*.safetensors", "*.txt", "*.model", "*.spm")
_MAX_HEADER_BYTES = 100_000_000
"""Limit of the safetensors format."""


@dataclasses.dataclass(frozen=True, slots=True)
class ModelFiles:
    """The files of an encoder.

    Attributes:
        directory: Its directory.
        weights: Its safetensors files, sorted.
        others: Files of its configuration and tokenizer, sorted.
    """

    directory: Path
    weights: tuple[Path, ...]
    others: tuple[Path, ...]


def find_model(name: str, revision: str | None = None) -> ModelFiles:
    """Find an encoder, and refuse one whose weights are pickled.

    Args:
        name: A directory, or a hub name to download (or find in the hub's cache).
        revision: Branch, tag or commit of a hub model.

    Raises:
        ConfigError: There is no such model, or it has no safetensors (with a way to convert).
    """
    path = on_disk(name).expanduser()
    if path.is_file():
        raise refuse_file(path)
    if not path.is_dir():
        if not _HUB_NAME.fullmatch(name) or name.startswith(("./", "../")):
            raise ConfigError(f"{name}: neither a directory nor a hub name (OWNER/MODEL)")
        path = _download(name, revision)
    elif revision is not None:
        raise ConfigError(f"{name}: a local directory has no revision, got {revision!r}")
    return inspect_model(path)


def require_safetensors(directory: Path) -> None:
    """Refuse a model's directory whose weights are all pickled; accept one without weights.

    Raises:
        ConfigError: The weights are pickled (with a way to convert them), or an entry is not a
            regular file.
    """
    require_regular(directory)
    files = sorted(path for path in directory.iterdir() if path.is_file())
    pickled = any(path.suffix in OF_TORCH for path in files)
    if pickled and not any(path.suffix == ".safetensors" for path in files):
        raise refuse_directory(directory, files)


def inspect_model(directory: Path) -> ModelFiles:
    """List a directory's files and check its weights.

    Raises:
        ConfigError: A file is missing, not a regular file, pickled or damaged.
    """
    require_regular(directory)
    files = sorted(path for path in directory.iterdir() if path.is_file())
    if not (directory / "config.json").is_file():
        inner = sorted(path.parent for path in directory.glob("*/config.json"))
        inner = [path for path in inner if (path / "model.safetensors").is_file()]
        hint = f"; give {inner[0]}, which has one" if inner else ""
        raise ConfigError(f"{directory}: no config.json; expected a model of transformers{hint}")
    weights = _weight_files(directory)
    if not weights:
        raise refuse_directory(directory, files)
    for path in weights:
        _check_safetensors(path)
    # Files whose names begin with an underscore are records of a run, not parts of the model.
    others = tuple(
        path
        for path in files
        if path.suffix in (".json", ".txt", ".model", ".spm") and not path.name.startswith("_")
    )
    return ModelFiles(directory, weights, others)


def _weight_files(directory: Path) -> tuple[Path, ...]:
    """Return the files of the weights: a single one, or those in the index."""
    single, index = directory / "model.safetensors", directory / "model.safetensors.index.json"
    if single.is_file():
        return (single,)
    if not index.is_file():
        return ()
    try:
        names = sorted(set(json.loads(index.read_bytes())["weight_map"].values()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{index}: not an index of weights: {error!r}") from error
    for name in names:
        if not isinstance(name, str) or "/" in name or name.startswith("."):
            raise ConfigError(f"{index}: names a file outside the model: {name!r}")
        if not name.endswith(".safetensors"):
            raise refuse_named([directory / name for name in names])
        if not (directory / name).is_file():
            raise ConfigError(f"{directory / name}: missing; {index.name} names it")
    return tuple(directory / name for name in names)


def weight_names(files: ModelFiles) -> set[str]:
    """Return the names of a model's weights, from the headers of its files."""
    names: set[str] = set()
    for path in files.weights:
        with path.open("rb") as file:
            names |= json.loads(file.read(int.from_bytes(file.read(8), "little"))).keys()
    return names - {"__metadata__"}


def _check_safetensors(path: Path) -> None:
    """Refuse a file that is named safetensors but is not, or that is incomplete.

    Raises:
        ConfigError: The file is pickled, a Git LFS pointer or damaged.
    """
    bytes_there = path.stat().st_size
    with path.open("rb") as file:
        size, brace = int.from_bytes(file.read(8), "little"), file.read(1)
        # A valid header may begin with the bytes of a pickle, so check the header first.
        if brace == b"{" and size <= _MAX_HEADER_BYTES and 8 + size <= bytes_there:
            file.seek(8)
            expected = 8 + size + _data_bytes(path, file.read(size))
            if bytes_there != expected:
                raise ConfigError(
                    f"{path}: damaged: it should have {expected:,} bytes but has "
                    f"{bytes_there:,}; copy or fetch it again"
                )
            return
    if looks_pickled(path):
        raise ConfigError(
            f"{path}: named safetensors, but its content is pickled, which can run arbitrary "
            "code; get the weights as safetensors from their publisher"
        )
    if _begins(path, b"version https://git-lfs"):
        raise ConfigError(f"{path}: a Git LFS pointer instead of weights; run: git lfs pull")
    raise ConfigError(
        f"{path}: damaged: it does not begin with a safetensors header; copy or fetch it again"
    )


def _begins(path: Path, head: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(head)) == head


def _data_bytes(path: Path, header: bytes) -> int:
    """Return the number of bytes of weights according to a safetensors header."""
    try:
        entries = json.loads(header)
        ends = [it["data_offsets"][1] for name, it in entries.items() if name != "__metadata__"]
        return int(max(ends, default=0))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise ConfigError(f"{path}: damaged: no safetensors header: {error!r}") from error


def _download(name: str, revision: str | None) -> Path:
    """Download the files of a hub model, except pickles and code.

    Raises:
        ConfigError: The hub cannot be reached, or has no such model.
    """
    from huggingface_hub import HfApi, snapshot_download

    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=list(_WANTED)))
    except (OSError, ValueError) as error:
        endpoint = HfApi().endpoint
        why = " ".join(str(error).split())
        raise ConfigError(
            f"{name}: no such directory, and downloading it from {endpoint} failed: {why}"
        ) from error
