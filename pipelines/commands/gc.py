"""The command ``gc``: removes what failed and killed runs have left in their directories."""

import time
from collections.abc import Sequence

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.command_line.command_table import COMMANDS
from pairweave.pipelines.commands.command_options import GcOptions
from pairweave.pipelines.process import terminal
from pairweave.transforms.commit.leftovers import Leftover, find_leftovers, remove
from pairweave.transforms.storage import files

_HOUR = 3600.0


def main(name: str, arguments: Sequence[str]) -> int:
    """List the leftovers of runs, and remove them if that is wanted."""
    options, _ = flags.parse(
        GcOptions, f"pairweave {name}", COMMANDS[name].about, arguments, beam=True
    )
    for place in options.places:
        output, grace = files.absolute(place), options.grace_hours * _HOUR
        found = find_leftovers(output, time.time(), grace, unfinished=options.unfinished)
        if not options.dry_run:
            found = remove(output, found, grace)
        terminal.say("\n".join([place, *_lines(found, dry=options.dry_run)]))
    return 0


def _lines(found: list[Leftover], *, dry: bool) -> list[str]:
    lines = [
        f"  {leftover.name}: {leftover.kind}, {leftover.size:,} bytes, "
        f"{leftover.age / _HOUR:,.0f} hours old"
        for leftover in found
    ]
    size = sum(leftover.size for leftover in found)
    verb = "would remove" if dry else "removed"
    return [*lines, f"  {verb} {len(found):,} files of {size:,} bytes"]
