"""The command ``gc``: removes what failed and killed runs have left in their directories."""

import time
from collections.abc import Sequence

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands.command_options import GcOptions
from pairweave.pipelines.process import terminal
from pairweave.transforms.commit.leftovers import Leftover, find_leftovers, remove
from pairweave.transforms.storage import files

_HOUR = 3600.0


def main(name: str, arguments: Sequence[str]) -> int:
    """List the leftovers of runs, and remove them unless ``--dry_run`` is given."""
    options, _ = flags.parse_command(GcOptions, name, arguments)
    for place in options.places:
        output, grace = files.absolute(place), options.grace_hours * _HOUR
        leftovers = find_leftovers(output, time.time(), grace, unfinished=options.unfinished)
        if not options.dry_run:
            leftovers = remove(output, leftovers, grace)
        terminal.say("\n".join([place, *_lines(leftovers, dry=options.dry_run)]))
    return 0


def _lines(leftovers: list[Leftover], *, dry: bool) -> list[str]:
    lines = [
        f"  {leftover.name}: {leftover.kind}, {leftover.size:,} bytes, "
        f"{leftover.age / _HOUR:,.0f} hours old"
        for leftover in leftovers
    ]
    size = sum(leftover.size for leftover in leftovers)
    verb = "would remove" if dry else "removed"
    return [*lines, f"  {verb} {len(leftovers):,} files of {size:,} bytes"]
