"""The command ``compare``: two finished runs side by side."""

from collections.abc import Sequence

from pairweave.pipelines.cli import COMMANDS
from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands.finished.report_command import write
from pairweave.pipelines.options.command_options import CompareOptions
from pairweave.pipelines.process import terminal
from pairweave.pipelines.run import finished_run
from pairweave.transforms.commit.checking import read_sums
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.report.run_comparison import compare_pairs, render, summary


def main(name: str, arguments: Sequence[str]) -> int:
    """Compare two runs from the command line."""
    options, _ = flags.parse(
        CompareOptions, f"pairweave {name}", COMMANDS[name].about, arguments, beam=False
    )
    names = (options.first, options.second)
    manifests = [finished_run.open_manifest(directory, counts=True) for directory in names]
    jobs = [manifest["job"] for manifest in manifests]
    if jobs[0] != jobs[1]:
        raise ConfigError(
            f"{names[0]} is a run of {jobs[0]}, {names[1]} of {jobs[1]}; give two runs of one job"
        )
    pairs = compare_pairs(names, manifests)
    sums = [read_sums(*found) for found in zip(names, manifests, strict=True)]
    write(options.output, render(names, manifests, pairs, [each.histograms for each in sums]))
    for line in summary(names, manifests, pairs):
        terminal.say(line)
    terminal.say(f"page: {options.output}")
    return 0
