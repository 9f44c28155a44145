"""The commands ``symmetrize`` and ``phrases``, which read Pharaoh files and print text."""

import sys
from collections.abc import Sequence
from pathlib import Path

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands.command_options import PhrasesOptions, SymmetrizeFilesOptions
from pairweave.transforms.links.pharaoh import phrase_files, symmetrize_files
from pairweave.transforms.storage import files


def main(name: str, arguments: Sequence[str]) -> int:
    """Run the command from its command line."""
    out = sys.stdout.buffer
    if name == "symmetrize":
        combine = flags.read_command(SymmetrizeFilesOptions, name, arguments)
        symmetrize_files(
            files.on_disk(combine.forward), files.on_disk(combine.reverse), combine.heuristic, out
        )
    else:
        listing = flags.read_command(PhrasesOptions, name, arguments)
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
