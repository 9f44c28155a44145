"""Weights that would have to be unpickled: which they are, and how to convert them. No torch.

Reading a pickle can run any code, so nothing here or elsewhere reads one; the user is told the
command that converts it.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path

from pairweave.transforms.errors import ConfigError

OF_TORCH = (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt")
"""How the names end of weights that PyTorch pickles."""

_OF_OTHERS = (".joblib", ".npy", ".npz", ".h5", ".msgpack")
"""Weights that torch cannot convert: of TensorFlow, Flax and NumPy."""

_STATES = ("training_args", "optimizer", "scheduler", "scaler", "rng_state")
"""How the names begin of what trainers save beside the weights."""

_CONVERT = (
    "import sys, torch; from safetensors.torch import save_file; w = {}; "
    "[w.update(torch.load(p, map_location='cpu', weights_only=True)) for p in sys.argv[2:]]; "
    "save_file({k: v.clone().contiguous() for k, v in w.items()}, sys.argv[1], "
    "metadata={'format': 'pt'})"
)


def looks_pickled(path: Path) -> bool:
    """Tell from its first bytes whether a file is a pickle, or PyTorch's archive of one."""
    with path.open("rb") as file:
        head = file.read(4)
    zipped = head[:2] == b"PK"
    protocol = head[:1] == b"\x80" and head[1:2] in {bytes([number]) for number in range(2, 6)}
    return zipped or protocol


def refuse_file(path: Path) -> ConfigError:
    """Return the error for a file that was given in place of a model's directory."""
    if path.suffix in (*OF_TORCH, *_OF_OTHERS) or looks_pickled(path):
        return _refusal([path], "it contains pickled data, which can run arbitrary code")
    return ConfigError(f"{path}: expected a model's directory, found a file; give {path.parent}")


def refuse_named(paths: Sequence[Path]) -> ConfigError:
    """Return the error for files that an index of safetensors names, and that are none."""
    return _refusal(paths, "the index names weights that are not safetensors")


def refuse_directory(directory: Path, files: Sequence[Path]) -> ConfigError:
    """Return the error for a model without safetensors: what to do with the weights it has.

    Args:
        directory: The model's.
        files: All files of it, sorted.
    """
    saved = [path for path in files if path.suffix in OF_TORCH]
    saved = [path for path in saved if not path.name.startswith(_STATES)]
    # One file, or its parts: what else lies there is another form of the same weights.
    saved = [path for path in saved if path.name.startswith("pytorch_model")] or saved[:1]
    if saved:
        return _refusal(
            saved, "only pickled weights, which can run arbitrary code when they are read"
        )
    others = [path for path in files if path.suffix in _OF_OTHERS]
    if others:
        return ConfigError(
            f"{others[0]}: not PyTorch weights; pairweave reads safetensors only. Load the "
            "model with the library that saved it, and save it as safetensors"
        )
    return ConfigError(f"{directory}: no model.safetensors")


def _refusal(paths: Sequence[Path], why: str) -> ConfigError:
    """Say what is wrong with pickled weights, and the command that converts them."""
    target = paths[0].with_name("model.safetensors")
    arguments = shlex.join(str(path.absolute()) for path in (target, *paths))
    return ConfigError(
        f"{paths[0]}: {why}; pairweave reads safetensors only. If you trust where it comes from, "
        f'convert it once:\npython -c "{_CONVERT}" {arguments}'
    )
