"""The neural aligner of a job: what travels to workers, and the one that a process has loaded.

Importable without torch, which is loaded when an encoder is looked for.
"""

import dataclasses
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa

from models.encoder_config import EncoderConfig
from transforms.errors import ConfigError

_EXTRA = ("torch", "transformers", "tokenizers", "safetensors", "scipy", "huggingface_hub")

_loaded: dict[str, Any] = {}
_lock = threading.Lock()


@dataclasses.dataclass(frozen=True)
class EncoderReference:
    """Which encoder aligns and what it must be.

    Attributes:
        config: Its settings; a local directory is absolute.
        digest: The digest that the loaded aligner must have.
    """

    config: EncoderConfig
    digest: str


def find(config: EncoderConfig) -> EncoderReference:
    """Look for an encoder; its weights are hashed and not loaded.

    Raises:
        ConfigError: The extra ``neural`` is not installed, or see `models.neural.find_digest`.
    """
    neural = _neural()
    path = Path(config.model).expanduser()
    if path.is_dir():
        config = dataclasses.replace(config, model=str(path.absolute()))
    return EncoderReference(config, neural.find_digest(config))


def check_device(reference: EncoderReference) -> None:
    """Check that this machine can run an encoder as it is configured.

    Raises:
        ConfigError: See `models.encoder.check_device`.
    """
    _neural()
    from models import encoder

    encoder.check_device(reference.config)


def align(
    reference: EncoderReference, table: pa.Table
) -> tuple[pa.Table, dict[int, tuple[str, str]]]:
    """Align with an encoder that is loaded once in a process, one table at a time.

    Args:
        reference: Which encoder.
        table: Pairs with tokens (`transforms.schemas.TOKENS`).

    Returns:
        What `models.neural.EncoderAligner.align_or_reject` does.

    Raises:
        ConfigError: The encoder cannot be loaded, or is not the one that is meant.
        WorkerError: See `models.neural.EncoderAligner.align_or_reject`.
    """
    with _lock:
        aligner = _loaded.get(reference.digest)
        if aligner is None:
            aligner = _load(reference)
            _loaded[reference.digest] = aligner
        return aligner.align_or_reject(table)


def _load(reference: EncoderReference) -> Any:  # noqa: ANN401 - a models.neural.EncoderAligner
    neural = _neural()
    import torch

    # Sums that several threads share are rounded in another order: one thread, whatever the
    # number of cores or workers. Workers are processes, so the cores are used all the same.
    torch.set_num_threads(1)
    aligner = neural.load_aligner(reference.config)
    if aligner.digest != reference.digest:
        raise ConfigError(
            f"{reference.config.model}: not the encoder that the run was planned with; "
            "its files changed, or a hub model's branch moved (name a commit by --revision)"
        )
    return aligner


def _neural() -> ModuleType:
    """Import what needs torch.

    Raises:
        ConfigError: The extra is not installed.
    """
    try:
        from models import neural
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        raise ConfigError(
            f"--aligner encoder needs {error.name}, which is not installed; "
            "install it with: pip install 'pairweave[neural]'"
        ) from error
    return neural
