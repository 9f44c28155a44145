"""A fitted model as a directory: its files, and ``about.json`` with their hashes."""

import dataclasses
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from pairweave.models.aligner import NOTHING, LoadableReference, LoadedAligner
from pairweave.models.hmm import phrase_table, word_order
from pairweave.models.hmm.hmm import HmmModel
from pairweave.models.hmm.phrase_table import PhraseTable
from pairweave.models.hmm.word_order import WordOrder
from pairweave.models.model_directory import require_regular
from pairweave.models.model_store import ModelStore
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.storage import files, hashed_files
from pairweave.transforms.storage.json_files import check
from pairweave.transforms.text.tokens import TokenConfig

ABOUT = hashed_files.ABOUT
SENTENCEPIECE = "sentencepiece.model"
FORMAT = 1
ALIGNER = "hmm"


@dataclasses.dataclass(frozen=True)
class FittedAligner:
    """A statistical aligner together with the tokens it was fitted on.

    Attributes:
        model: The aligner.
        tokens: How text is cut for it.
        digest: Hex SHA-256 of everything that determines its links, including tokens.
        about: Content of ``about.json``.
        phrases: Its phrase table; None for a model of subwords.
        order: Its model of the order of target words; None for a model within one language.
    """

    model: HmmModel
    tokens: TokenConfig
    digest: str
    about: dict[str, Any]
    phrases: PhraseTable | None
    order: WordOrder | None = None


@dataclasses.dataclass(frozen=True)
class HmmReference(LoadableReference):
    """A reference to a fitted aligner with its digest, which is sent to workers."""

    directory: str
    digest: str

    def load(self) -> LoadedAligner:
        """Return the fitted aligner, loaded once per process; see `load`."""
        return load(self).model


NO_MODEL = HmmReference("", NOTHING)
"""Replaces the model if there was no pair to fit one on: none passed the screen or the rules."""


class HmmAbout(hashed_files.About):
    """The content of a fitted aligner's ``about.json``.

    Attributes:
        format: `FORMAT`.
        aligner: `ALIGNER`.
        tokens: How its text was cut into tokens: the kind of a `TokenConfig`.
        pairs: Number of pairs that it was fitted on.
        source_lang: Language tags of the sources; None if unknown.
        target_lang: Language tags of the targets; None if unknown.
    """

    ADVICE: ClassVar[str] = "fit it again"

    format: int
    aligner: str
    tokens: str
    pairs: Annotated[int, Field(ge=0)] = 0
    source_lang: list[str] | None = None
    target_lang: list[str] | None = None


def pack(
    model: HmmModel,
    tokens: TokenConfig,
    facts: Mapping[str, object],
    phrases: PhraseTable | None = None,
    order: WordOrder | None = None,
) -> dict[str, bytes]:
    """Return all files of a model directory, ``about.json`` last.

    Args:
        model: The fitted model.
        tokens: How its text was cut.
        facts: Other metadata, such as languages and the number of pairs.
        phrases: Its phrase table, if it has one.
        order: Its model of the order of target words, if it has one.
    """
    packed = dict(model.to_files())
    if phrases is not None:
        packed[phrase_table.FILE] = phrase_table.pack(phrases)
    if order is not None:
        packed[word_order.FILE] = word_order.pack(order)
    if tokens.model is not None:
        packed[SENTENCEPIECE] = tokens.model
    about = {
        "format": FORMAT,
        "aligner": ALIGNER,
        "tokens": tokens.kind,
        **facts,
    }
    return hashed_files.with_hashes(packed, about)


def save(directory: str, packed: Mapping[str, bytes]) -> HmmReference:
    """Write a model directory, ``about.json`` last."""
    hashed_files.write(directory, packed)
    return HmmReference(files.absolute(directory), _digest(packed[ABOUT]))


def find(directory: str) -> HmmReference | None:
    """Return the model in a directory, or None if there is no complete one."""
    path = files.join(directory, ABOUT)
    if not files.exists(path):
        return None
    return HmmReference(files.absolute(directory), _digest(files.read_bytes(path)))


def find_whole(directory: str) -> HmmReference | None:
    """Return the model in a directory if it is complete and undamaged.

    Returns:
        None if ``about.json`` is missing or has another format, or if a file that it names is
        missing or has another hash.
    """
    try:
        packed = hashed_files.read(directory)
    except WorkerError:
        return None
    about = hashed_files.parse_about(packed[ABOUT])
    if about.get("format") != FORMAT or about.get("aligner") != ALIGNER:
        return None
    try:
        hashed_files.parse_about(packed[ABOUT], HmmAbout)
    except ValueError:
        return None
    return HmmReference(files.absolute(directory), _digest(packed[ABOUT]))


def load(reference: HmmReference) -> FittedAligner:
    """Load a model, once per process.

    Raises:
        ConfigError: The directory contains no model, or not the planned one.
    """
    return STORE.load(reference)


def named(directory: str, option: str = "--model") -> HmmReference:
    """Return the model that a user names.

    Args:
        directory: Its directory.
        option: The option that names it, for messages.

    Raises:
        ConfigError: The directory contains no model.
    """
    if not files.is_uri(directory) and Path(directory).is_dir():
        require_regular(Path(directory))
    reference = find(directory)
    if reference is None:
        raise ConfigError(
            f"{option} {directory}: no fitted aligner there (it has no {ABOUT}); "
            "make one with: pairweave fit --output MODEL_DIR"
        )
    return reference


def read(directory: str, option: str = "--model") -> FittedAligner:
    """Load the model that a user names.

    Raises:
        ConfigError: The directory contains no model, or a damaged one.
    """
    return load(named(directory, option))


def _digest(about: bytes) -> str:
    return hashlib.sha256(about).hexdigest()


def _open(reference: HmmReference) -> tuple[FittedAligner, str]:
    directory = reference.directory
    about_bytes = _read(directory, ABOUT)
    STORE.check(reference, _digest(about_bytes))  # before the other files are read
    try:
        about = hashed_files.parse_about(about_bytes)
    except ValueError as error:
        raise ConfigError(
            f"{directory}/{ABOUT}: is not what pairweave fit writes ({error}); fit it again"
        ) from error
    if about.get("format") != FORMAT or about.get("aligner") != ALIGNER:
        raise ConfigError(
            f"{directory}/{ABOUT}: expected an {ALIGNER} aligner of format {FORMAT}, "
            f"found {about.get('aligner')} of format {about.get('format')}; fit it again"
        )
    check(about, f"{directory}/{ABOUT}", HmmAbout)
    contents: dict[str, bytes] = {}
    for name, digest in about["files"].items():
        contents[name] = _read(directory, name)
        if hashlib.sha256(contents[name]).hexdigest() != digest:
            raise ConfigError(
                f"{directory}/{name}: its hash differs from the one in {ABOUT}; fit it again"
            )
    try:
        tokens = TokenConfig(kind=about["tokens"], model=contents.pop(SENTENCEPIECE, None))
        phrases = contents.pop(phrase_table.FILE, None)
        order = contents.pop(word_order.FILE, None)
        model = HmmModel.from_files(contents)
        table = None if phrases is None else phrase_table.unpack(phrases, model)
        usual = None if order is None else word_order.unpack(order)
    except ConfigError as error:
        raise ConfigError(f"{directory}: {error}") from error
    aligner = FittedAligner(model, tokens, reference.digest, about, table, usual)
    return aligner, reference.digest


def _read(directory: str, name: str) -> bytes:
    try:
        return files.read_bytes(files.join(directory, name))
    except OSError as error:
        raise ConfigError(f"{directory}/{name}: cannot be read: {error}") from error


STORE: ModelStore[HmmReference, FittedAligner] = ModelStore(
    _open, lambda reference: f"{reference.directory}/{ABOUT}: changed while the run was using it"
)
"""The fitted aligners that this process has loaded."""
