"""The interface of translators and their settings. No torch."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Protocol, Self

import numpy as np
import pydantic
from pydantic import Field

from pairweave.models.encoder.encoder_options import Device
from pairweave.models.translators.translation_options import TranslationOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_marks import listed_before
from pairweave.transforms.rejects import Reject

BACKENDS = ("ctranslate2", "transformers")


@dataclasses.dataclass(frozen=True, slots=True)
class Rejection:
    """The reason why a text has no translation.

    Attributes:
        reason: The reason.
        detail: Sizes and limits, for a person.
    """

    reason: Reject
    detail: str


class Translator(Protocol):
    """Translates texts, many at a time.

    Except for rounding, the translation of a text depends only on the text, the languages and the
    model. Rounding may depend on the size of the batch that a text shares with others of its call.
    The same call gives the same translations.
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
            A translation of each whole text, or the reason that there is none.

        Raises:
            ConfigError: The model does not know a language.
        """
        ...

    def score(
        self, sources: Sequence[str], targets: Sequence[str], source_lang: str, target_lang: str
    ) -> np.ndarray:
        """Return the log-probabilities of translations.

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


class TranslatorConfig(TranslationOptions):
    """The settings of a translator.

    Attributes:
        backend: ``ctranslate2`` or ``transformers``.
        model: A local directory, or for ``transformers`` a hub name.
        device: ``auto`` (a GPU if there is one), ``cpu``, ``cuda`` or ``cuda:N``.
    """

    backend: str = Field(json_schema_extra=listed_before("model"))
    model: str = Field(json_schema_extra=listed_before("translator_revision"))
    device: Device = "auto"

    @pydantic.model_validator(mode="after")
    def _check_backend(self) -> Self:
        if self.backend not in BACKENDS:
            raise ConfigError(f"translator must be one of {', '.join(BACKENDS)}")
        if not self.model:
            raise ConfigError(f"translator {self.backend}: needs a directory, {self.backend}:DIR")
        if self.translator_precision == "int8" and self.backend == "transformers":
            raise ConfigError(
                "precision int8 is for ctranslate2; transformers has fp32, bf16, fp16"
            )
        if self.translator_revision is not None and self.backend == "ctranslate2":
            raise ConfigError(
                "translator ctranslate2: a directory has no revision, got "
                f"{self.translator_revision!r}"
            )
        return self


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
    """Return the hex SHA-256 of everything that determines translations.

    The device and the batches are left out, because they affect translations by rounding only.

    Args:
        config: The settings.
        version: Version of the code that runs the model.
        files: Hex SHA-256 of each of the model's files, by name.
    """
    settings = {
        "backend": config.backend,
        "beam_size": config.beam_size,
        "max_tokens": config.max_translation_tokens,
        "max_source_tokens": config.translator_source_tokens,
        "precision": config.translator_precision,
    }
    named = {"version": version, "files": dict(files), **settings}
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()
