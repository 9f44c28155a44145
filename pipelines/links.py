"""The commands ``symmetrize`` and ``phrases``: Pharaoh files in, text on standard output."""

import sys
from collections.abc import Sequence
from pathlib import Path

from pipelines import flags
from pipelines.cli import COMMANDS
from pipelines.command_options import PhrasesOptions, SymmetrizeOptions
from transforms.pharaoh import phrase_files, symmetrize_files


def main(name: str, arguments: Sequence[str]) -> int:
    """Run the command from its command line."""
    prog, about = f"pairweave {name}", COMMANDS[name].about
    out = sys.stdout.buffer
    if name == "symmetrize":
        combine, _ = flags.parse(SymmetrizeOptions, prog, about, arguments, beam=False)
        symmetrize_files(Path(combine.forward), Path(combine.reverse), combine.heuristic, out)
    else:
        listing, _ = flags.parse(PhrasesOptions, prog, about, arguments, beam=False)
        phrase_files(
            Path(listing.links),
            listing.max_words,
            listing.unaligned_words,
            out,
            _path(listing.source_text),
            _path(listing.target_text),
        )
    out.flush()
    return 0


def _path(name: str | None) -> Path | None:
    return None if name is None else Path(name)
