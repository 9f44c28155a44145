"""The command ``try``: shows the result of each step of ``augment`` for a few pairs."""

import itertools
import shlex
from collections.abc import Collection, Iterator, Sequence

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.options.base import SET_ELSEWHERE
from pairweave.pipelines.process import terminal
from pairweave.pipelines.trial.trial_options import TrialOptions
from pairweave.transforms.errors import ConfigError


def main(name: str, arguments: Sequence[str]) -> int:
    """Show a few pairs from the command line."""
    options, _ = flags.parse_command(TrialOptions, name, arguments)
    changed: TrialOptions | None = None
    if options.change:
        flags_of = {option: _flag(option, value) for option, value in changes(options.change)}
        unchanged = _without(arguments, flags_of.keys())
        changed, _ = flags.parse_command(
            TrialOptions, name, [*unchanged, *itertools.chain.from_iterable(flags_of.values())]
        )

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


def changes(given_changes: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield changed options and their values.

    Raises:
        ConfigError: A change has no value, or names no option of the job.
    """
    for change in given_changes:
        option, equals, value = change.partition("=")
        option = option.replace("-", "_")
        if not equals or not option:
            raise ConfigError(f"--change {change}: give an option and its value, as in max_tags=3")
        if option in NOT_OF_THE_JOB:
            raise ConfigError(f"--change {change}: give an option of augment; see {_HELP}")
        yield option, value


NOT_OF_THE_JOB = {
    *SET_ELSEWHERE,
    *(TrialOptions.model_fields.keys() - AugmentOptions.model_fields.keys()),
}
_HELP = "pairweave augment --help all"


def _flag(option: str, value: str) -> list[str]:
    try:
        return [f"--{option}", *shlex.split(value)]
    except ValueError as error:
        raise ConfigError(f"--change {option}={value}: {error}") from error


def _without(arguments: Sequence[str], options: Collection[str]) -> list[str]:
    """Return a command line without some options, because lists given twice would be joined."""
    words, left_out = [], False
    for word in arguments:
        if word.startswith("--"):
            left_out = word[2:].partition("=")[0].replace("-", "_") in options
        if not left_out:
            words.append(word)
    return words
