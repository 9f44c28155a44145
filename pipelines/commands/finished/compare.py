"""The command ``compare``: two finished runs side by side."""

from collections.abc import Sequence

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands.command_options import CompareOptions
from pairweave.pipelines.commands.finished.report_command import write
from pairweave.pipelines.process import terminal
from pairweave.transforms.commit.checking import read_sums
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.report.run_comparison import compare_pairs, render, summary


def main(name: str, arguments: Sequence[str]) -> int:
    """Compare two runs from the command line."""
    options = flags.read_command(CompareOptions, name, arguments)
    names = (options.first, options.second)
    runs = [FinishedRun.open(directory, counts=True, checked=False) for directory in names]
    jobs = [run.job for run in runs]
    if jobs[0] != jobs[1]:
        raise ConfigError(
            f"{names[0]} is a run of {jobs[0]}, {names[1]} of {jobs[1]}; give two runs of one job"
        )
    pairs = compare_pairs(runs)
    sums = [read_sums(run.directory, run.manifest) for run in runs]
    manifests = [run.manifest for run in runs]
    write(options.output, render(names, manifests, pairs, [each.histograms for each in sums]))
    for line in summary(names, manifests, pairs):
        terminal.say(line)
    terminal.say(f"page: {options.output}")
    return 0
