"""The command ``status``: the progress of a run, and the state of a job on Dataflow."""

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.engines.dataflow import checks, service
from pairweave.pipelines.engines.engine_flags import given_options
from pairweave.pipelines.engines.option_forms import check_forms
from pairweave.pipelines.process import terminal
from pairweave.transforms.commit.run_state import read_state
from pairweave.transforms.option_places import DIRECTORY
from pairweave.transforms.storage import files

_JOB = re.compile(r"\d{4}-\d{2}-\d{2}_\d{2}_\d{2}_\d{2}-\d+")


@command(beam=True)
def main(
    places: Annotated[
        tuple[str, ...],
        DIRECTORY,
        Field(min_length=1),
        "directories or URIs of runs, or ids of jobs on Dataflow, which also need --project and "
        "--region",
    ],
    *,
    beam_options: Sequence[str],
) -> int:
    """Print the state of runs and jobs; fail if a job has ended without success."""
    well = True
    for place in places:
        if _JOB.fullmatch(place):
            well &= _show_job(place, beam_options)
        else:
            _show_run(place)
    return 0 if well else 1


def _show_run(output: str) -> None:
    state = read_state(files.absolute(output))
    terminal.say("\n".join([output, *(f"  {line}" for line in state.lines())]))


def _show_job(job: str, extra: Sequence[str]) -> bool:
    """Print the state of a job on the service; return whether it has not failed."""
    values = given_options(extra)
    checks.check_service_flags(values)
    check_forms("dataflow", values)
    sent = service.find_job(job, extra)
    lines = [f"Dataflow job {job} ({sent.name})", f"  {sent.state.lower()} since {sent.since}"]
    lines += [f"  {sent.error}"] if sent.error else []
    terminal.say("\n".join(lines))
    return sent.state not in service.FAILED
