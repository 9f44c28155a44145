"""Language detectors: libraries that identify the language of a text.

An answer that is not certain enough is discarded.

========== ========================== ============================================================
detector   library (licence)          an answer is used
========== ========================== ============================================================
cld2       pycld2 (Apache 2.0)        if CLD2 calls it reliable and it is a language: short texts
                                      and lists of names often get none, and a script used by only
                                      one language is reported as a script (``xx-Cans``)
langid     py3langid (BSD)            if its normalized probability is at least `MIN_PROBABILITY`
lingua     lingua-language-detector   if it is `MIN_LEAD` more probable than the next (its minimum
           (Apache 2.0)               relative distance)
fasttext   fasttext-predict (MIT)     if its probability is at least `MIN_PROBABILITY`; labels are
                                      read as ``__label__de`` or ``__label__deu_Latn``
========== ========================== ============================================================
"""

import functools
import hashlib
import importlib
import importlib.metadata
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import regex

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files

MIN_PROBABILITY = 0.5
"""Minimum probability of an answer: it is more probable than all others together."""

MIN_LEAD = 0.1
"""Minimum difference between the probabilities of lingua's two most probable answers."""

_NO_LANGUAGE = ("un", "xx", "xxx", "zzb", "zze", "zzh", "zzp")
"""CLD2's codes for text without a known language: unknown, only a script, invented languages."""

# CLD2 refuses texts with some of these characters, and none of them indicates a language.
_REFUSED = regex.compile(r"[\p{Cc}\p{Cs}\p{Cn}\p{Co}]")

_PACKAGES = {
    "cld2": ("pycld2", "pycld2"),
    "langid": ("py3langid", "py3langid.langid"),
    "lingua": ("lingua-language-detector", "lingua"),
    "fasttext": ("fasttext-predict", "fasttext"),
}
"""The package and the module of each detector."""

_ALL = 1_000_000
_LABEL = "__label__"
_PINNED = regex.compile(r"([0-9a-f]{64})@(.+)")


class Detector(Protocol):
    """Identifies the language of a text.

    Attributes:
        named: All language codes that it can return.
    """

    named: frozenset[str]

    def detect(self, text: str) -> str | None:
        """Return the language of a text, None where the answer does not count."""


class Cld2:
    """CLD2, as used in the NRC's systems for WMT20."""

    def __init__(self) -> None:
        self._library = _library("cld2", _PACKAGES["cld2"][1])
        detected = set(self._library.DETECTED_LANGUAGES)
        codes = {code for name, code in self._library.LANGUAGES if name in detected}
        self.named = frozenset(code for code in codes if not _is_none(code))

    def detect(self, text: str) -> str | None:
        """Return the language of a text, None where the answer does not count."""
        try:
            reliable, _, details = self._library.detect(text)
        except self._library.error:
            reliable, _, details = self._library.detect(_REFUSED.sub(" ", text))
        code = details[0][1]
        return code if reliable and not _is_none(code) else None


def _is_none(code: str) -> bool:
    return code.lower().partition("-")[0] in _NO_LANGUAGE


class Langid:
    """py3langid, the maintained version of langid.py (Lui and Baldwin 2012); 97 languages."""

    def __init__(self) -> None:
        library = _library("langid", _PACKAGES["langid"][1])
        identifier = library.LanguageIdentifier
        self._identifier = identifier.from_model_file(
            library.MODEL_FILE, norm_probs=True, min_confidence=MIN_PROBABILITY
        )
        self.named = frozenset(self._identifier.labels)

    def detect(self, text: str) -> str | None:
        """Return the language of a text, None where the answer does not count."""
        language, _ = self._identifier.classify(text)
        return None if language == "und" else language


class Lingua:
    """lingua, designed for short text; 75 languages, a gigabyte of memory in each worker."""

    def __init__(self) -> None:
        library = _library("lingua", _PACKAGES["lingua"][1])
        self._detector = (
            library.LanguageDetectorBuilder.from_all_languages()
            .with_minimum_relative_distance(MIN_LEAD)
            .build()
        )
        self._codes = {each: each.iso_code_639_1.name.lower() for each in library.Language.all()}
        self.named = frozenset(self._codes.values())

    def detect(self, text: str) -> str | None:
        """Return the language of a text, None where the answer does not count."""
        language = self._detector.detect_language_of(text)
        return None if language is None else self._codes[language]


class FastText:
    """A fastText model (Joulin et al. 2017) that classifies languages, such as ``lid.176.ftz``."""

    def __init__(self, path: str, digest: str = "") -> None:
        """Load a model.

        Args:
            path: The file.
            digest: Its SHA-256 when the run was planned, hex; empty if any file will do.

        Raises:
            ConfigError: The library is not installed, the file is not such a model, or it has
                changed.
        """
        library = _library(f"fasttext:{path}", _PACKAGES["fasttext"][1])
        if not files.exists(path):
            raise ConfigError(
                f"--detector fasttext:{path}: no such file; give a fastText model (.bin, .ftz)"
            )
        local = files.on_disk(path)
        if digest and hashlib.sha256(local.read_bytes()).hexdigest() != digest:
            raise ConfigError(
                f"--detector fasttext:{path}: the file has changed since the run was planned; "
                "restore it, or give another --output"
            )
        try:
            self._model = library.load_model(str(local))
            labels, _ = self._model.predict("a", _ALL, -1.0)
        except (ValueError, RuntimeError, MemoryError) as error:
            raise ConfigError(
                f"--detector fasttext:{path}: is not a fastText classifier ({error}); "
                "give a supervised model (.bin, .ftz) whose labels are languages"
            ) from error
        self.named = frozenset(map(_language, labels))

    def detect(self, text: str) -> str | None:
        """Return the language of a text, None where the answer does not count."""
        labels, _ = self._model.predict(" ".join(text.split()), 1, MIN_PROBABILITY)
        return _language(labels[0]) if labels else None


def _language(label: str) -> str:
    return label.removeprefix(_LABEL).replace("_", "-")


def _library(detector: str, module: str) -> Any:  # noqa: ANN401 - a module without types
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"--detector {detector}: {module.partition('.')[0]} is not installed; pip install "
            "'pairweave[lang]', or leave --detector out"
        ) from error


def version(name: str) -> str:
    """Return the package of a detector with its version, on which its answers depend.

    Args:
        name: As for `load`; not ``none``.

    Raises:
        ConfigError: It is not installed.
    """
    package, module = _PACKAGES[name.partition(":")[0]]
    _library(name, module)
    return f"{package}-{importlib.metadata.version(package)}"


@functools.lru_cache(maxsize=2)
def load(name: str) -> Detector:
    """Return a detector.

    Args:
        name: ``cld2``, ``langid``, ``lingua`` or ``fasttext:FILE``; with ``fasttext:SHA256@FILE``
            the file must have this digest, and a file replaced since is loaded again.

    Raises:
        ConfigError: It is not installed, or the file is not a model.
    """
    kind, _, path = name.partition(":")
    if kind == "fasttext":
        pinned = _PINNED.fullmatch(path)
        return FastText(pinned[2], pinned[1]) if pinned else FastText(path)
    kinds: dict[str, Callable[[], Detector]] = {"cld2": Cld2, "langid": Langid, "lingua": Lingua}
    return kinds[kind]()


def detect(texts: Iterable[str], name: str) -> list[str | None]:
    """Return the detected language of each text, None if the detector is not certain."""
    detector = load(name)
    return [detector.detect(text) for text in texts]
