"""The command ``tags encode``: real tags to symbols, and a table of what they were."""

import sys
from collections.abc import Sequence

import orjson

from pipelines import flags
from pipelines.tag_options import TagsEncodeOptions
from transforms.tag_files import EncodeFiles, encode_files


def main(_name: str, arguments: Sequence[str]) -> int:
    """Run the command from its command line."""
    options, _ = flags.parse(
        TagsEncodeOptions,
        "pairweave tags encode",
        "turn the tags of text into symbols that a translation model copies",
        arguments,
        beam=False,
    )
    paths = EncodeFiles(
        options.input,
        options.output,
        options.table,
        options.target_input,
        options.target_output,
        options.target_table,
    )
    count = encode_files(paths, options.coding())
    sys.stdout.write(f"{orjson.dumps(count).decode()}\n")
    return 0
