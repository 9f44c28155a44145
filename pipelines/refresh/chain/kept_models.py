"""A table's fitted models, kept in ``_models`` and checked against their hashes."""

from pathlib import Path

from pairweave.pipelines.refresh.chain import hashed_reads
from pairweave.pipelines.refresh.chain.hashed_reads import damaged
from pairweave.pipelines.refresh.chain.records import Record
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.output import run_files
from pairweave.transforms.storage import files, hashed_files

MODELS = "_models"

_IDF = "idf"
"""Models that a run can fit besides aligners, and the option that takes each."""

_DIGITS = 16
"""Number of digits of the SHA-256 of ``about.json`` in the name of a model's directory."""


def fitted_in(run: str) -> list[str]:
    """Return the directories of the models that a run fitted."""
    base = files.join(run, run_files.MODELS)
    names = (name.rpartition("/") for name in files.list_below(base))
    return [
        files.join(base, place)
        for place, _, name in names
        if name == hashed_files.ABOUT and place and "/" not in place
    ]


def keep(table: str, run: str, languages: tuple[str, str]) -> str | None:
    """Copy the model that a run fitted to the table; return its place, relative to the table.

    Returns:
        None if the run fitted no model.

    Raises:
        WorkerError: The run fitted more than one model.
    """
    fitted = fitted_in(run)
    if not fitted:
        return None
    if len(fitted) > 1:
        names = ", ".join(Path(path).name for path in fitted)
        raise WorkerError(
            f"{run}: the job fitted several models ({names}), of which a table keeps one; "
            "fit them beforehand and give their directories in the configuration"
        )
    packed = hashed_files.read(fitted[0])
    digest = hashed_reads.digest_of(packed[hashed_files.ABOUT])
    place = f"{MODELS}/{'-'.join(languages)}/{Path(fitted[0]).name}-{digest[:_DIGITS]}"
    hashed_files.write(files.join(table, place), packed)
    return place


def option_of(place: str) -> str:
    """Return the option by which a run takes a model of the table.

    >>> option_of("_models/en-de/hmm-0123456789abcdef")
    'model'
    >>> option_of("_models/en-de/fast_align-0123456789abcdef")
    'model'
    """
    kind = place.rpartition("/")[2].rpartition("-")[0]
    return _IDF if kind == _IDF else "model"


def require_whole(table: str, record: Record) -> None:
    """Check every file of the models that a night uses.

    Raises:
        ConfigError: A file is missing or differs from what was fitted.
    """
    for place in record.models.values():
        name = f"{place}/{hashed_files.ABOUT}"
        path = files.join(table, name)
        try:
            about = hashed_files.parse_about(hashed_reads.read(path, record.state[name]))
        except ValueError as error:
            raise damaged(path, str(error)) from error
        for file, sha256 in about["files"].items():
            hashed_reads.read(files.join(table, place, file), str(sha256))
