"""The neural aligner of a job: its reference, and how workers load it.

Importable without torch, which is imported when an encoder is looked up.
"""

import dataclasses
import functools
import os
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pairweave.models.aligner import LoadableReference
from pairweave.models.encoder.batching import allowed_threads
from pairweave.models.encoder.encoder_config import EncoderConfig
from pairweave.models.model_store import ModelStore
from pairweave.models.neural_models import absolute_model, import_neural, one_thread
from pairweave.transforms.errors import ConfigError

if TYPE_CHECKING:
    from pairweave.models.encoder.hosting.loaded_encoder import LoadedEncoder

Stamp = tuple[tuple[str, int, int, int], ...]


@dataclasses.dataclass(frozen=True)
class EncoderReference(LoadableReference):
    """A reference to an encoder, with its digest.

    Attributes:
        config: Its settings; a local directory is absolute.
        digest: The digest that the loaded aligner must have; None if the directory is watched and
            every shard uses the model published there when the shard begins.
        threads: Number of batches that a CPU processes at once; does not change the output.
    """

    config: EncoderConfig
    digest: str | None
    threads: int = 1

    def load(self) -> "LoadedEncoder":
        """Return the encoder with its head, loaded once per process.

        Raises:
            ConfigError: It cannot be loaded, or is not the planned one.
            WorkerError: The encoder fails on every pair.
        """
        return STORE.load(self)

    def with_threads(self, threads: int) -> "EncoderReference":
        """Return a reference to the same encoder that processes a number of batches at once."""
        return dataclasses.replace(self, threads=threads)


def find(config: EncoderConfig, *, watch: bool = False) -> EncoderReference:
    """Find an encoder; hash its weights without loading them.

    Args:
        config: Its settings.
        watch: Whether another model may replace it during the run.

    Raises:
        ConfigError: The extra ``neural`` is not installed, a hub model is to be watched, or see
            `models.encoder.neural.find_digest`.
    """
    neural = _neural()
    if Path(config.model).expanduser().is_dir():
        config = config.changed(model=absolute_model(config.model))
    elif watch:
        raise ConfigError(f"--watch_model: --model must be a directory, got {config.model}")
    digest = neural.find_digest(config)
    return EncoderReference(config, None if watch else digest)


def check_device(reference: EncoderReference) -> None:
    """Check that this machine can run an encoder with its settings.

    Raises:
        ConfigError: See `models.encoder.encoder.check_device`.
    """
    _neural()
    from pairweave.models.encoder import encoder

    encoder.check_device(reference.config)


def stamp(directory: str) -> Stamp:
    """Return a value that changes with a directory's files, without reading them.

    It is empty if the directory is missing.

    A symbolic link to a directory counts as that directory.
    """
    try:
        entries = [(entry.name, entry.stat()) for entry in os.scandir(directory) if entry.is_file()]
    except FileNotFoundError:
        return ()
    return tuple(sorted((name, it.st_ino, it.st_size, it.st_mtime_ns) for name, it in entries))


def load(reference: EncoderReference) -> Any:  # noqa: ANN401 - a models.encoder.neural.EncoderAligner
    """Load an encoder with its head.

    Raises:
        ConfigError: It cannot be loaded, or is not the planned one.
    """
    neural = _neural()
    one_thread()
    aligner = neural.load_aligner(reference.config, allowed_threads(reference.threads))
    STORE.check(reference, aligner.digest)
    return aligner


def _open(reference: EncoderReference) -> tuple["LoadedEncoder", str | None]:
    from pairweave.models.encoder.hosting.loaded_encoder import LoadedEncoder

    return LoadedEncoder(reference), reference.digest  # `load` has checked the digest


def changed(config: EncoderConfig) -> str:
    """Return the message for an encoder that is not the planned one."""
    return (
        f"{config.model}: not the encoder that the run was planned with; its files changed, or a "
        "hub model's branch moved (give a commit with --revision)"
    )


STORE: ModelStore[EncoderReference, "LoadedEncoder"] = ModelStore(
    _open, lambda reference: changed(reference.config)
)
"""The encoders of this process, except those that Beam holds (`models.encoder.hosting.handler`)."""


def load_tokenizer(reference: EncoderReference) -> Any:  # noqa: ANN401 - a tokenizers.Tokenizer
    """Load an encoder's tokenizer without its weights, once for each state of its directory.

    Raises:
        ConfigError: It cannot be loaded.
    """
    return _tokenizer(reference.config, stamp(reference.config.model))


@functools.lru_cache(maxsize=2)
def _tokenizer(config: EncoderConfig, _stamp: Stamp) -> Any:  # noqa: ANN401 - as above
    _neural()
    from pairweave.models.encoder import encoder

    return encoder.load_tokenizer(config)


def out_of_memory() -> tuple[type[BaseException], ...]:
    """Return the errors that mean that the device's memory ran out."""
    return tuple(_neural().OUT_OF_MEMORY)


def _neural() -> ModuleType:
    """Import the module that needs torch.

    Raises:
        ConfigError: The extra is not installed.
    """
    return import_neural("pairweave.models.encoder.neural", "--aligner encoder")
