"""Files that a job writes in addition to its run, at paths given by the user."""

import dataclasses
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from pairweave.pipelines.options.named_files import files_read
from pairweave.pipelines.run.run import Run
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output import run_files
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.output.line_files.link_lines import LinesOf, check_copies, collect_lines
from pairweave.transforms.storage import files
from pairweave.transforms.storage.whole_files import write_packed

_LEADING = ("pairs", "source")
"""Roles of the files by whose lines the pairs of a corpus are numbered."""


@dataclasses.dataclass(frozen=True)
class BesideFile:
    """A file that a job writes in addition to its output, once the run is finished.

    Attributes:
        path: The file.
        content: Returns its content.
    """

    path: str
    content: Callable[[], bytes]

    def write(self) -> None:
        """Write the file, compressed according to its name."""
        write_packed(self.path, self.content())


def check_beside(option: str, path: str, output: str, inputs: Iterable[str]) -> None:
    """Check before a run that a file can be written after it.

    Args:
        option: The option that names it.
        path: The file.
        output: The run's directory, which may not exist yet.
        inputs: Absolute paths of the files that are read.

    Raises:
        ConfigError: The file's directory is missing or cannot be written to, the path is a
            directory, an input or the run's directory, or the run writes a file of that name
            itself.
    """
    if files.absolute(path).rstrip("/") == files.absolute(output).rstrip("/"):
        raise ConfigError(f"--{option} {path}: is the run's own directory; name another file")
    if files.absolute(path) in inputs:
        raise ConfigError(
            f"--{option} {path}: is an input and would be overwritten; give another file"
        )
    parent, _, name = files.absolute(path).rpartition("/")
    if f"{parent}/".startswith(files.absolute(output).rstrip("/") + "/"):
        inside = files.absolute(path)[len(files.absolute(output).rstrip("/")) + 1 :]
        if run_files.is_own(inside):
            raise ConfigError(f"--{option} {path}: the run writes {inside} itself; name another")
        return
    if files.is_uri(path):
        files.check_store(path)
        return
    if Path(path).is_dir() or not name:
        raise ConfigError(f"--{option} {path}: is a directory; name a file")
    try:
        with tempfile.TemporaryFile(dir=parent or "/"):
            pass
    except OSError as error:
        raise ConfigError(
            f"--{option} {path}: no file can be written in {parent or '/'}: {error.strerror}"
        ) from error


def line_file(option: str, path: str, run: Run, lines_of: LinesOf | None = None) -> BesideFile:
    """Check that the file that an option names can be written after the run, and return it.

    Args:
        option: The option.
        path: The file.
        run: The planned run.
        lines_of: Returns the lines of a shard; None for its links (`collect_lines`).

    Raises:
        ConfigError: It cannot be written, or a file is given several times, so that its lines
            would be ambiguous.
    """
    plan, output = run.plan, run.options.output
    if any(unit.earlier for unit in plan.units):
        raise ConfigError(
            f"--{option} {path}: has a line for each line of the input, but the pairs of "
            "--from_run keep the lines of the files that they were first read from; leave it "
            "out, or give the shards as --input"
        )
    order = [(file.corpus, file.name) for file in plan.files if file.role in _LEADING]
    check_copies(plan.units, order)
    inputs = {file.path for file in plan.files}.union(files_read(run.options))
    check_beside(option, path, output, inputs)

    def content() -> bytes:
        return collect_lines(FinishedRun.open(files.absolute(output)), order, lines_of)

    return BesideFile(path, content)
