"""The command ``tags profile``: learns the shapes of tags from real documents."""

from typing import Annotated

from pydantic import Field

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.options.base import Language
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.markup.markup import SyntaxName, find_syntax
from pairweave.transforms.markup.other_syntax import check_lines
from pairweave.transforms.option_places import CORPUS_FILES, OUTPUT_FILE
from pairweave.transforms.output.run_files import to_json
from pairweave.transforms.storage import files
from pairweave.transforms.storage.whole_files import require_plain_name
from pairweave.transforms.tags.profile_texts import read_texts, translations_of
from pairweave.transforms.tags.tag_profile import learn_profile


@command("learn numbers, forms, lengths, positions and nesting of tags, for augment --tag_profile")
def main(
    *,
    input: Annotated[str, CORPUS_FILES, "tagged text, one text per line [.gz .zst .xz .bz2]"],
    target_input: Annotated[
        str | None, CORPUS_FILES, "its tagged translation, to count pairs that are in two parts"
    ] = None,
    syntax: Annotated[SyntaxName, "syntax of tags in the text"] = "xliff",
    source_lang: Annotated[Language | None, "BCP 47 tag of the input"] = None,
    output: Annotated[str, OUTPUT_FILE, Field(min_length=1), "file of the profile, JSON"],
) -> int:
    """Run the command from its command line."""
    require_plain_name(output, "a tag profile")
    sources = read_texts(input)
    targets = None
    if target_input is not None:
        targets = translations_of(sources, input, target_input)
    texts = list(sources.values())
    markup = find_syntax(syntax)
    warning = check_lines(input, texts, markup)
    if warning is not None:
        terminal.warn(warning)
    try:
        profile = learn_profile(texts, markup, targets, source_lang)
    except ConfigError as error:
        what = f"with --syntax {syntax}, all other markup is text"
        raise ConfigError(f"{input}: {error}; {what}") from error
    files.write_alone(output, to_json(profile))
    facts = {name: profile[name] for name in ("texts", "tagged_texts", "tags")}
    terminal.say_json({**facts, "output": output})
    return 0
