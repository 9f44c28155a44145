"""The command ``try``: shows what each step of ``augment`` makes of a few pairs."""

import shlex
from collections.abc import Sequence

from pairweave.pipelines.cli import COMMANDS
from pairweave.pipelines.command_line import flags
from pairweave.pipelines.process import terminal
from pairweave.pipelines.trial.trial_options import TrialOptions
from pairweave.transforms.errors import ConfigError


def main(name: str, arguments: Sequence[str]) -> int:
    """Show a few pairs from the command line."""
    options = _parsed(name, arguments)
    changed = _parsed(name, [*arguments, *_flags(options.change)]) if options.change else None

    from pairweave.pipelines.trial.trial import run_trial
    from pairweave.pipelines.trial.trial_text import changed_lines, trial_lines

    before = run_trial(options, options.pairs)
    if changed is None:
        for trial in before:
            terminal.say("\n".join([*trial_lines(trial), ""]))
        return 0
    for line in changed_lines(before, run_trial(changed, options.pairs)):
        terminal.say(line)
    return 0


def _parsed(name: str, arguments: Sequence[str]) -> TrialOptions:
    prog, about = f"pairweave {name}", COMMANDS[name].about
    options, _ = flags.parse(TrialOptions, prog, about, arguments, beam=False)
    return options


def _flags(changes: Sequence[str]) -> list[str]:
    """Return changed options as flags.

    Raises:
        ConfigError: One has no value.
    """
    words = []
    for change in changes:
        option, equals, value = change.partition("=")
        if not equals or not option:
            raise ConfigError(f"--change {change}: give an option and its value, as in max_tags=3")
        words += [f"--{option}", *shlex.split(value)]
    return words
