"""The command ``tags profile``: learns the shapes of tags from real documents."""

from collections.abc import Mapping, Sequence

import orjson

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands.command_options import TagsProfileOptions
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import InputError
from pairweave.transforms.markup.markup import find_syntax
from pairweave.transforms.markup.other_syntax import check_lines
from pairweave.transforms.output.run_files import to_json
from pairweave.transforms.storage import files, text_lines
from pairweave.transforms.tags.tag_profile import learn_profile


def main(_name: str, arguments: Sequence[str]) -> int:
    """Run the command from its command line."""
    options = flags.read_command(
        TagsProfileOptions,
        "tags profile",
        arguments,
        "learn numbers, forms, lengths, positions and nesting of tags, for augment --tag_profile",
    )
    sources = read_texts(options.input)
    targets = None
    if options.target_input is not None:
        targets = _in_order(sources, options.input, options.target_input)
    texts = list(sources.values())
    warning = check_lines(options.input, texts, find_syntax(options.syntax))
    if warning is not None:
        terminal.warn(warning)
    profile = learn_profile(texts, find_syntax(options.syntax), targets, options.source_lang)
    files.write_alone(options.output, to_json(profile))
    facts = {name: profile[name] for name in ("texts", "tagged_texts", "tags")}
    terminal.say(orjson.dumps({**facts, "output": options.output}).decode())
    return 0


def read_texts(path: str) -> Mapping[str, str]:
    """Return the lines of a text file by number, or the texts of an LXM JSON file by id.

    Raises:
        InputError: The file is not UTF-8, or not LXM JSON.
    """
    if path.endswith(".json"):
        return _read_json(b"".join(text_lines.read_blocks(path)), path)
    return {str(number): text for number, text in enumerate(text_lines.read_text_lines(path), 1)}


def _read_json(data: bytes, path: str) -> Mapping[str, str]:
    try:
        texts = orjson.loads(data)["text"]
        if not all(isinstance(text, str) for text in texts.values()):
            raise TypeError("a text is not a string")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            "bad_json", path, f"expected LXM JSON with texts by id under 'text': {error}"
        ) from error
    return texts


def _in_order(sources: Mapping[str, str], source: str, target: str) -> list[str]:
    targets = read_texts(target)
    if targets.keys() != sources.keys():
        odd = min(targets.keys() ^ sources.keys(), key=lambda key: (len(key), key))
        raise InputError(
            "line_count_mismatch",
            target,
            f"has {len(targets)} texts, {source} has {len(sources)}; {odd} is in only one of them",
        )
    return [targets[key] for key in sources]
