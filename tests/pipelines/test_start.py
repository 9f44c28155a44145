"""The first moments of the command: a signal ends it with a message, whatever is being imported."""

import os
import signal
import subprocess
import sys
import tomllib

import pytest

from tests.makers import runs

PROGRAM = """
import runpy
import sys
import time

class Waits:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.stdout.write("waits" + chr(10))
            sys.stdout.flush()
            time.sleep(60)

sys.meta_path.insert(0, Waits())
sys.argv = ["pairweave", "align", "--input", "a.tsv", "--output", "out"]
"""
AS_SCRIPT = "from pairweave.pipelines.start import main\nsys.exit(main())\n"
IGNORING = "import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
AS_MODULE = "runpy.run_module('pairweave.pipelines.cli', run_name='__main__')\n"


def stopped(directory, program, module, number, before=""):
    """Send a signal while the command imports a module; return its status, and its errors."""
    with subprocess.Popen(
        [sys.executable, "-c", before + PROGRAM.format(module=module) + program],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(runs.ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "waits\n"
        process.send_signal(number)
        if before:
            process.send_signal(signal.SIGTERM)
        return process.wait(), process.stderr.read()


@pytest.mark.parametrize(
    ("number", "program", "module", "words"),
    [
        (signal.SIGTERM, AS_SCRIPT, "pairweave.pipelines.cli", "ended by SIGTERM"),
        (signal.SIGINT, AS_SCRIPT, "pairweave.pipelines.cli", "interrupted"),
        (
            signal.SIGTERM,
            AS_MODULE,
            "pairweave.pipelines.engines.private_network",
            "ended by SIGTERM",
        ),
    ],
)
def test_a_signal_while_the_command_line_is_imported_ends_it_with_a_message(
    tmp_path, number, program, module, words
):
    status, errors = stopped(tmp_path, program, module, number)
    assert (status, errors) == (128 + number, f"pairweave: {words}\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(
    "module",
    [
        "pairweave.pipelines.engines.private_network",
        "pairweave.pipelines.process.supervisor",
        "pairweave.pipelines.jobs.align",
        "apache_beam",
    ],
)
def test_a_signal_at_any_early_moment_ends_it_with_a_message(tmp_path, number, module):
    status, errors = stopped(tmp_path, AS_SCRIPT, module, number)
    assert status == 128 + number
    assert errors.count("\n") == 1
    assert errors.startswith(("pairweave: ended by SIG", "pairweave: interrupted"))
    assert not list(tmp_path.iterdir())


def test_a_signal_that_is_ignored_stays_so_from_the_start(tmp_path):
    status, errors = stopped(
        tmp_path, AS_SCRIPT, "pairweave.pipelines.cli", signal.SIGHUP, before=IGNORING
    )
    assert (status, errors) == (143, "pairweave: ended by SIGTERM\n")


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_another_system_is_refused_in_one_line_before_anything_is_imported(system):
    program = f"import sys\nsys.platform = {system!r}\nsys.modules['fcntl'] = None\n" + AS_SCRIPT
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(runs.ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("pairweave: runs only on Linux")
    assert done.stderr.count("\n") == 1


def test_the_command_begins_there():
    project = tomllib.loads((runs.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["scripts"] == {"pairweave": "pairweave.pipelines.start:main"}
