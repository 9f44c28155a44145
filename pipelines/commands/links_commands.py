"""The commands ``symmetrize`` and ``phrases``, which read Pharaoh files and print text."""

import sys
from collections.abc import Sequence
from pathlib import Path

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.command_line.command_table import COMMANDS
from pairweave.pipelines.commands.command_options import PhrasesOptions, SymmetrizeFilesOptions
from pairweave.transforms.links.pharaoh import phrase_files, symmetrize_files
from pairweave.transforms.storage import files


def main(name: str, arguments: Sequence[str]) -> int:
    """Run the command from its command line."""
    prog, about = f"pairweave {name}", COMMANDS[name].about
    out = sys.stdout.buffer
    if name == "symmetrize":
        combine, _ = flags.parse(SymmetrizeFilesOptions, prog, about, arguments, beam=False)
        symmetrize_files(
            files.on_disk(combine.forward), files.on_disk(combine.reverse), combine.heuristic, out
        )
    else:
        listing, _ = flags.parse(PhrasesOptions, prog, about, arguments, beam=False)
        phrase_files(
            files.on_disk(listing.links),
            listing.max_words,
            listing.unaligned_words,
            out,
            _path(listing.source_text),
            _path(listing.target_text),
        )
    out.flush()
    return 0


def _path(name: str | None) -> Path | None:
    return None if name is None else files.on_disk(name)
