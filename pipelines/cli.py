"""The command line: finds the job, builds its options, runs it."""

import contextlib
import importlib
import importlib.metadata
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pipelines import forks, worker
from transforms.errors import ConfigError, PairweaveError

DONE, FAILED, MEND = 0, 1, 2

PATH_ERRORS = (
    *(FileExistsError, FileNotFoundError, IsADirectoryError),
    *(NotADirectoryError, PermissionError),
)
"""What a path that the user gave can do wrong."""


TERMINATING = (signal.SIGTERM, signal.SIGHUP)
"""What asks a program to end; a terminal that is closed sends the second."""


class Terminated(SystemExit):
    """The program was asked to end; its code is what a shell shows for that signal."""

    def __init__(self, number: int) -> None:
        """Note the signal."""
        super().__init__(128 + number)
        self.signal = signal.Signals(number)


class Command(NamedTuple):
    """A job of the command line: a module with ``main(prog, arguments)``, and what it does."""

    module: str
    about: str


COMMANDS = {
    "augment": Command("pipelines.augment", "turn pairs into tagged pairs"),
    "suggest": Command("pipelines.suggest", "turn pairs into translation-suggestion examples"),
    "align": Command("pipelines.align", "turn pairs into word links"),
    "fit": Command("pipelines.fit", "fit the statistical aligner"),
    "finetune": Command("pipelines.finetune", "fine-tune an encoder for alignment"),
    "symmetrize": Command("pipelines.links", "combine two directions of links"),
    "phrases": Command("pipelines.links", "list the phrase pairs of links"),
    "tags": Command("pipelines.tags", "learn, encode, decode and project tags"),
    "evaluate": Command("pipelines.evaluate", "measure results against gold data"),
    "report": Command("pipelines.report", "write the HTML report of a finished run again"),
    "export": Command("pipelines.export", "write a finished run's rows for a trainer"),
    "preview": Command("pipelines.preview", "print a few pairs of a finished run"),
    "demo": Command("pipelines.demo", "run the main job on a small real corpus"),
    "doctor": Command("pipelines.doctor", "say what this machine has"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a job.

    Returns:
        0 when done, 2 for what the user must mend, 1 otherwise.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or words[0] in ("-h", "--help", "help"):
        print(usage())
        return DONE if words else MEND
    if words[0] in ("-V", "--version", "version"):
        print(f"pairweave {importlib.metadata.version('pairweave')}")
        return DONE
    if arguments is None:
        _open_closed_streams()
        forks.allow()
        threading.excepthook = worker.leave_out_lost_connections(threading.excepthook)
    _set_up_logging()
    for number in TERMINATING:
        if signal.getsignal(number) != signal.SIG_IGN:  # as under nohup
            signal.signal(number, _on_terminate)
    try:
        return _run(words)
    except ConfigError as error:
        print(f"pairweave: {error}", file=sys.stderr)
        return MEND
    except PairweaveError as error:
        print(f"pairweave: {error}", file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        # The reader of our output has left; let the interpreter's own flush not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except PATH_ERRORS as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"pairweave: {place}{error.strerror}", file=sys.stderr)
        return MEND
    except OSError as error:
        print(f"pairweave: {error}", file=sys.stderr)
        return FAILED
    except Terminated as ended:
        text = f"pairweave: ended by {ended.signal.name}; the same command again goes on"
        with contextlib.suppress(OSError):  # the terminal is gone
            print(text, file=sys.stderr)
        raise
    except KeyboardInterrupt:
        print("pairweave: interrupted; the same command again goes on", file=sys.stderr)
        return 128 + signal.SIGINT


def _run(words: list[str]) -> int:
    name, *rest = words
    if name not in COMMANDS:
        raise ConfigError(f"unknown job {name!r}{_nearest(name)}; see pairweave --help")
    module = importlib.import_module(COMMANDS[name].module)
    return int(module.main(name, rest))


def _nearest(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, 1)
    return f", did you mean {near[0]!r}?" if near else ""


def usage() -> str:
    """Return the help text of the command itself."""
    width = max(map(len, COMMANDS))
    lines = ["usage: pairweave JOB [--config FILE.yaml] [--option value ...] [any Beam option]", ""]
    lines += [f"  {name:<{width}}  {command.about}" for name, command in COMMANDS.items()]
    lines += ["", "pairweave JOB --help tells a job's options; pairweave --version the version."]
    return "\n".join(lines)


def _set_up_logging() -> None:
    worker.log_to_stderr("%(asctime)s %(message)s", "%H:%M:%S")
    logging.getLogger("pairweave").setLevel(logging.INFO)


def _open_closed_streams() -> None:
    """Let streams that were closed at the start lead nowhere.

    A file that is opened later would otherwise have the number of standard output or error, and
    whatever a library writes there would go into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - for good
            os.set_inheritable(stream.fileno(), True)  # noqa: FBT003
            setattr(sys, name, stream)


def _on_terminate(number: int, _frame: object) -> None:
    """Leave in an orderly way, so that temporary directories and workers go."""
    raise Terminated(number)


if __name__ == "__main__":
    sys.exit(main())
