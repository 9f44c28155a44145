"""The command ``tags decode``: turns symbols back into tags and repairs those a model damaged."""

from collections.abc import Sequence

import orjson

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands.tags.tag_options import CodingOptions, TagsDecodeOptions
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.symbols.tag_files import decode_files


def main(_name: str, arguments: Sequence[str]) -> int:
    """Run the command from its command line."""
    options = flags.read_command(
        TagsDecodeOptions,
        "tags decode",
        arguments,
        "turn symbols back into tags: missing tags are restored at the end, spurious ones are "
        "removed, order and nesting are repaired (Hanneman and Dinu 2020, section 4.2)",
    )
    encoding = options.model_fields_set & CodingOptions.model_fields.keys()
    if options.table is not None and encoding:
        raise ConfigError(
            f"--table records how tags were encoded; --{min(encoding)} applies only with --source"
        )
    count = decode_files(
        options.input,
        options.output,
        table=options.table,
        source=options.source,
        coding=options.coding(),
        warn=terminal.warn,
    )
    terminal.say(orjson.dumps(count).decode())
    return 0
