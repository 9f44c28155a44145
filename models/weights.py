"""Where an encoder's files lie, and which of them are safe to read. No torch."""

import dataclasses
import json
import re
from pathlib import Path

from transforms.errors import ConfigError

_PICKLES = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib", ".npy", ".npz", ".h5")
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_WANTED = ("*.json", "*.safetensors", "*.txt", "*.model", "*.spm")
_MOST_HEADER_BYTES = 100_000_000
"""What the safetensors format allows."""

_CONVERT = (
    'python -c "import torch; from safetensors.torch import save_file; '
    "w = torch.load('{source}', map_location='cpu', weights_only=True); "
    "save_file({{k: v.clone().contiguous() for k, v in w.items()}}, '{target}', "
    "metadata={{'format': 'pt'}})\""
)


@dataclasses.dataclass(frozen=True, slots=True)
class ModelFiles:
    """An encoder on a disk.

    Attributes:
        directory: Where it lies.
        weights: Its safetensors files, sorted.
        others: Configuration and tokenizer, sorted.
    """

    directory: Path
    weights: tuple[Path, ...]
    others: tuple[Path, ...]


def find_model(name: str, revision: str | None = None) -> ModelFiles:
    """Find an encoder, and refuse one whose weights would have to be unpickled.

    Args:
        name: A directory, or a hub name, which is downloaded (or taken from the hub's cache).
        revision: Branch, tag or commit of a hub model.

    Raises:
        ConfigError: There is no such model, or no safetensors weights; says how to convert.
    """
    path = Path(name).expanduser()
    if path.is_file():
        if path.suffix in _PICKLES or looks_pickled(path):
            raise ConfigError(_refusal(path, "it holds pickled data, which can run any code"))
        raise ConfigError(f"{name}: expected a model's directory, found a file")
    if not path.is_dir():
        if not _HUB_NAME.fullmatch(name) or name.startswith(("./", "../")):
            raise ConfigError(f"{name}: no such directory, and no hub name (OWNER/MODEL)")
        path = _download(name, revision)
    elif revision is not None:
        raise ConfigError(f"{name}: a local directory has no revision, got {revision!r}")
    return inspect_model(path)


def inspect_model(directory: Path) -> ModelFiles:
    """List a directory's files and look into its weights.

    Raises:
        ConfigError: A file is missing, pickled or damaged.
    """
    files = sorted(path for path in directory.iterdir() if path.is_file())
    if not (directory / "config.json").is_file():
        raise ConfigError(f"{directory}: no config.json; expected a model of transformers")
    weights = _weight_files(directory)
    if not weights:
        pickled = [path for path in files if path.suffix in _PICKLES]
        if pickled:
            why = "only pickled weights, which can run any code when they are read"
            raise ConfigError(_refusal(pickled[0], why))
        raise ConfigError(f"{directory}: no model.safetensors")
    for path in weights:
        _check_safetensors(path)
    # What begins with a line is a run's record and no part of the model.
    others = tuple(
        path
        for path in files
        if path.suffix in (".json", ".txt", ".model", ".spm") and not path.name.startswith("_")
    )
    return ModelFiles(directory, weights, others)


def looks_pickled(path: Path) -> bool:
    """Tell from its first bytes whether a file is a pickle, or PyTorch's archive of one."""
    with path.open("rb") as file:
        head = file.read(4)
    zipped = head[:2] == b"PK"
    protocol = head[:1] == b"\x80" and head[1:2] in {bytes([number]) for number in range(2, 6)}
    return zipped or protocol


def _weight_files(directory: Path) -> tuple[Path, ...]:
    """Return the files of the weights: one, or those that the index names."""
    single, index = directory / "model.safetensors", directory / "model.safetensors.index.json"
    if single.is_file():
        return (single,)
    if not index.is_file():
        return ()
    try:
        names = sorted(set(json.loads(index.read_bytes())["weight_map"].values()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{index}: no index of weights: {error!r}") from error
    for name in names:
        if not isinstance(name, str) or "/" in name or name.startswith("."):
            raise ConfigError(f"{index}: names a file outside the model: {name!r}")
        if not name.endswith(".safetensors"):
            raise ConfigError(_refusal(directory / name, "the index names weights that are no"))
        if not (directory / name).is_file():
            raise ConfigError(f"{directory / name}: missing; {index.name} names it")
    return tuple(directory / name for name in names)


def _check_safetensors(path: Path) -> None:
    """Refuse a file that only calls itself safetensors."""
    if looks_pickled(path):
        raise ConfigError(
            f"{path}: named safetensors, but its content is pickled, which can run any code; "
            "get the weights from where they were made, as safetensors"
        )
    with path.open("rb") as file:
        size, brace = int.from_bytes(file.read(8), "little"), file.read(1)
    if brace != b"{" or size > _MOST_HEADER_BYTES or 8 + size > path.stat().st_size:
        raise ConfigError(f"{path}: damaged: it does not begin with a safetensors header")


def _refusal(path: Path, why: str) -> str:
    """Say what is wrong with pickled weights, and the command that converts them."""
    target = path.with_name("model.safetensors")
    return (
        f"{path}: {why}; pairweave reads safetensors only. If you trust where it comes from, "
        f"convert it once:\n{_CONVERT.format(source=path, target=target)}"
    )


def _download(name: str, revision: str | None) -> Path:
    """Fetch the wanted files of a hub model; never a pickle or a program.

    Raises:
        ConfigError: The hub cannot be reached, or has no such model.
    """
    from huggingface_hub import HfApi, snapshot_download

    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=list(_WANTED)))
    except (OSError, ValueError) as error:
        endpoint = HfApi().endpoint
        raise ConfigError(
            f"{name}: no such directory here, and it cannot be fetched from {endpoint}: {error}"
        ) from error
