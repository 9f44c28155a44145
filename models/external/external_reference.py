"""The external aligner of a job: its reference, and how it is located, saved and prepared."""

import dataclasses
from collections.abc import Mapping

from pairweave.models.aligner import LoadableReference
from pairweave.models.external.external import ExternalAligner, find_digest
from pairweave.models.external.external_process import identity
from pairweave.models.external.external_programs import ExternalConfig
from pairweave.models.model_store import ModelStore
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.storage import files, hashed_files

FORMAT = 1
ALIGNER = "external"


@dataclasses.dataclass(frozen=True)
class ExternalReference(LoadableReference):
    """A reference to a program, with its digest.

    Attributes:
        config: Its settings.
        digest: The digest that the aligner must have.
        directory: The directory of its trained model; None if it has none.
    """

    config: ExternalConfig
    digest: str
    directory: str | None = None

    def load(self) -> ExternalAligner:
        """Return the aligner, prepared once per process.

        Raises:
            ConfigError: The program is missing, or is not the planned one.
        """
        return STORE.load(self)


def find(config: ExternalConfig) -> ExternalReference:
    """Locate a program that does not learn beforehand; its encoder is hashed.

    Raises:
        ConfigError: The program or its encoder is missing.
    """
    return ExternalReference(config, find_digest(config, {}))


def find_learned(config: ExternalConfig, directory: str) -> ExternalReference:
    """Return the model that a program learned in an earlier run.

    Raises:
        ConfigError: The directory has no such model, or its model is another program's or damaged.
    """
    try:
        packed = hashed_files.read(directory)
    except WorkerError as error:
        raise ConfigError(
            f"--model {directory}: contains no model of {config.program} ({error}); "
            "leave --model out to let it learn from the input, which keeps it under "
            f"models/{config.program}"
        ) from error
    about = hashed_files.parse_about(packed.pop(hashed_files.ABOUT))
    if about.get("aligner") != ALIGNER or about.get("program") != config.program:
        other = about.get("program") or about.get("aligner")
        raise ConfigError(f"--model {directory}: was learned by {other}, not by {config.program}")
    return ExternalReference(config, find_digest(config, packed), files.absolute(directory))


def find_whole(config: ExternalConfig, directory: str) -> ExternalReference | None:
    """Return the model of an earlier attempt of a run, or None if it is missing or damaged."""
    try:
        return find_learned(config, directory)
    except ConfigError:
        return None


def save(
    config: ExternalConfig,
    directory: str,
    learned: Mapping[str, bytes],
    facts: Mapping[str, object],
) -> ExternalReference:
    """Write the model that a program learned, ``about.json`` last.

    Args:
        config: The program.
        directory: The model's directory.
        learned: The model's files, by name.
        facts: Other metadata, such as languages and the number of pairs.
    """
    about = {
        "format": FORMAT,
        "aligner": ALIGNER,
        "program": config.program,
        "identity": identity(config),
        **facts,
    }
    hashed_files.write(directory, hashed_files.with_hashes(learned, about))
    return ExternalReference(config, find_digest(config, learned), files.absolute(directory))


def _open(reference: ExternalReference) -> tuple[ExternalAligner, str]:
    learned: dict[str, bytes] = {}
    if reference.directory is not None:
        learned = hashed_files.read(reference.directory)
        del learned[hashed_files.ABOUT]
    aligner = ExternalAligner(reference.config, learned)
    return aligner, aligner.digest


def _changed(reference: ExternalReference) -> str:
    return (
        f"--program {reference.config.program}: not the program that the run was planned with; "
        "another version is installed here, or its files changed"
    )


STORE: ModelStore[ExternalReference, ExternalAligner] = ModelStore(_open, _changed)
"""The programs that a process has prepared."""
