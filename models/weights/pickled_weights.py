"""Refusing pickled weights, with the command that converts them. No torch.

Reading a pickle can run arbitrary code, so pairweave never reads one.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path

from pairweave.transforms.errors import ConfigError

OF_TORCH = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt")
"""Suffixes of weights that PyTorch pickles."""

_OF_OTHERS = (".joblib", ".npy", ".npz", ".h5", ".msgpack")
"""Files of weights that torch cannot convert: those of TensorFlow, Flax and NumPy."""

_STATES = ("training_args", "optimizer", "scheduler", "scaler", "rng_state")
"""Prefixes of other files that trainers save next to the weights."""

_CONVERT = (
    "import sys, torch; from safetensors.torch import save_file; w = {}; "
    "[w.update(torch.load(p, map_location='cpu', weights_only=True)) for p in sys.argv[2:]]; "
    "save_file({k: v.clone().contiguous() for k, v in w.items()}, sys.argv[1], "
    "metadata={'format': 'pt'})"
)


def looks_pickled(path: Path) -> bool:
    """Return True if a file's first bytes are those of a pickle or of PyTorch's archive of one."""
    with path.open("rb") as file:
        head = file.read(4)
    zipped = head[:2] == b"PK"
    protocol = head[:1] == b"\x80" and head[1:2] in {bytes([number]) for number in range(2, 6)}
    return zipped or protocol


def refuse_file(path: Path) -> ConfigError:
    """Return the error for a file given instead of a model's directory."""
    if path.suffix in (*OF_TORCH, *_OF_OTHERS) or looks_pickled(path):
        return _refusal([path], "it contains pickled data, which can run arbitrary code")
    return ConfigError(f"{path}: expected a model's directory, found a file; give {path.parent}")


def refuse_named(paths: Sequence[Path]) -> ConfigError:
    """Return the error for a safetensors index that names other files."""
    return _refusal(paths, "the index names weights that are not safetensors")


def refuse_directory(directory: Path, files: Sequence[Path]) -> ConfigError:
    """Return the error for a model without safetensors, with a way to convert its weights.

    Args:
        directory: The model's directory.
        files: All its files, sorted.
    """
    saved = [path for path in files if path.suffix in OF_TORCH]
    saved = [path for path in saved if not path.name.startswith(_STATES)]
    # Convert one file or its parts: other files hold the same weights in another form.
    saved = [path for path in saved if path.name.startswith("pytorch_model")] or saved[:1]
    if saved:
        return _refusal(
            saved, "the weights are pickled only, and reading them can run arbitrary code"
        )
    others = [path for path in files if path.suffix in _OF_OTHERS]
    if others:
        return ConfigError(
            f"{others[0]}: not PyTorch weights; pairweave reads safetensors only. Load the "
            "model with the library that saved it, and save it as safetensors"
        )
    return ConfigError(f"{directory}: no model.safetensors")


def _refusal(paths: Sequence[Path], why: str) -> ConfigError:
    """Return the error for pickled weights, with the command that converts them."""
    target = paths[0].with_name("model.safetensors")
    arguments = shlex.join(str(path.absolute()) for path in (target, *paths))
    return ConfigError(
        f"{paths[0]}: {why}; pairweave reads safetensors only. If you trust its origin, "
        f'convert it once:\npython -c "{_CONVERT}" {arguments}'
    )
