"""The beads of a run's documents as text, a file for each document pair next to its receipt."""

from collections.abc import Sequence

from pairweave.transforms.output.run_files import RECEIPTS
from pairweave.transforms.storage import files


def write(output: str, unit: int, lines: str) -> None:
    """Write the beads of one document pair, one per line, under a run's directory."""
    files.write_bytes(_path(output, unit), lines.encode())


def collect(output: str, units: Sequence[int]) -> bytes:
    """Return the beads of all document pairs of a finished run; blank lines separate documents.

    The n-th block is document n: a document without sentences is a line of its own
    (`transforms.sentences.bead_lines.NO_SENTENCE`).
    """
    return b"\n".join(files.read_bytes(_path(output, unit)) for unit in units)


def _path(output: str, unit: int) -> str:
    return files.join(output, f"{RECEIPTS}/beads-{unit:05d}.txt")
