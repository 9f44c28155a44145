"""The command line as a program: its streams, signals and last message."""

import importlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pairweave.pipelines import cli
from pairweave.pipelines.command_line import flags
from pairweave.pipelines.process import interrupt
from pairweave.transforms.errors import ConfigError
from tests.makers import runs

PROGRAM = """
import sys
from pairweave.pipelines import cli
from pairweave.pipelines.command_line import command_table
from pairweave.pipelines.process import interrupt
class Command(command_table.Command):
    module = "job_of_a_test"
cli.COMMANDS["job"] = cli.COMMANDS["preview"] = Command("", "")
cli.CONTINUED |= {"job"}
sys.argv[1:] = sys.argv[1:] or ["job"]
sys.exit(cli.main())
"""

HEARING = f"""
import signal
for number in {[int(number) for number in interrupt.ASKING]}:
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
"""
"""Begins a program whose tests may be run by something that ignores signals, as nohup does. A
``preexec_fn`` would do so in a fork of the tests, in which gRPC writes to standard error or aborts
if it is at work in them."""


def start(directory: Path, job: str, *words: str, **settings) -> subprocess.Popen:
    """Start the command line with a job of a few lines, or another command with them."""
    (directory / "job_of_a_test.py").write_text(
        f"import atexit, time\n\ndef main(prog, arguments):\n    {job}\n", encoding="utf-8"
    )
    return subprocess.Popen(
        [sys.executable, "-c", HEARING + PROGRAM, *words],
        env={**os.environ, "PYTHONPATH": f"{runs.ROOT}{os.pathsep}{directory}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **settings,
    )


WAIT = "atexit.register(print, 'tidy'); print('on', flush=True); time.sleep(60)"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_program_that_is_asked_to_end_tidies_up_and_says_so(tmp_path, number):
    with start(tmp_path, WAIT) as process:
        assert process.stdout.readline() == "on\n"
        process.send_signal(number)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert out == "tidy\n"
    assert errors == f"pairweave: ended by {number.name}; run the same command again to continue\n"


def test_what_begins_anew_is_not_said_to_continue(tmp_path):
    with start(tmp_path, WAIT, "preview") as process:
        assert process.stdout.readline() == "on\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "pairweave: interrupted\n"


def test_a_program_that_shall_outlive_its_terminal_does(tmp_path):
    job = "print('on', flush=True); time.sleep(0.5)"
    ignore = ["nohup", sys.executable, "-c", PROGRAM]
    (tmp_path / "job_of_a_test.py").write_text(
        f"import time\n\ndef main(prog, arguments):\n    {job}\n    return 7\n"
    )
    with subprocess.Popen(
        ignore,
        env={**os.environ, "PYTHONPATH": f"{runs.ROOT}{os.pathsep}{tmp_path}"},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "on\n"
        process.send_signal(signal.SIGHUP)
        assert process.wait(60) == 7


def test_garbage_collection_looks_through_no_imports(tmp_path):
    job = "import gc; print(gc.isenabled(), gc.get_freeze_count() > 10_000); return 0"
    with start(tmp_path, job) as process:
        out, _ = process.communicate(timeout=60)
    assert out == "True True\n"


def test_an_error_about_no_file_in_particular_names_none(tmp_path):
    job = "raise FileNotFoundError(2, 'No usable temporary directory found')"
    with start(tmp_path, job) as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert errors == "pairweave: No usable temporary directory found\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    "closed",
    [*(pytest.param(one, marks=pytest.mark.slow) for one in (">&-", "2>&-")), "<&- >&- 2>&-"],
)
def test_a_run_needs_no_open_streams(tmp_path, closed):
    """Nor does a library's output then go into a file that was opened later."""
    for side in ("en", "de"):
        (tmp_path / f"blank.{side}").write_text("\n", encoding="utf-8")
    words = ["--source_input", "blank.en", "--target_input", "blank.de", "--output", "out"]
    words += ["--workers", "2", "--allow_empty"]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *runs.COMMAND, "augment", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(runs.ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    manifest = json.loads((tmp_path / "out" / "_manifest.json").read_text(encoding="utf-8"))
    assert manifest["rows"]["read"] == 1


HELP = """
import sys
from pairweave.pipelines import cli
for name in cli.JOBS:
    try:
        cli.main([name, "--output", "out", "--help"])
    except SystemExit as ended:
        assert ended.code == 0
slow = {"apache_beam", "numba", "numpy", "pyarrow", "torch"} & sys.modules.keys()
sys.exit(f"{slow} loaded" if slow else 0)
"""


def test_help_of_jobs_is_there_at_once():
    done = subprocess.run(
        [sys.executable, "-c", HELP], cwd=runs.ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for name in cli.JOBS:
        assert f"usage: pairweave {name} [--config FILE.yaml]" in done.stdout


@pytest.mark.parametrize("name", sorted(cli.JOBS))
def test_help_is_written_from_the_options_that_the_job_takes(name, monkeypatch):
    taken = []

    def parse(model, prog, about, _arguments, *, beam):
        taken.append((model, prog, about, beam))
        raise ConfigError("that is all")

    monkeypatch.setattr(flags, "parse", parse)
    job = importlib.import_module(cli.COMMANDS[name].module)
    for show in (lambda: job.main(name, []), lambda: cli.show_help(name)):
        with pytest.raises(ConfigError, match="that is all"):
            show()
    assert taken[0] == taken[1]


@pytest.mark.parametrize("name", ["align", "run", "refresh"])
def test_a_second_file_of_options_is_refused(name, capsys):
    assert cli.main([name, "--config", "a.yaml", "--config", "b.yaml", "--output", "x"]) == 2
    assert "--config b.yaml: --config a.yaml is given already" in capsys.readouterr().err


def test_help_of_a_subcommand_is_its_own(capsys):
    pytest.importorskip("deltalake", reason="needs the extra refresh")
    with pytest.raises(SystemExit) as ended:
        cli.main(["refresh", "vacuum", "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("usage: pairweave refresh vacuum ")


def test_threads_whose_connection_ends_say_nothing(tmp_path):
    job = (
        "import threading\n"
        "    class Lost(Exception):\n"
        "        __module__ = 'grpc._channel'\n"
        "    def fail(error):\n"
        "        raise error\n"
        "    for error in (Lost('connection'), ValueError('of ours')):\n"
        "        thread = threading.Thread(target=fail, args=(error,))\n"
        "        thread.start()\n"
        "        thread.join()\n"
        "    return 0"
    )
    process = start(tmp_path, job)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "ValueError: of ours" in errors
    assert "Lost" not in errors
