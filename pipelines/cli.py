"""The command line: finds the job, builds its options, runs it."""

import contextlib
import gc
import logging
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

if __name__ == "__main__":  # before the imports that take long
    from pairweave.pipelines.process.interrupt import answer_signals

    answer_signals()

from pairweave.pipelines.command_line.command_table import (
    COMMANDS,
    CONTINUED,
    JOBS,
    UNSUPERVISED,
    Command,
    job_options,
    words_after,
)
from pairweave.pipelines.engines import private_network
from pairweave.pipelines.engines.local import forks, worker
from pairweave.pipelines.process import interrupt, memory, supervisor, terminal, verbosity
from pairweave.pipelines.process.log import LOG
from pairweave.transforms.errors import (
    FULL,
    PATH_ERRORS,
    PLACE_ERRORS,
    ConfigError,
    FullError,
    PairweaveError,
    SetAsideError,
)

DONE, FAILED, MEND, SET_ASIDE = 0, 1, 2, 3
READER_LEFT = 128 + signal.SIGPIPE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a job.

    Returns:
        0 if it is done, 2 if the user must fix something, 3 if all but a few shards are finished,
        128 plus the number of a signal that ended it (130 after Ctrl-C; 141, without a message, if
        the reader of its output left), 1 otherwise.
    """
    if arguments is not None:
        return _start(arguments, in_process=True)
    _open_closed_streams()
    terminal.show_all_text()
    try:
        return _start(sys.argv[1:], in_process=False)
    finally:
        terminal.finish(sys.stderr)


def _start(command_line: Sequence[str], *, in_process: bool) -> int:
    try:
        chosen, words = verbosity.take(command_line)
    except ConfigError as error:
        terminal.fail(f"pairweave: {error}")
        return MEND
    with verbosity.speaking(chosen):
        return _main(words, in_process=in_process)


def _main(words: list[str], *, in_process: bool) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        return _report(lambda: _print(usage(), DONE if words else MEND))
    if words[0] in ("-V", "--version", "version"):
        from importlib.metadata import version

        return _report(lambda: _print(f"pairweave {version('pairweave')}", DONE))
    interrupt.note_command(continues=words[0] in CONTINUED)
    if in_process:
        with interrupt.listening():
            return _report(lambda: _run(words))
    if words[0] not in UNSUPERVISED:
        return _report(lambda: supervisor.run(lambda: _report(lambda: _program(words))))
    with interrupt.listening():
        return _report(lambda: _program(words))


def _print(text: str, status: int) -> int:
    print(text)
    return status


def _program(words: list[str]) -> int:
    """Run a job in a process of its own."""
    if private_network.is_wanted(words):
        with contextlib.suppress(OSError):  # the engine says what that means
            private_network.enter()
    forks.allow()
    threading.excepthook = worker.leave_out_lost_connections(threading.excepthook)
    return _run(words)


def _report(work: Callable[[], int]) -> int:
    """Do some work; report an error in one line; return the exit status."""
    try:
        status = work()
        if sys.stdout is not None:  # an error at the end of the interpreter could not be handled
            sys.stdout.flush()
        return status
    except (ConfigError, FullError) as error:
        _tell(f"{error}")
        return MEND
    except SetAsideError as error:
        _tell(f"{error}")
        return SET_ASIDE
    except PairweaveError as error:
        _tell(f"{error}")
        return FAILED
    except BrokenPipeError as error:
        if not terminal.has_lost_reader(sys.stdout):  # a server or another process has ended
            _tell(f"{error}")
            return FAILED
        terminal.finish(sys.stdout)
        supervisor.leave(READER_LEFT)
        return READER_LEFT
    except PATH_ERRORS as error:
        place = f"{error.filename}: " if error.filename else ""
        _tell(f"{place}{error.strerror}")
        return MEND
    except OSError as error:
        unnamed = str(error)
        if error.errno in FULL:  # named files are written by functions that say which
            terminal.finish(sys.stdout)
            unnamed = f"standard output, or {tempfile.gettempdir()}: {error.strerror}"
        _tell(f"{error.filename}: {error.strerror}" if error.filename else unnamed)
        return MEND if error.errno in PLACE_ERRORS else FAILED
    except MemoryError:
        _tell(f"there is not enough memory; {memory.REMEDY}")
        return MEND
    except interrupt.Stopped as stopped:
        _tell(f"{stopped}")
        return 128 + stopped.signal


def _tell(text: str) -> None:
    """Report the error that stops the program in one line, after its traceback if requested."""
    if verbosity.current().debug:
        terminal.fail(traceback.format_exc().rstrip())
    terminal.fail(f"pairweave: {text}")


def _run(words: list[str]) -> int:
    _set_up_logging()
    name, *rest = words
    if name not in COMMANDS:
        raise ConfigError(f"unknown job {name!r}{_nearest(name)}; see pairweave --help")
    for word in rest:
        if any(0xD800 <= ord(mark) < 0xE000 for mark in word):
            raise ConfigError(f"{word}: is not UTF-8; rename the file, or write the option again")
    if name in JOBS:
        # A word in front is a subcommand, whose own parser shows its help.
        if not {"-h", "--help"}.isdisjoint(rest) and rest[0].startswith("-"):
            show_help(name, rest)
        if not rest or rest[0] not in words_after(name):
            check_options(name, rest)
        memory.require_memory()
    return int(_loaded(COMMANDS[name])(name, rest))


def _loaded(command: Command) -> Callable[[str, Sequence[str]], int]:
    """Import a command without garbage collection, which would take seconds and free little.

    Imported objects stay until the end, so later collections skip them, too. Looking through them
    took an eighth of the CPU time of a small run.
    """
    if command.module in sys.modules:
        return command.load()
    enabled = gc.isenabled()
    gc.disable()
    try:
        function = command.load()
        gc.freeze()
    finally:
        if enabled:
            gc.enable()
    return function


def check_options(name: str, words: Sequence[str]) -> None:
    """Refuse wrong options of a job before its module is imported, which takes seconds for Beam.

    Raises:
        ConfigError: See `flags.parse`, which the job calls again.
    """
    from pairweave.pipelines.command_line import flags

    flags.parse_command(job_options(name), name, words)


def show_help(name: str, words: Sequence[str] = ()) -> NoReturn:
    """Print a job's help and leave, as its own parser does; all of it with ``--help all``."""
    check_options(name, ["--help", "all"] if "all" in words else ["--help"])
    raise AssertionError("the parser leaves")


def _nearest(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, 1)
    return f", did you mean {near[0]!r}?" if near else ""


def usage() -> str:
    """Return the help text of the command itself."""
    width = max(map(len, COMMANDS))
    lines = ["usage: pairweave JOB [--config FILE.yaml] [--option value ...] [any Beam option]", ""]
    lines += [f"  {name:<{width}}  {command.about}" for name, command in COMMANDS.items()]
    flag = max(len(name) for name, _ in verbosity.HELP)
    lines += ["", "for every command:"]
    lines += [f"  {name:<{flag}}  {about}" for name, about in verbosity.HELP]
    lines += [
        "",
        "To begin, pairweave init FILES looks at your files and writes the options of a first run.",
        "pairweave JOB --help shows an example and the options that most runs need, and",
        "pairweave JOB --help all every option; pairweave --version shows the version.",
    ]
    return "\n".join(lines)


def _set_up_logging() -> None:
    worker.log_to_stderr("%(asctime)s %(message)s", "%H:%M:%S")
    LOG.setLevel(logging.INFO)


def _open_closed_streams() -> None:
    """Redirect streams that were closed at the start to the null device.

    Otherwise a file that is opened later would get the number of standard output or error, and
    anything that a library writes there would go into that file.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - for good
            os.set_inheritable(stream.fileno(), True)  # noqa: FBT003
            setattr(sys, name, stream)


if __name__ == "__main__":
    sys.exit(main())
