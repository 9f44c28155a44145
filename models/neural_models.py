"""Code shared by neural models: their location, their libraries and their threads."""

import importlib
from pathlib import Path
from types import ModuleType

from pairweave.transforms.errors import ConfigError

_EXTRA = ("torch", "transformers", "tokenizers", "safetensors", "scipy", "huggingface_hub")


def absolute_model(model: str) -> str:
    """Return a model's directory as an absolute path; a hub name stays as it is."""
    path = Path(model).expanduser()
    return str(path.absolute()) if path.is_dir() else model


def import_neural(module: str, option: str) -> ModuleType:
    """Import a module of pairweave that needs torch.

    Args:
        module: Its full name.
        option: The option that needs it, for the message.

    Raises:
        ConfigError: The extra ``neural`` is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        raise ConfigError(
            f"{option} needs {error.name}, which is not installed; "
            "install it with: pip install 'pairweave[neural]'"
        ) from error


def one_thread() -> None:
    """Make torch compute each batch on one thread, however many cores there are.

    A sum that is divided among threads is rounded in an order that depends on their number.
    """
    import torch

    torch.set_num_threads(1)
