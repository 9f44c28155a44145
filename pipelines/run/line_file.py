"""A file that a job writes after its run, with one line for each input line."""

from pairweave.pipelines.run.beside_output import check_beside
from pairweave.pipelines.run.run import Run
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.output.line_files.link_lines import LinesOf, check_copies, collect_lines
from pairweave.transforms.storage import files

_LEADING = ("pairs", "source")
"""Roles of the files by whose lines the pairs of a corpus are numbered."""


class LineFile:
    """The file that an option names."""

    def __init__(self, option: str, path: str, run: Run, lines_of: LinesOf | None = None) -> None:
        """Check, before the run, that the file can be written after it.

        Args:
            option: The option that names it.
            path: The file.
            run: The planned run.
            lines_of: Returns the lines of a shard; None for its links (`collect_lines`).

        Raises:
            ConfigError: It cannot be written, or a file is given several times, so that its lines
                would be ambiguous.
        """
        self._path, self._run, self._lines_of = path, run, lines_of
        plan = run.plan
        if any(unit.earlier for unit in plan.units):
            raise ConfigError(
                f"--{option} {path}: has a line for each line of the input, but the pairs of "
                "--from_run keep the lines of the files that they were first read from; leave it "
                "out, or give the shards as --input"
            )
        self._order = [(file.corpus, file.name) for file in plan.files if file.role in _LEADING]
        check_copies(plan.units, self._order)
        check_beside(option, path, run.options.output, [file.path for file in plan.files])

    def write(self) -> None:
        """Write the file of the finished run."""
        run = FinishedRun.open(files.absolute(self._run.options.output))
        files.write_alone(self._path, collect_lines(run, self._order, self._lines_of))
