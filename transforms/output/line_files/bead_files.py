"""The beads of a run's documents as text, a file for each document pair next to its receipt."""

import hashlib
from collections.abc import Sequence

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output import receipts
from pairweave.transforms.output.run_files import RECEIPTS
from pairweave.transforms.storage import files


def write(output: str, unit: int, lines: str) -> str:
    """Write the beads of one document pair, one per line, under a run's directory.

    Returns:
        The SHA-256 of the file, for the unit's receipt.
    """
    data = lines.encode()
    files.write_bytes(_path(output, unit), data)
    return hashlib.sha256(data).hexdigest()


def collect(output: str, plan: str, units: Sequence[int]) -> bytes:
    """Return the beads of all document pairs of a finished run; blank lines separate documents.

    The n-th block is document n: a document without sentences is a line of its own
    (`transforms.sentences.bead_lines.NO_SENTENCE`).

    Args:
        output: The run's directory.
        plan: Digest of its plan.
        units: Numbers of its units.

    Raises:
        ConfigError: A file is missing or has changed.
        WorkerError: A receipt cannot be used.
    """
    return b"\n".join(_beads(output, plan, unit) for unit in units)


def _beads(output: str, plan: str, unit: int) -> bytes:
    path = _path(output, unit)
    known = receipts.read_unit_receipt(output, plan, unit).get("beads")
    try:
        data = files.read_bytes(path)
    except (FileNotFoundError, IsADirectoryError) as error:
        raise _changed(path, "is missing") from error
    # Receipts of earlier versions have no hash.
    if known is not None and hashlib.sha256(data).hexdigest() != known:
        raise _changed(path, "differs from what the run wrote")
    return data


def _changed(path: str, what: str) -> ConfigError:
    return ConfigError(
        f"{path}: {what}, so the beads are not known; restore it, or run the job again with "
        "another --output"
    )


def _path(output: str, unit: int) -> str:
    return files.join(output, f"{RECEIPTS}/beads-{unit:05d}.txt")
