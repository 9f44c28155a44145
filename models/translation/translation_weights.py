"""The file of a trained model's weights, from which other models can be trained. No pickle."""

import hashlib
from pathlib import Path

import orjson
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files


def write_weights(path: Path, model: torch.nn.Module, about: dict[str, str]) -> None:
    """Write the weights of a model; the same weights and facts give the same bytes.

    Args:
        path: The file.
        model: The model.
        about: Facts about the weights to store in the file.

    Raises:
        OSError: The file cannot be written.
    """
    tensors = {name: weight.detach().cpu() for name, weight in model.named_parameters()}
    files.write_bytes(str(path), _in_order(save(tensors, metadata=about), about))


def _in_order(data: bytes, about: dict[str, str]) -> bytes:
    """Put the facts of a file in the dictionary's order, which safetensors does not keep."""
    size = int.from_bytes(data[:8], "little")
    header = orjson.loads(data[8 : 8 + size])
    if about:
        header["__metadata__"] = about
    return data[:8] + orjson.dumps(header).ljust(size) + data[8 + size :]


def weights_digest(path: Path) -> str:
    """Return the hex SHA-256 of a file of weights."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_facts(path: Path) -> dict[str, str]:
    """Return the facts in a file of weights.

    Raises:
        ConfigError: The file is damaged.
    """
    try:
        with safe_open(path, "pt") as file:
            return file.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> ConfigError:
    return ConfigError(f"{path}: is damaged ({error}); delete it to train it again")


def load_weights(path: Path, model: torch.nn.Module) -> None:
    """Load the weights of a file into a model.

    Raises:
        ConfigError: The file is damaged, or belongs to a model with other sizes.
    """
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise _damaged(path, error) from error
    own = dict(model.named_parameters())
    if {name: tensor.shape for name, tensor in tensors.items()} != {
        k: v.shape for k, v in own.items()
    }:
        raise ConfigError(
            f"{path}: belongs to a model with other sizes; delete it to train it again"
        )
    with torch.no_grad():
        for name, weight in own.items():
            weight.copy_(tensors[name])
