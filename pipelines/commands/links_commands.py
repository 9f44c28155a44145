"""The commands ``symmetrize`` and ``phrases``, which read Pharaoh files and print text."""

import sys
from pathlib import Path
from typing import Annotated

from pairweave.pipelines.command_line.command_function import command
from pairweave.transforms.links.link_options import PhraseOptions, SymmetrizeConfig
from pairweave.transforms.links.pharaoh import phrase_files, symmetrize_files
from pairweave.transforms.option_places import FILE
from pairweave.transforms.storage import files


@command()
def symmetrize(
    forward: Annotated[str, FILE, "Pharaoh links, one direction"],
    reverse: Annotated[str, FILE, "Pharaoh links, the other direction, also as source-target"],
    *,
    config: SymmetrizeConfig,
) -> int:
    """Print the combined links."""
    paths = files.on_disk(forward), files.on_disk(reverse)
    symmetrize_files(*paths, config.heuristic, sys.stdout.buffer)
    return 0


@command()
def phrases(
    links: Annotated[str, FILE, "Pharaoh links"],
    *,
    limits: PhraseOptions,
    source_text: Annotated[
        str | None,
        FILE,
        "the source sentences, words separated by spaces: with --unaligned_words allow they are "
        "needed for words after the last linked one",
    ] = None,
    target_text: Annotated[
        str | None, FILE, "the target sentences, words separated by spaces"
    ] = None,
) -> int:
    """Print the phrase pairs."""
    phrase_files(
        files.on_disk(links),
        limits.max_words,
        limits.unaligned_words,
        sys.stdout.buffer,
        _path(source_text),
        _path(target_text),
    )
    return 0


def _path(name: str | None) -> Path | None:
    return None if name is None else files.on_disk(name)
