"""The command ``completion``: prints a script that completes commands and options in a shell."""

import sys
from collections.abc import Sequence

from pairweave.pipelines.command_line import command_table, flags
from pairweave.pipelines.command_line.command_table import COMMANDS
from pairweave.pipelines.commands.command_options import CompletionOptions
from pairweave.pipelines.process import verbosity
from pairweave.transforms.option_facts import is_list_of_blocks

_BASH = """_pairweave() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{commands}"
  elif [[ $word == -* ]]; then
    case ${{COMP_WORDS[1]}} in
{cases}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _pairweave pairweave
"""

_ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"


def main(name: str, arguments: Sequence[str]) -> int:
    """Print the script."""
    options, _ = flags.parse(
        CompletionOptions, f"pairweave {name}", COMMANDS[name].about, arguments, beam=False
    )
    sys.stdout.write({"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell]())
    return 0


def options_of(name: str) -> list[str]:
    """Return the options of a command, without dashes; those of subcommands are left out."""
    kind = command_table.options_of(name)
    common = ["help", *(flag[2:].partition(" ")[0] for flag, _ in verbosity.HELP)]
    if kind is None:
        return sorted(common)
    fields = kind.model_fields.items()
    given = (name for name, field in fields if not is_list_of_blocks(field))
    return sorted({*common, "config", *given})


def _bash() -> str:
    cases = "\n".join(
        f'      {name}) words="{" ".join(f"--{option}" for option in options_of(name))}" ;;'
        for name in COMMANDS
    )
    return _BASH.format(commands=" ".join(COMMANDS), cases=cases)


def _zsh() -> str:
    return _ZSH + _bash()


def _fish() -> str:
    first = "complete -c pairweave -n __fish_use_subcommand -f"
    lines = [f"{first} -a {name} -d '{command.about}'" for name, command in COMMANDS.items()]
    for name in COMMANDS:
        when = f"complete -c pairweave -n '__fish_seen_subcommand_from {name}'"
        lines += [f"{when} -l {option}" for option in options_of(name)]
    return "".join(f"{line}\n" for line in lines)
