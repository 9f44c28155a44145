"""The command ``preview``: prints a few pairs of a finished run in colour."""

from collections.abc import Sequence

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands import coloured_pairs
from pairweave.pipelines.commands.command_options import PreviewOptions
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.report import run_samples


def main(name: str, arguments: Sequence[str]) -> int:
    """Print pairs from the command line."""
    options = flags.read_command(PreviewOptions, name, arguments)
    run = FinishedRun.open(options.directory, checked=False)
    coloured_pairs.show(run_samples.drawn_kept(run, options.pairs, options.seed))
    return 0
