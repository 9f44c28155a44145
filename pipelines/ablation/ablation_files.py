"""The JSON files of an ablation: their content, and how packed ones are written and read."""

import gzip
import hashlib
import zlib
from pathlib import Path
from typing import Any, ClassVar

import orjson

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output.documents.parts import Digest, Name, Number
from pairweave.transforms.storage import files, json_files
from pairweave.transforms.storage.json_files import JsonFile

PLAN_ADVICE = "was it edited? Give another --output"
NO_LOCKS = "give --output on a file system with locks"
ARM_ADVICE = "delete the arm's directory and its units to prepare it again"


class StageAbout(JsonFile):
    """The entry in ``about.json`` for one of the several stages of an arm."""

    passes: Number
    steps: Number


class ArmAbout(JsonFile):
    """The content of ``about.json`` of a prepared arm."""

    ADVICE: ClassVar[str] = ARM_ADVICE

    recipe: dict[str, Any]
    passes: list[Name]
    pairs: list[Number]
    left_out: dict[str, Number]
    data: Digest
    aligner: str | None
    stages: list[StageAbout] | None = None


class VocabularyAbout(JsonFile):
    """The content of ``vocabulary.json``, which is next to the vocabulary."""

    ADVICE: ClassVar[str] = "delete it and vocabulary.spm to make both again"

    sha256: Digest


class Score(JsonFile):
    """The value of a metric on a test set."""

    test: Name
    metric: Name
    value: float
    signature: str


class Losses(JsonFile):
    """The learning curve of a unit."""

    train: list[float]
    dev: list[float]


class UnitTime(JsonFile):
    """How long a unit took."""

    seconds: float


class FinishedUnit(JsonFile):
    """A finished unit: an arm with a seed."""

    ADVICE: ClassVar[str] = "delete it to make it again"

    arm: Name
    seed: int
    device: str
    start_weights: Digest | None
    translations: dict[str, list[str]]
    scores: list[Score]
    packages: dict[str, str]
    losses: Losses
    run: UnitTime


def digest_of(value: object) -> str:
    """Return the hex SHA-256 of a JSON value."""
    return hashlib.sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def write_packed(path: Path, value: object) -> None:
    """Write a JSON value, compressed; the same value gives the same bytes."""
    data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    files.write_bytes(str(path), gzip.compress(data, 9, mtime=0))


def read_packed(path: Path) -> dict[str, Any]:
    """Read a unit that `write_packed` wrote.

    Raises:
        ConfigError: The file is damaged; names the field.
    """
    try:
        data = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(f"{path}: is damaged ({error}); {FinishedUnit.ADVICE}") from error
    value = json_files.parse_object(data, str(path), FinishedUnit.ADVICE)
    json_files.check(value, str(path), FinishedUnit)
    return value
