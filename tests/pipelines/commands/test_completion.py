"""The scripts that complete commands and options in shells."""

import shutil
import subprocess

import pytest

from pairweave.pipelines import cli
from pairweave.pipelines.command_line import subcommands
from pairweave.pipelines.commands import completion
from pairweave.pipelines.commands.completion import options_of


def script(shell, capsys):
    assert cli.main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        (("pairweave", "au"), ["augment"]),
        (("pairweave", "augment", "--max_to"), ["--max_token_chars", "--max_tokens"]),
        (("pairweave", "augment", "--max_tags", "3", "--out"), ["--output"]),
        (("pairweave", "preview", "--qu"), ["--quiet"]),
        (("pairweave", "stream", "run", "--epo"), ["--epochs"]),
        (("pairweave", "tags", "pro"), ["profile", "project"]),
        (("pairweave", "tags", "project", "--synt"), ["--syntax"]),
        (("pairweave", "tags", "agree", "--rules"), []),
        (("pairweave", "evaluate", "links", "--one"), ["--one_based"]),
        (("pairweave", "refresh", "vac"), ["vacuum"]),
        (("pairweave", "refresh", "vacuum", "--ret"), ["--retention"]),
    ],
)
def test_bash_completes_commands_and_their_options(typed, expected, capsys):
    words = " ".join(f"'{word}'" for word in typed)
    ask = f"COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _pairweave; echo ${{COMPREPLY[@]}}"
    text = f"{script('bash', capsys)}\n{ask}"
    done = subprocess.run(["bash", "-c", text], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split()) == sorted(expected)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_read_their_scripts(shell, capsys):
    text = script(shell, capsys)
    assert all(name in text for name in cli.COMMANDS)
    if shutil.which(shell):
        subprocess.run([shell, "-c", text], check=True, timeout=60)


def test_a_job_completes_all_of_its_options():
    assert {"max_tags", "output", "config", "help", "log_format"} <= set(options_of("augment"))
    assert "corpora" not in options_of("augment")


def test_every_command_and_subcommand_completes_its_options():
    known = completion.subcommands()
    assert set(known) == {"tags", "evaluate", "refresh"}
    assert all(f"  {name} " in subcommands.usage("evaluate") for name in known["evaluate"])
    bare = completion.options_of("tags")  # the options of every command alone
    without = {"tags", "evaluate", "status", "completion"}
    assert {name for name in cli.COMMANDS if options_of(name) == bare} == without
