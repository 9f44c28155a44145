"""Code shared by neural models: their location, their libraries and their threads."""

import contextlib
import importlib
import sys
import threading
from collections.abc import Iterator
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


class _Threads:
    """The calling program's number of torch threads, while its calls use one thread.

    Attributes:
        calls: Number of calls that are running.
        before: The number before the first of them; None if torch was not imported then.
    """

    lock = threading.Lock()
    calls = 0
    before: int | None = None


def one_thread() -> None:
    """Make torch compute each batch on one thread, however many cores there are.

    A sum that is divided among threads is rounded in an order that depends on their number.
    """
    import torch

    with _Threads.lock:
        if _Threads.before is None:
            _Threads.before = torch.get_num_threads()
        torch.set_num_threads(1)


@contextlib.contextmanager
def threads_given_back() -> Iterator[None]:
    """Compute on one torch thread in a block, and restore the previous number after it.

    The calling program decides on the number of threads for its own models, and may change it
    between calls, which share loaded models.
    """
    with _Threads.lock:
        _Threads.calls += 1
        if _Threads.calls == 1:
            _Threads.before = None
    if "torch" in sys.modules:
        one_thread()
    try:
        yield
    finally:
        with _Threads.lock:
            _Threads.calls -= 1
            if not _Threads.calls and _Threads.before is not None:
                sys.modules["torch"].set_num_threads(_Threads.before)
