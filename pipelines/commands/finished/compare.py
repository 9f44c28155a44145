"""The command ``compare``: two finished runs side by side."""

from typing import Annotated

from pydantic import Field

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.commands.finished.report_command import write
from pairweave.pipelines.process import terminal
from pairweave.transforms.commit.checking import read_sums
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_places import FINISHED_RUNS, OUTPUT_FILE
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.report.run_comparison import compare_pairs, render, summary


@command()
def main(
    first: Annotated[str, FINISHED_RUNS, "directory of a finished run"],
    second: Annotated[str, FINISHED_RUNS, "directory of another finished run of the same job"],
    *,
    output: Annotated[
        str, OUTPUT_FILE, Field(min_length=1), "file of the page, outside any run"
    ] = "comparison.html",
) -> int:
    """Compare two runs from the command line."""
    names = (first, second)
    runs = [FinishedRun.open(directory, counts=True, checked=False) for directory in names]
    jobs = [run.job for run in runs]
    if jobs[0] != jobs[1]:
        raise ConfigError(
            f"{names[0]} is a run of {jobs[0]}, {names[1]} of {jobs[1]}; give two runs of one job"
        )
    pairs = compare_pairs(runs)
    sums = [read_sums(run.directory, run.manifest) for run in runs]
    manifests = [run.manifest for run in runs]
    write(output, render(names, manifests, pairs, [each.histograms for each in sums]))
    for line in summary(names, manifests, pairs):
        terminal.say(line)
    terminal.say(f"page: {output}")
    return 0
