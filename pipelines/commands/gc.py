"""The command ``gc``: removes what failed and killed runs have left in their directories."""

import time
from typing import Annotated

from pydantic import Field

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.process import terminal
from pairweave.transforms.commit.leftovers import Leftover, find_leftovers, remove
from pairweave.transforms.counted import counted
from pairweave.transforms.option_places import DIRECTORY
from pairweave.transforms.storage import files

_HOUR = 3600.0


@command(beam=True)
def main(
    places: Annotated[
        tuple[str, ...], DIRECTORY, Field(min_length=1), "directories or URIs of runs"
    ],
    *,
    dry_run: Annotated[bool, "list the files, remove nothing"] = False,
    grace_hours: Annotated[
        float, Field(ge=0), "leave files alone that were written within this many hours before"
    ] = 24.0,
    unfinished: Annotated[
        bool,
        "also remove a run without a manifest if all files below its directory are older than "
        "that; it cannot be continued then",
    ] = False,
) -> int:
    """List the leftovers of runs, and remove them unless ``--dry_run`` is given."""
    for place in places:
        output, grace = files.absolute(place), grace_hours * _HOUR
        leftovers = find_leftovers(output, time.time(), grace, unfinished=unfinished)
        if not dry_run:
            leftovers = remove(output, leftovers, grace)
        terminal.say("\n".join([place, *_lines(leftovers, dry=dry_run)]))
    return 0


def _lines(leftovers: list[Leftover], *, dry: bool) -> list[str]:
    lines = [
        f"  {leftover.name}: {leftover.kind}, {counted(leftover.size, 'byte')}, "
        f"{counted(round(leftover.age / _HOUR), 'hour')} old"
        for leftover in leftovers
    ]
    size = sum(leftover.size for leftover in leftovers)
    verb = "would remove" if dry else "removed"
    return [*lines, f"  {verb} {counted(len(leftovers), 'file')} of {counted(size, 'byte')}"]
