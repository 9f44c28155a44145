"""The command ``completion``: prints a script that completes commands and options in a shell."""

import functools
from typing import Annotated, Literal

from pairweave.pipelines.command_line import command_table
from pairweave.pipelines.command_line.command_function import CommandFunction, command
from pairweave.pipelines.command_line.command_table import COMMANDS, SUBCOMMANDS, words_after
from pairweave.pipelines.options.base import Options
from pairweave.pipelines.process import terminal, verbosity
from pairweave.transforms.option_marks import mark_of
from pairweave.transforms.option_places import is_list_of_blocks

_BASH = """_pairweave() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{commands}"
  elif [[ $word == -* ]]; then
    case "${{COMP_WORDS[1]}} ${{COMP_WORDS[2]}}" in
{cases}
    esac
  elif [ "$COMP_CWORD" -eq 2 ]; then
    case ${{COMP_WORDS[1]}} in
{subcommands}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _pairweave pairweave"""

_ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"


@command()
def main(
    shell: Annotated[
        Literal["bash", "zsh", "fish"],
        "bash, zsh or fish; such as: pairweave completion bash > "
        "~/.local/share/bash-completion/completions/pairweave",
    ],
) -> int:
    """Print the script."""
    terminal.say(_fish() if shell == "fish" else f"{_ZSH if shell == 'zsh' else ''}{_bash()}")
    return 0


@functools.cache
def functions() -> dict[str, tuple[CommandFunction, ...]]:
    """Return the functions of commands and subcommands that have options, except jobs."""
    loaded = {
        name: command.load()
        for name, command in (COMMANDS | SUBCOMMANDS).items()
        if name not in command_table.JOBS
    }
    return {name: each.forms for name, each in loaded.items() if isinstance(each, CommandFunction)}


def subcommands() -> dict[str, tuple[str, ...]]:
    """Return the words that may follow each command that has subcommands."""
    return {name: words for name in COMMANDS if (words := words_after(name))}


def options_of(name: str) -> list[str]:
    """Return the options of a command or of a subcommand, such as ``tags encode``, without dashes.

    >>> "max_tags" in options_of("augment"), "format" in options_of("export")
    (True, True)
    """
    common = ["help", *(flag[2:].partition(" ")[0] for flag, _ in verbosity.HELP)]
    job = command_table.options_of(name) if name in COMMANDS else None
    kinds: list[type[Options]] = [] if job is None else [job]
    kinds += [function.model(name) for function in functions().get(name, ())]
    own_options = {
        option
        for kind in kinds
        for option, field in kind.model_fields.items()
        if not is_list_of_blocks(field) and mark_of(field, "at") is None
    }
    return sorted({*common, *own_options, *(["config"] if job is not None else [])})


def _names() -> list[str]:
    """Return the commands, and the subcommands that have options of their own."""
    return [*COMMANDS, *(name for name in functions() if name not in COMMANDS)]


def _bash() -> str:
    ordered = sorted(_names(), key=lambda name: " " not in name)  # `tags encode` before `tags`
    cases = "\n".join(
        f'      "{name}{"" if " " in name else " "}"*) '
        f'words="{" ".join(f"--{option}" for option in options_of(name))}" ;;'
        for name in ordered
    )
    words = "\n".join(
        f'      {name}) words="{" ".join(subwords)}" ;;' for name, subwords in subcommands().items()
    )
    return _BASH.format(commands=" ".join(COMMANDS), cases=cases, subcommands=words)


def _fish() -> str:
    first = "complete -c pairweave -n __fish_use_subcommand -f"
    lines = [f"{first} -a {name} -d '{command.about}'" for name, command in COMMANDS.items()]
    for name, words in subcommands().items():
        when = f"__fish_seen_subcommand_from {name}"
        lines += [f"complete -c pairweave -n '{when}' -f -a {word}" for word in words]
    for name in _names():
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in name.split())
        lines += [f"complete -c pairweave -n '{seen}' -l {option}" for option in options_of(name)]
    return "\n".join(lines)
