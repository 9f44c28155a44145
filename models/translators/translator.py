"""What every translator offers, and its settings: texts in, translations out. No torch."""

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Protocol, get_args

import numpy as np

from pairweave.models.encoder.encoder_config import Precision
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.rejects import Reject

BACKENDS = ("ctranslate2", "transformers")
PRECISIONS: tuple[str, ...] = get_args(Precision)

_DEVICE = re.compile(r"auto|cpu|cuda(:\d+)?")
_MOST = {"beam_size": 100, "max_tokens": 4096, "max_source_tokens": 4096, "batch_tokens": 1 << 24}


@dataclasses.dataclass(frozen=True, slots=True)
class Rejection:
    """Why a text has no translation.

    Attributes:
        reason: The reason.
        detail: Sizes and limits, for a person.
    """

    reason: Reject
    detail: str


class Translator(Protocol):
    """Translates texts, many at a time.

    The translation of a text depends on the text, the languages and the model alone, as far as the
    arithmetic allows: a text shares a batch with others of its call, and rounding may differ with
    the size of a batch. The same call gives the same translations.
    """

    @property
    def digest(self) -> str:
        """Return the hex SHA-256 of everything that determines the translations."""
        ...

    def translate(
        self, texts: Sequence[str], source_lang: str, target_lang: str
    ) -> list[str | Rejection]:
        """Translate texts.

        Args:
            texts: Any text.
            source_lang: BCP 47 tag of all of them.
            target_lang: BCP 47 tag of the translations.

        Returns:
            A translation of each whole text, or why there is none.

        Raises:
            ConfigError: The model does not know a language.
        """
        ...

    def score(
        self, sources: Sequence[str], targets: Sequence[str], source_lang: str, target_lang: str
    ) -> np.ndarray:
        """Return how likely translations are.

        Args:
            sources: Any text.
            targets: A translation of each.
            source_lang: BCP 47 tag of the sources.
            target_lang: BCP 47 tag of the targets.

        Returns:
            The mean log-probability (natural) of the pieces of each target and its end, float32
            ``[pair]``: the negated cross-entropy of Junczys-Dowmunt (2018, section 2.1). NaN where
            a side is over the model's limit.
        """
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class TranslatorConfig:
    """Which translator, and how it is run.

    Attributes:
        backend: ``ctranslate2`` or ``transformers``.
        model: A local directory, or for ``transformers`` a hub name.
        revision: Branch, tag or commit of a hub model.
        beam_size: Width of the beam; 1 is greedy search.
        max_tokens: Longest translation, in the model's pieces.
        max_source_tokens: Longest source, in the model's pieces, special ones counted; the model's
            own limit holds as well.
        batch_tokens: Pieces of source in a batch, padding included.
        precision: ``fp32``, ``bf16``, ``fp16`` (GPU alone) or ``int8`` (CTranslate2 alone).
        device: ``auto`` (a GPU if there is one), ``cpu``, ``cuda`` or ``cuda:N``.
    """

    backend: str
    model: str
    revision: str | None = None
    beam_size: int = 4
    max_tokens: int = 256
    max_source_tokens: int = 512
    batch_tokens: int = 4096
    precision: str = "fp32"
    device: str = "auto"

    def __post_init__(self) -> None:
        """Check every setting."""
        if self.backend not in BACKENDS:
            raise ConfigError(f"translator must be one of {', '.join(BACKENDS)}")
        if not self.model:
            raise ConfigError(f"translator {self.backend}: needs a directory, {self.backend}:DIR")
        for name, most in _MOST.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
                raise ConfigError(f"{name} must be a whole number, 1 to {most}, got {value!r}")
        if self.precision not in PRECISIONS:
            raise ConfigError(
                f"precision must be one of {', '.join(PRECISIONS)}, got {self.precision!r}"
            )
        if self.precision == "int8" and self.backend == "transformers":
            raise ConfigError(
                "precision int8 is for ctranslate2; transformers has fp32, bf16, fp16"
            )
        if self.revision is not None and self.backend == "ctranslate2":
            raise ConfigError(
                f"translator ctranslate2: a directory has no revision, got {self.revision!r}"
            )
        if not _DEVICE.fullmatch(self.device):
            raise ConfigError(f"device must be auto, cpu, cuda or cuda:N, got {self.device!r}")


def parse_translator(text: str) -> tuple[str, str]:
    """Return backend and model of ``BACKEND:MODEL``.

    Raises:
        ConfigError: The text has another form.

    >>> parse_translator("ctranslate2:models/en-de")
    ('ctranslate2', 'models/en-de')
    """
    backend, colon, model = text.partition(":")
    if backend not in BACKENDS or not colon or not model:
        raise ConfigError(
            f"--translator {text}: expected ctranslate2:DIR, transformers:DIR or "
            "transformers:OWNER/NAME"
        )
    return backend, model


def digest_of(config: TranslatorConfig, version: int, files: Mapping[str, str]) -> str:
    """Return the hex SHA-256 of all that decides translations.

    Where and in what batches the model runs is left out: it moves a translation by no more than
    rounding does.

    Args:
        config: The settings.
        version: Of the code that runs the model.
        files: Hex SHA-256 of each of the model's files, by name.
    """
    settings = dataclasses.asdict(config)
    for name in ("model", "revision", "batch_tokens", "device"):
        del settings[name]
    named = {"version": version, "files": dict(files), **settings}
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()
