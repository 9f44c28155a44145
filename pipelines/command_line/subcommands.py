"""Commands that only have subcommands: running the one that is typed, and their help."""

import difflib
from collections.abc import Sequence

from pairweave.pipelines.command_line.command_table import SUBCOMMANDS, words_after
from pairweave.pipelines.process import terminal
from pairweave.transforms.errors import ConfigError

_EVALUATE = """usage: pairweave evaluate KIND ARGUMENTS [--option value ...]

  links HYPOTHESIS GOLD             AER, precision and recall of word links
  aligners --pairs FILE --gold GOLD --aligners NAME ...
                                    the same for several aligners, with their speed
  sentences HYPOTHESIS GOLD         precision, recall and F1 of sentence alignments
  suggestions HYPOTHESIS GOLD ... --target_lang TAG
                                    sacreBLEU and exact match of suggestions
  suggestions --data RUN --golden PREFIX
                                    how far masks are from those of a golden set
  tags HYPOTHESIS REFERENCE         accuracy, F1 and failures of tags in translations
  judgements --sample RUN --output SHEET
                                    a sheet of tags for people to judge
  judgements --sheets SHEET ...     what the judges said, and how far they agree

pairweave evaluate KIND --help lists the options of one kind."""


def run(name: str, arguments: Sequence[str]) -> int:
    """Run the subcommand that the first argument names, or show what there is to name.

    Raises:
        ConfigError: There is no such subcommand, or the rest of the command line is wrong.
    """
    if not arguments or arguments[0] in ("-h", "--help"):
        terminal.say(usage(name))
        return 0 if arguments else 2
    word, *rest = arguments
    command = SUBCOMMANDS.get(f"{name} {word}")
    if command is None:
        near = difflib.get_close_matches(word, words_after(name), 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ConfigError(
            f"unknown subcommand {name} {word!r}; {hint}choose from {', '.join(words_after(name))}"
        )
    return int(command.load()(f"{name} {word}", rest))


def usage(name: str) -> str:
    """Return the help text of a command that only has subcommands."""
    if name == "evaluate":
        return _EVALUATE
    words = words_after(name)
    width = max(map(len, words))
    lines = [f"  {word:<{width}}  {SUBCOMMANDS[f'{name} {word}'].about}" for word in words]
    more = f"pairweave {name} SUBCOMMAND --help lists the options of a subcommand."
    head = f"usage: pairweave {name} SUBCOMMAND [--option value ...]"
    return "\n".join([head, "", *lines, "", more])
