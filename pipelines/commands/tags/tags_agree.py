"""The command ``tags agree``: keeps the lines whose tags agree in several languages."""

import contextlib
from collections.abc import Sequence

import orjson

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands.tags.tag_options import TagsAgreeOptions
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup.agreeing_tags import common_tags, tags_agree
from pairweave.transforms.markup.markup import find_syntax, parse_markup
from pairweave.transforms.markup.other_syntax import SyntaxCheck
from pairweave.transforms.storage import files
from pairweave.transforms.storage.text_lines import read_in_step
from pairweave.transforms.storage.whole_files import open_whole, require_apart


def main(_name: str, arguments: Sequence[str]) -> int:
    """Run the command from its command line."""
    options = flags.read_command(
        TagsAgreeOptions,
        "tags agree",
        arguments,
        "keep the lines whose tags agree in several languages, for tagged test sets (Hanneman and "
        "Dinu 2020, section 5.2)",
    )
    outputs = _outputs(options)
    syntax = find_syntax(options.syntax)
    checks = [SyntaxCheck(path, syntax) for path in options.input]
    count = dict.fromkeys(("lines", "kept", "tags_differ", "untagged", "empty", "duplicates"), 0)
    seen: set[tuple[str, ...]] = set()
    with contextlib.ExitStack() as stack:
        written = [stack.enter_context(open_whole(path)) for path in outputs]
        for lines in read_in_step(*options.input):
            texts = [parse_markup(line.text, syntax) for line in lines]
            for check, line, text in zip(checks, lines, texts, strict=True):
                check.add(line.text, text)
            count["lines"] += 1
            agree = tags_agree(texts)
            if not agree and options.differing == "trim":
                texts, agree = common_tags(texts), True
            whole = tuple(map(str, texts))
            if not all(text.text.strip() for text in texts):
                count["empty"] += 1
            elif not agree:
                count["tags_differ"] += 1
            elif options.tagged_only and not texts[0].tags:
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
    terminal.say(orjson.dumps({**count, "output": options.output}).decode())
    return 0


def _outputs(options: TagsAgreeOptions) -> list[str]:
    """Return the output of each input: its name, in the output directory.

    Raises:
        ConfigError: There are fewer than two inputs, two have one name, or an output is an input.
    """
    if len(options.input) < 2:
        raise ConfigError("--input: give one file for each language, at least two")
    names = [path.rpartition("/")[2] for path in options.input]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigError(f"--input: two files are named {twice}; their outputs would be one file")
    outputs = [files.join(options.output, name) for name in names]
    require_apart([*options.input, *outputs])
    return outputs
