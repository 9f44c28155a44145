"""The command ``tags encode``: turns real tags into symbols and writes a table of them."""

from typing import Annotated

from pydantic import Field

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.commands.tags.tag_options import CodingOptions
from pairweave.pipelines.process import terminal
from pairweave.transforms.counted import counted
from pairweave.transforms.indexed_tag import INDICES, MAX_TAGS
from pairweave.transforms.option_places import CORPUS_FILES, OUTPUT_FILE
from pairweave.transforms.symbols.tag_files import EncodeFiles, encode_files


@command("turn the tags of text into symbols that a translation model copies")
def main(
    *,
    coding: CodingOptions,
    input: Annotated[
        str, CORPUS_FILES, Field(min_length=1), "tagged text, one per line [.gz .zst .xz .bz2]"
    ],
    output: Annotated[
        str, OUTPUT_FILE, Field(min_length=1), "file of the text with symbols [.gz .zst .xz .bz2]"
    ],
    table: Annotated[
        str,
        OUTPUT_FILE,
        Field(min_length=1),
        "file of the tags behind the symbols, JSON lines [.gz .zst .xz .bz2]",
    ],
    target_input: Annotated[
        str | None, CORPUS_FILES, "its tagged translation: matching tags get the same number"
    ] = None,
    target_output: Annotated[
        str | None, OUTPUT_FILE, "file of the translation with symbols"
    ] = None,
    target_table: Annotated[str | None, OUTPUT_FILE, "file of the translation's table"] = None,
    max_tags: Annotated[
        int | None,
        Field(ge=1, le=10_000),
        "tags per line that the model has symbols for; lines with more cause a warning (default "
        "as in symbols.txt of augment: 10, or 9 for xliff, masked and html)",
    ] = None,
) -> int:
    """Run the command from its command line."""
    paths = EncodeFiles(input, output, table, target_input, target_output, target_table)
    indexed = coding.template or coding.representation in (None, "indexed")
    symbols = max_tags or (INDICES if indexed else MAX_TAGS)
    count = encode_files(paths, coding.coding(), symbols, terminal.warn)
    if count["lines_beyond_symbols"]:
        lines, most = count["lines_beyond_symbols"], count["most_elements"]
        terminal.warn(
            f"pairweave: {counted(lines, 'line has', 'lines have')} more than {symbols} tags, "
            f"up to {most}; symbols.txt of augment lists {symbols}. A model needs the others, "
            f"too: add them with tags vocabulary --max_tags {most}, then give --max_tags {most}"
        )
    terminal.say_json(count)
    return 0
