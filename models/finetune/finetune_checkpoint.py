"""The state of unfinished training: weights, moments of AdamW, losses. No pickle."""

import dataclasses
import json
import os
from pathlib import Path

import torch
import xxhash
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from pairweave.transforms.errors import worker_error
from pairweave.transforms.storage import disk_files

CHECKPOINT = "_checkpoint.safetensors"


_MOMENTS = ("step", "exp_avg", "exp_avg_sq")


@dataclasses.dataclass
class State:
    """The progress of training.

    Attributes:
        key: Digest of everything that determines the weights.
        updates: Updates made.
        losses: Loss of each objective ``[update]``.
    """

    key: str
    updates: int
    losses: dict[str, list[float]]


def write_state(
    path: Path, state: State, model: torch.nn.Module, optimizer: torch.optim.Optimizer
) -> None:
    """Write the state atomically: a reader sees either the old state or the new one.

    Raises:
        FullError: There is no room for it.
        WorkerError: It cannot be written for another reason.
    """
    tensors = {}
    for name, weight in model.named_parameters():
        tensors[f"weight.{name}"] = weight.detach()
        for moment in _MOMENTS:
            if moment in optimizer.state[weight]:
                tensors[f"{moment}.{name}"] = optimizer.state[weight][moment]
    tensors = {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}
    text = json.dumps(dataclasses.asdict(state))
    metadata = {"state": text, "digest": _digest(text, tensors)}
    temporary = path.with_name(disk_files.name_for(path.name))
    try:
        save_file(tensors, temporary, metadata=metadata)
        sync_and_rename(temporary, path)
    except (OSError, SafetensorError) as error:
        temporary.unlink(missing_ok=True)
        raise worker_error(f"{path}: the state cannot be written: {error}") from error


def sync_and_rename(temporary: Path, path: Path) -> None:
    """Flush a written file to the disk, then give it its final name.

    Raises:
        OSError: The file cannot be flushed or renamed.
    """
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(path)


def _digest(state: str, tensors: dict[str, torch.Tensor]) -> str:
    """Return a hash of a state and of its tensors, which safetensors itself does not check."""
    digest = xxhash.xxh3_128(state.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).numpy())
    return digest.hexdigest()


def read_state(
    path: Path, key: str, model: torch.nn.Module, optimizer: torch.optim.Optimizer
) -> State | None:
    """Read a saved state into a model and its optimizer.

    Returns:
        The state; None if it is missing, damaged, or has another key.
    """
    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            state = State(**json.loads(metadata["state"]))
            if state.key != key:
                return None
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if metadata["digest"] != _digest(metadata["state"], tensors):
            return None
    except (SafetensorError, OSError, KeyError, TypeError, ValueError):
        return None
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(tensors[f"weight.{name}"])
            if f"{_MOMENTS[0]}.{name}" not in tensors:
                continue
            moments = {moment: tensors[f"{moment}.{name}"] for moment in _MOMENTS}
            optimizer.state[weight] = {
                moment: value if moment == "step" else value.to(weight.device)
                for moment, value in moments.items()
            }
    return state
