"""The translator of a job: its reference, and the functions that find and run it.

Importable without torch and CTranslate2, which are imported when they are used.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from types import ModuleType

import numpy as np

from pairweave.models.encoder.batching import allowed_threads
from pairweave.models.model_store import ModelReference, ModelStore
from pairweave.models.neural_models import absolute_model, import_neural, one_thread
from pairweave.models.translators import translator_ctranslate2
from pairweave.models.translators.translator import Rejection, Translator, TranslatorConfig


@dataclasses.dataclass(frozen=True)
class TranslatorReference(ModelReference):
    """A reference to a translation model, with its digest.

    Attributes:
        config: Its settings; a local directory is absolute.
        digest: The digest that the loaded translator must have.
        threads: Number of batches that a CPU processes at once; does not change the output.
    """

    config: TranslatorConfig
    digest: str
    threads: int = 1

    def with_threads(self, threads: int) -> "TranslatorReference":
        """Return a reference to the same translator that processes a number of batches at once."""
        return dataclasses.replace(self, threads=threads)


def find(config: TranslatorConfig, languages: Iterable[tuple[str, str]]) -> TranslatorReference:
    """Find a translator; hash its weights without loading them.

    Args:
        config: Its settings.
        languages: BCP 47 tags of source and translation, for every pair of languages to translate.

    Raises:
        ConfigError: There is no such model, it does not know a language, or the library that runs
            it is not installed.
    """
    config = config.changed(model=absolute_model(config.model))
    inspected = _backend(config).inspect(config)
    for source_lang, target_lang in languages:
        inspected.languages.prefixes(source_lang, target_lang)
    return TranslatorReference(config, inspected.digest)


def translate(
    reference: TranslatorReference, texts: Sequence[str], source_lang: str, target_lang: str
) -> list[str | Rejection]:
    """Translate with a model that is loaded once per process, one call at a time.

    Raises:
        ConfigError: The model cannot be loaded, or is not the planned one.
    """
    with STORE.use(reference) as translator:
        return translator.translate(texts, source_lang, target_lang)


def score(
    reference: TranslatorReference,
    sources: Sequence[str],
    targets: Sequence[str],
    source_lang: str,
    target_lang: str,
) -> np.ndarray:
    """Score translations; see `models.translators.translator.Translator.score`.

    Raises:
        ConfigError: The model cannot be loaded, or is not the planned one.
    """
    with STORE.use(reference) as translator:
        return translator.score(sources, targets, source_lang, target_lang)


def packages(reference: TranslatorReference) -> tuple[str, ...]:
    """Return the names of the Python distributions that run a translator."""
    if reference.config.backend == "ctranslate2":
        return ("ctranslate2", "sentencepiece")
    return ("torch", "transformers", "sentencepiece")


def _open(reference: TranslatorReference) -> tuple[Translator, str]:
    config = reference.config
    backend = _backend(config)
    if config.backend == "transformers":
        one_thread()
    translator: Translator = backend.load(config, allowed_threads(reference.threads))
    return translator, translator.digest


def _changed(reference: TranslatorReference) -> str:
    return (
        f"{reference.config.model}: not the translator that the run was planned with; its files "
        "changed, or a hub model's branch moved (give a commit with --translator_revision)"
    )


def _backend(config: TranslatorConfig) -> ModuleType:
    """Import the module that runs the model.

    Raises:
        ConfigError: The extra is not installed.
    """
    if config.backend == "ctranslate2":
        return translator_ctranslate2
    module = "pairweave.models.translators.translator_transformers"
    return import_neural(module, "--translator transformers")


STORE: ModelStore[TranslatorReference, Translator] = ModelStore(_open, _changed)
"""The translators that this process has loaded."""
