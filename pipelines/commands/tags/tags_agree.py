"""The command ``tags agree``: keeps the lines whose tags agree in several languages."""

import contextlib
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup.agreeing_tags import common_tags, tags_agree
from pairweave.transforms.markup.markup import SyntaxName, find_syntax, parse_markup
from pairweave.transforms.markup.other_syntax import SyntaxCheck
from pairweave.transforms.option_places import CORPUS_FILES, OUTPUT_DIRECTORY
from pairweave.transforms.storage import files
from pairweave.transforms.storage.text_lines import read_in_step
from pairweave.transforms.storage.whole_files import open_whole, require_apart


@command(
    "keep the lines whose tags agree in several languages, for tagged test sets (Hanneman and Dinu "
    "2020, section 5.2)"
)
def main(
    *,
    input: Annotated[
        tuple[str, ...],
        CORPUS_FILES,
        Field(min_length=1),
        "tagged text, a file per language, the same sentences line by line [.gz .zst .xz .bz2]",
    ],
    output: Annotated[
        str,
        OUTPUT_DIRECTORY,
        Field(min_length=1),
        "directory of the kept lines, in files of the same names",
    ],
    syntax: Annotated[SyntaxName, "syntax of tags in the text"] = "xliff",
    differing: Annotated[
        Literal["skip", "trim"],
        "lines whose tags differ: skip leaves them out, trim keeps them with the tags that all "
        "languages have",
    ] = "skip",
    tagged_only: Annotated[bool, "leave out lines without tags"] = False,
) -> int:
    """Run the command from its command line."""
    outputs = _outputs(input, output)
    markup = find_syntax(syntax)
    checks = [SyntaxCheck(path, markup) for path in input]
    count = dict.fromkeys(("lines", "kept", "tags_differ", "untagged", "empty", "duplicates"), 0)
    seen: set[tuple[str, ...]] = set()
    with contextlib.ExitStack() as stack:
        written = [stack.enter_context(open_whole(path)) for path in outputs]
        for lines in read_in_step(*input):
            texts = [parse_markup(line.text, markup) for line in lines]
            for check, line, text in zip(checks, lines, texts, strict=True):
                check.add(line.text, text)
            count["lines"] += 1
            agree = tags_agree(texts)
            if not agree and differing == "trim":
                texts, agree = common_tags(texts), True
            whole = tuple(map(str, texts))
            if not all(text.text.strip() for text in texts):
                count["empty"] += 1
            elif not agree:
                count["tags_differ"] += 1
            elif tagged_only and not texts[0].tags:
                count["untagged"] += 1
            elif whole in seen:
                count["duplicates"] += 1
            else:
                seen.add(whole)
                count["kept"] += 1
                for out, line, string in zip(written, lines, whole, strict=True):
                    out.write(line._replace(after=line.after or b"\n").with_text(string))
        warnings = [check.warning() for check in checks]
    for warning in warnings:
        if warning is not None:
            terminal.warn(warning)
    terminal.say_json({**count, "output": output})
    return 0


def _outputs(inputs: Sequence[str], directory: str) -> list[str]:
    """Return the output of each input: its name, in the output directory.

    Raises:
        ConfigError: There are fewer than two inputs, two have one name, or an output is an input.
    """
    if len(inputs) < 2:
        raise ConfigError("--input: give one file for each language, at least two")
    names = [path.rpartition("/")[2] for path in inputs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"--input: two files are named {twice}; their outputs would be one file")
    outputs = [files.join(directory, name) for name in names]
    require_apart([*inputs, *outputs])
    return outputs
