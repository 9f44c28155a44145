"""Translation models in the format of CTranslate2."""

import dataclasses
import hashlib
import json
import os
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pairweave.models.model_directory import require_regular
from pairweave.models.translators import translation_pieces
from pairweave.models.translators.piece_translator import Hypothesis, PieceTranslator
from pairweave.models.translators.translation_pieces import END, Languages
from pairweave.models.translators.translator import TranslatorConfig, digest_of
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.storage.disk_files import on_disk

VERSION = 1
"""Increased when the same model and settings give different translations."""

_WEIGHTS = "model.bin"
_SHARED = ("shared_vocabulary.json", "shared_vocabulary.txt")
_SOURCE = ("source_vocabulary.json", "source_vocabulary.txt")
_TARGET = ("target_vocabulary.json", "target_vocabulary.txt")
_TYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "int8": "int8"}
_NO_LIMIT = 1 << 20


class OutOfMemoryError(RuntimeError):
    """The device's memory ran out; the library has no class for this error."""


@dataclasses.dataclass(frozen=True)
class Inspected:
    """A model whose weights are not loaded.

    Attributes:
        directory: Its directory.
        digest: The digest that its translator will have.
        languages: Its languages.
        special_tokens: Tokens that must not occur in translations.
        limits: Maximum number of pieces of a source and of a translation.
        has_source_end: Whether the library itself adds the end symbol to a source.
    """

    directory: Path
    digest: str
    languages: Languages
    special_tokens: list[str]
    limits: tuple[int, int]
    has_source_end: bool


def inspect(config: TranslatorConfig) -> Inspected:
    """Inspect a model without loading its weights.

    Raises:
        ConfigError: The library is not installed, or the directory contains no CTranslate2 model,
            lacks a tokenizer, or contains an entry that is not a regular file.
    """
    _library()
    directory = on_disk(config.model).expanduser()
    if not directory.is_dir():
        raise ConfigError(f"--translator ctranslate2:{config.model}: no such directory")
    require_regular(directory)
    if not (directory / _WEIGHTS).is_file() or not (directory / "config.json").is_file():
        raise ConfigError(
            f"{directory}: not a CTranslate2 model (model.bin, config.json); make one with "
            "ct2-transformers-converter --model MODEL --output_dir DIR --copy_files source.spm "
            "target.spm"
        )
    # Read the tokenizer before anything else is loaded, so that a missing one is reported first.
    translation_pieces.load_pieces(directory)
    names = (*_SHARED, *_SOURCE, *_TARGET)
    source = _read_vocabulary(directory, (*_SHARED, *_SOURCE))
    target = _read_vocabulary(directory, (*_SHARED, *_TARGET))
    languages = translation_pieces.read_languages(directory, source)
    hashes = {}
    for name in (_WEIGHTS, "config.json", *names, *translation_pieces.FILES):
        if (directory / name).is_file():
            with (directory / name).open("rb") as file:
                hashes[name] = hashlib.file_digest(file, "sha256").hexdigest()
    about = translation_pieces.read_object(directory / "config.json")
    shapes = read_shapes(directory / _WEIGHTS)
    # Pieces that the library itself adds to a source take up positions, too.
    added = sum(bool(about.get(name)) for name in ("add_source_bos", "add_source_eos"))
    return Inspected(
        directory,
        digest_of(config, VERSION, hashes),
        languages,
        languages.special_tokens(target),
        (_positions(shapes, "encoder") - added, _positions(shapes, "decoder")),
        bool(about.get("add_source_eos")),
    )


def load(config: TranslatorConfig, threads: int = 1) -> PieceTranslator:
    """Load a model.

    Args:
        config: Settings of the translator.
        threads: Number of batches that a CPU processes at once, each on one thread.

    Raises:
        ConfigError: See `inspect`; or the library is not installed, or the device does not support
            the precision.
    """
    inspected = inspect(config)
    return PieceTranslator(
        config,
        _Engine(config, inspected, threads),
        translation_pieces.load_pieces(inspected.directory),
        inspected.languages,
        ends_source=translation_pieces.ends_source(inspected.directory)
        and not inspected.has_source_end,
        digest=inspected.digest,
    )


def read_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Return the shape of each of a model's weights, by name.

    The file contains a version, the model's name and revision, for each weight its name, rank,
    sizes, type, number of bytes and the bytes, and then the names of weights that share the bytes
    of another.

    Raises:
        ConfigError: It is not such a file, or it is incomplete.
    """
    shapes: dict[str, tuple[int, ...]] = {}
    size = path.stat().st_size
    try:
        with path.open("rb") as file:

            def number(kind: str) -> int:
                return int(struct.unpack(f"<{kind}", file.read(struct.calcsize(kind)))[0])

            def text() -> str:
                return file.read(number("H")).decode().rstrip("\0")

            version = number("I")
            if version < 4:
                raise ConfigError(
                    f"{path}: made by an old version of CTranslate2 (format {version}); convert "
                    "the model again"
                )
            text()
            number("I")
            for _ in range(number("I")):
                name = text()
                shapes[name] = tuple(number("I") for _ in range(number("B")))
                number("B")
                end = number("I") + file.tell()
                if end > size:
                    raise ConfigError(f"{path}: cut off inside {name}; copy the model again")
                file.seek(end, os.SEEK_SET)
            for _ in range(number("I")):
                alias = text()
                shapes[alias] = shapes[text()]
    except (struct.error, UnicodeDecodeError, KeyError) as error:
        raise ConfigError(f"{path}: not a CTranslate2 model, or a damaged one: {error}") from error
    return shapes


class _Engine:
    """Batches through `ctranslate2.Translator`."""

    def __init__(self, config: TranslatorConfig, inspected: Inspected, threads: int) -> None:
        library = _library()
        device, _, index = config.device.partition(":")
        if device == "auto":
            device = "cuda" if library.get_cuda_device_count() else "cpu"
        self.threads = threads if device == "cpu" else 1
        kind = _TYPES[config.translator_precision]
        able = library.get_supported_compute_types(device)
        if kind not in able:
            raise ConfigError(
                f"--translator_precision {config.translator_precision}: this {device} has "
                f"{', '.join(name for name, its in _TYPES.items() if its in able)}"
            )
        try:
            self._translator: Any = library.Translator(
                str(inspected.directory),
                device=device,
                device_index=int(index or 0),
                compute_type=kind,
                inter_threads=self.threads,
                intra_threads=1,  # sums of several threads would be rounded in another order
            )
        except (RuntimeError, ValueError) as error:
            raise ConfigError(f"{inspected.directory}: cannot be loaded: {error}") from error
        self._special_tokens = [[token] for token in inspected.special_tokens]
        self.source_limit, self.target_limit = inspected.limits
        self.out_of_memory: tuple[type[BaseException], ...] = (OutOfMemoryError,)

    def search(
        self, sources: list[list[str]], prefix: list[str], beam_size: int, max_tokens: int
    ) -> list[Hypothesis]:
        """Translate a batch."""
        results = self._call(
            "translate_batch",
            sources,
            target_prefix=[prefix] * len(sources) if prefix else None,
            beam_size=beam_size,
            max_input_length=0,
            min_decoding_length=0,
            max_decoding_length=len(prefix) + max_tokens,
            return_end_token=True,
            suppress_sequences=self._special_tokens,
        )
        hypotheses = []
        for result in results:
            (pieces,) = result.hypotheses
            ended = bool(pieces) and pieces[-1] == END
            hypotheses.append(Hypothesis(pieces[len(prefix) : len(pieces) - ended], ended))
        return hypotheses

    def force(
        self, sources: list[list[str]], targets: list[list[str]], prefix: list[str]
    ) -> list[float]:
        """Return the mean log-probability of each target's pieces and end symbol.

        Raises:
            WorkerError: CTranslate2 scored another number of pieces.
        """
        results = self._call(
            "score_batch", sources, [[*prefix, *target] for target in targets], max_input_length=0
        )
        means = []
        for result, target in zip(results, targets, strict=True):
            counted = result.log_probs[len(prefix) :]
            if len(counted) != len(target) + 1:
                raise WorkerError(
                    f"CTranslate2 scored {len(counted)} pieces of {len(target) + 1} with the end"
                )
            means.append(sum(counted) / len(counted))
        return means

    def free(self) -> None:
        """Do nothing: the library reuses its memory."""

    def _call(self, name: str, *arguments: object, **settings: object) -> Any:  # noqa: ANN401
        try:
            return getattr(self._translator, name)(*arguments, max_batch_size=0, **settings)
        except RuntimeError as error:
            if "out of memory" in str(error):
                raise OutOfMemoryError(str(error)) from error
            raise WorkerError(f"CTranslate2: {error}") from error
        except MemoryError as error:
            raise OutOfMemoryError(str(error)) from error


def _library() -> Any:  # noqa: ANN401 - a module
    try:
        import ctranslate2
    except ModuleNotFoundError as error:
        raise ConfigError(
            "--translator ctranslate2 needs ctranslate2, which is not installed; "
            "install it with: pip install 'pairweave[translate]'"
        ) from error
    return ctranslate2


def _positions(shapes: Mapping[str, tuple[int, ...]], side: str) -> int:
    """Return the number of positions of a side; unlimited if the model has no table of them."""
    table = shapes.get(f"{side}/position_encodings/encodings")
    return table[0] if table else _NO_LIMIT


def _read_vocabulary(directory: Path, names: Sequence[str]) -> list[str]:
    """Return the pieces in the first of the named files that exists."""
    path = next((directory / name for name in names if (directory / name).is_file()), None)
    if path is None:
        raise ConfigError(f"{directory}: no vocabulary ({names[0]})")
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".txt":
        return text.split("\n")
    try:
        return [str(token) for token in json.loads(text)]
    except ValueError as error:
        raise ConfigError(f"{path}: no vocabulary: {error}") from error
