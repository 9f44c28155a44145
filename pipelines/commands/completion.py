"""The command ``completion``: prints a script that completes commands and options in a shell."""

import importlib
import sys
from collections.abc import Sequence

from pairweave.pipelines.command_line import command_table, flags
from pairweave.pipelines.command_line.command_table import COMMANDS
from pairweave.pipelines.commands.command_options import CompletionOptions
from pairweave.pipelines.options.base import Options
from pairweave.pipelines.process import verbosity
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
complete -o default -F _pairweave pairweave
"""

_ZSH = "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"


def main(name: str, arguments: Sequence[str]) -> int:
    """Print the script."""
    options = flags.read_command(CompletionOptions, name, arguments)
    if options.shell == "zsh":
        sys.stdout.write(_ZSH)
    sys.stdout.write(_fish() if options.shell == "fish" else _bash())
    return 0


_OPTIONS = "pairweave.pipelines.commands.command_options"
_TAG_OPTIONS = "pairweave.pipelines.commands.tags.tag_options"
_PROJECTION_OPTIONS = "pairweave.pipelines.commands.tags.projection_options"
_OTHERS = {
    "ablate": ("pairweave.pipelines.commands.ablate:AblateOptions",),
    "check": ("pairweave.pipelines.job_options.check_options:CheckOptions",),
    "filter_fit": (f"{_OPTIONS}:FilterFitOptions",),
    "projection_fit": (f"{_OPTIONS}:ProjectionFitOptions",),
    "symmetrize": (f"{_OPTIONS}:SymmetrizeFilesOptions",),
    "phrases": (f"{_OPTIONS}:PhrasesOptions",),
    "status": (f"{_OPTIONS}:StatusOptions",),
    "gc": (f"{_OPTIONS}:GcOptions",),
    "report": (f"{_OPTIONS}:ReportOptions",),
    "compare": (f"{_OPTIONS}:CompareOptions",),
    "export": (f"{_OPTIONS}:ExportOptions",),
    "stream": ("pairweave.pipelines.streaming.stream_options:StreamCommandOptions",),
    "preview": (f"{_OPTIONS}:PreviewOptions",),
    "init": (f"{_OPTIONS}:InitOptions",),
    "doctor": (f"{_OPTIONS}:DoctorOptions",),
    "completion": (f"{_OPTIONS}:CompletionOptions",),
    "cluster": (f"{_OPTIONS}:ClusterOptions",),
    "tags encode": (f"{_TAG_OPTIONS}:TagsEncodeOptions",),
    "tags decode": (f"{_TAG_OPTIONS}:TagsDecodeOptions",),
    "tags vocabulary": (f"{_TAG_OPTIONS}:TagsVocabularyOptions",),
    "tags profile": (f"{_OPTIONS}:TagsProfileOptions",),
    "tags agree": (f"{_TAG_OPTIONS}:TagsAgreeOptions",),
    "tags project": (f"{_PROJECTION_OPTIONS}:TagsProjectOptions",),
    "tags fit_projection": (f"{_PROJECTION_OPTIONS}:TagsFitProjectionOptions",),
    "evaluate links": (f"{_OPTIONS}:EvaluateLinksOptions",),
    "evaluate aligners": (f"{_OPTIONS}:EvaluateAlignersOptions",),
    "evaluate sentences": (f"{_OPTIONS}:EvaluateSentencesOptions",),
    "evaluate suggestions": (
        *(f"{_OPTIONS}:EvaluateSuggestionsOptions", f"{_OPTIONS}:CompareExamplesOptions"),
    ),
    "evaluate tags": (f"{_OPTIONS}:EvaluateTagsOptions",),
    "evaluate judgements": (f"{_OPTIONS}:JudgementOptions",),
}
"""The classes of options (module and name) of commands and subcommands other than jobs."""


def subcommands() -> dict[str, tuple[str, ...]]:
    """Return the words that may follow each command that has subcommands."""
    words_of = {name: words for name, words in command_table.SUBCOMMANDS.items() if words}
    for name in _OTHERS:
        command, _, word = name.partition(" ")
        if word:
            words_of[command] = (*words_of.get(command, ()), word)
    return words_of


def options_of(name: str) -> list[str]:
    """Return the options of a command or of a subcommand, such as ``tags encode``, without dashes.

    >>> "max_tags" in options_of("augment"), "format" in options_of("export")
    (True, True)
    """
    common = ["help", *(flag[2:].partition(" ")[0] for flag, _ in verbosity.HELP)]
    job = command_table.options_of(name) if name in COMMANDS else None
    kinds: list[type[Options]] = [] if job is None else [job]
    for place in _OTHERS.get(name, ()):
        module, _, kind = place.partition(":")
        kinds.append(getattr(importlib.import_module(module), kind))
    own_options = {
        option
        for kind in kinds
        for option, field in kind.model_fields.items()
        if not is_list_of_blocks(field) and mark_of(field, "at") is None
    }
    return sorted({*common, *own_options, *(["config"] if job is not None else [])})


def _names() -> list[str]:
    """Return the commands, and the subcommands that have options of their own."""
    return [*COMMANDS, *(name for name in _OTHERS if name not in COMMANDS)]


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
    return "".join(f"{line}\n" for line in lines)
