"""The command ``tags decode``: turns symbols back into tags and repairs damage by the model."""

from typing import Annotated

from pydantic import Field

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.commands.tags.tag_options import CodingOptions
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_places import CORPUS_FILES, FILE, OUTPUT_FILE
from pairweave.transforms.symbols.tag_files import decode_files


@command(
    "turn symbols back into tags: missing tags are restored at the end, spurious ones are removed, "
    "order and nesting are repaired (Hanneman and Dinu 2020, section 4.2)"
)
def main(
    *,
    coding: CodingOptions,
    input: Annotated[
        str,
        CORPUS_FILES,
        Field(min_length=1),
        "text with symbols, one per line [.gz .zst .xz .bz2]",
    ],
    output: Annotated[
        str, OUTPUT_FILE, Field(min_length=1), "file of the text with real tags [.gz .zst .xz .bz2]"
    ],
    table: Annotated[
        str | None, FILE, "the table that tags encode wrote; it also records how tags were encoded"
    ] = None,
    source: Annotated[
        str | None,
        FILE,
        "instead of the table: the tagged text that was encoded, with the same --syntax, "
        "--representation and --whitespace_shift",
    ] = None,
) -> int:
    """Run the command from its command line."""
    if table is not None and coding.model_fields_set:
        given = min(coding.model_fields_set)
        raise ConfigError(
            f"--table records how tags were encoded; --{given} applies only with --source"
        )
    count = decode_files(
        input, output, table=table, source=source, coding=coding.coding(), warn=terminal.warn
    )
    terminal.say_json(count)
    return 0
