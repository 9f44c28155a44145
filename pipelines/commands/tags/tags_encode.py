"""The command ``tags encode``: turns real tags into symbols and writes a table of them."""

from collections.abc import Sequence

import orjson

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands.tags.tag_options import TagsEncodeOptions
from pairweave.pipelines.process import terminal
from pairweave.transforms.indexed_tag import INDICES, MAX_TAGS
from pairweave.transforms.symbols.tag_files import EncodeFiles, encode_files


def main(_name: str, arguments: Sequence[str]) -> int:
    """Run the command from its command line."""
    options = flags.read_command(
        TagsEncodeOptions,
        "tags encode",
        arguments,
        "turn the tags of text into symbols that a translation model copies",
    )
    paths = EncodeFiles(
        options.input,
        options.output,
        options.table,
        options.target_input,
        options.target_output,
        options.target_table,
    )
    indexed = options.template or options.representation in (None, "indexed")
    symbols = options.max_tags or (INDICES if indexed else MAX_TAGS)
    count = encode_files(paths, options.coding(), symbols, terminal.warn)
    if count["lines_beyond_symbols"]:
        lines, most = count["lines_beyond_symbols"], count["most_elements"]
        terminal.warn(
            f"pairweave: {lines} lines have more than {symbols} tags, up to {most}; symbols.txt "
            f"of augment lists {symbols}. A model needs the others, too: add them with tags "
            f"vocabulary --max_tags {most}, then give --max_tags {most}"
        )
    terminal.say(orjson.dumps(count).decode())
    return 0
