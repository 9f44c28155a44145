"""The command line in a terminal of its own, with keys to press and processes to count."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from pairweave.pipelines.process import descendants, interrupt
from tests.makers import runs

CTRL_C = b"\x03"
SECONDS = 120

INSIDE = f"""
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
for number in {[int(number) for number in interrupt.ASKING]}:  # the tests may ignore them
    signal.signal(number, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])
"""
"""Takes the terminal and becomes a program. A ``preexec_fn`` would run in a fork of the tests, in
which gRPC writes to standard error or aborts if it is at work in them."""


class Terminal:
    """A program whose controlling terminal this is."""

    def __init__(self, command, temporary, **environment):
        """Start it, with a temporary directory of its own."""
        self.temporary = Path(temporary)
        self.temporary.mkdir(parents=True, exist_ok=True)
        self._screen, inside = pty.openpty()

        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", INSIDE, *(str(word) for word in command)],
            env={
                **os.environ,
                "PYTHONPATH": str(runs.ROOT),
                "TMPDIR": str(self.temporary),
                **environment,
            },
            cwd=runs.ROOT,
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
        )
        os.close(inside)
        self._shown = bytearray()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        with contextlib.suppress(OSError):  # the other side is closed
            while part := os.read(self._screen, 1 << 12):
                self._shown += part

    @property
    def shown(self):
        """What stands on the screen so far."""
        return self._shown.decode(errors="replace")

    def press(self, keys=CTRL_C):
        """Press keys; Ctrl-C reaches the whole foreground process group."""
        os.write(self._screen, keys)

    def below(self):
        """Return the processes of the program, itself first."""
        return [self.process.pid, *descendants.of(self.process.pid)]

    def wait(self, seconds=SECONDS):
        """Return the exit status and how many seconds it took."""
        since = time.monotonic()
        status = self.process.wait(seconds)
        taken = time.monotonic() - since
        self._reader.join(5)
        return status, taken

    def close(self):
        """Kill whatever is left."""
        for pid in self.below():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(10)
        with contextlib.suppress(OSError):
            os.close(self._screen)

    def __enter__(self):
        """Return itself."""
        return self

    def __exit__(self, *_):
        """Leave no process behind."""
        self.close()


def until(condition, seconds=SECONDS):
    """Wait until a condition holds; tell whether it came to that."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.005)
    return False


def alive(pids):
    """Return those processes that still run; a zombie does not."""
    running = []
    for pid in pids:
        with contextlib.suppress(OSError):
            state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
            if state != b"Z":
                running.append(pid)
    return running


HELD = """
import importlib, os, pathlib, sys, threading, time
from pairweave.pipelines import cli

module, name, way, mark, *sys.argv[1:] = sys.argv[1:]

def stay(way):
    if way == "python":
        time.sleep(600)
    if way == "call":  # one long call that never gives the lock of Python away
        sum(range(10 ** 14))
    if way == "deaf":  # an exception is caught, whatever it is
        while True:
            try:
                time.sleep(600)
            except BaseException:
                pass
    if way == "threads":  # the interpreter waits for other threads when it ends
        threading.Thread(target=time.sleep, args=(600,)).start()
        time.sleep(600)

def hold(*arguments, **settings):
    with open(mark, "a") as file:
        file.write(f"{os.getpid()}\\n")
    stay(way)
    raise AssertionError("nobody stopped it")

def held(words, program=cli._program):
    place = importlib.import_module(module)
    owner, _, attribute = name.rpartition(".")
    setattr(getattr(place, owner) if owner else place, attribute, hold)
    return program(words)

cli._program = held
sys.exit(cli.main())
"""


def held(module, name, way, mark, arguments, temporary):
    """Start a job that stays for ever where it would call a function.

    Args:
        module: Where the function is looked up.
        name: Its name there.
        way: How it stays: `python`, `call`, `deaf` or `threads`.
        mark: A file that gets a line each time the function is called.
        arguments: The job and its options.
        temporary: The temporary directory.
    """
    command = [sys.executable, "-c", HELD, module, name, way, mark, *arguments]
    return Terminal(command, temporary)
