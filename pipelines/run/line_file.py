"""A file that a job writes after its run, with one line for each input line."""

from pairweave.pipelines.run.beside_output import BesideFile, check_beside
from pairweave.pipelines.run.run import Run
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.output.line_files.link_lines import LinesOf, check_copies, collect_lines
from pairweave.transforms.storage import files

_LEADING = ("pairs", "source")
"""Roles of the files by whose lines the pairs of a corpus are numbered."""


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
    check_beside(option, path, output, [file.path for file in plan.files])

    def content() -> bytes:
        return collect_lines(FinishedRun.open(files.absolute(output)), order, lines_of)

    return BesideFile(path, content)
