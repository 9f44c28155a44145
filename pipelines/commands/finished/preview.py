"""The command ``preview``: prints a few pairs of a finished run in colour."""

from typing import Annotated

from pydantic import Field

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.commands import coloured_pairs
from pairweave.pipelines.commands.command_options import PairSeed
from pairweave.pipelines.process import terminal
from pairweave.transforms.option_places import FINISHED_RUNS
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.report import run_samples


@command()
def main(
    directory: Annotated[str, FINISHED_RUNS, "directory of a finished run"],
    *,
    pairs: Annotated[int, Field(ge=1, le=1_000), "pairs to print"] = 6,
    seed: PairSeed = 1,
) -> int:
    """Print pairs from the command line."""
    run = FinishedRun.open(directory, checked=False)
    rows = run_samples.drawn_kept(run, pairs, seed)
    if not rows:
        terminal.say(f"{directory}: this run has no rows; report.html says why")
    coloured_pairs.show(rows)
    return 0
