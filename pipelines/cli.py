"""The command line: finds the job, builds its options, runs it."""

import importlib
import importlib.metadata
import logging
import os
import signal
import sys
from collections.abc import Sequence
from typing import NamedTuple

from pipelines import forks, worker
from transforms.errors import ConfigError, PairweaveError

DONE, FAILED, MEND = 0, 1, 2

PATH_ERRORS = (
    *(FileExistsError, FileNotFoundError, IsADirectoryError),
    *(NotADirectoryError, PermissionError),
)
"""What a path that the user gave can do wrong."""


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
    _set_up_logging()
    if arguments is None:
        forks.allow()
    signal.signal(signal.SIGTERM, _on_terminate)
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
        print(f"pairweave: {error.filename}: {error.strerror}", file=sys.stderr)
        return MEND
    except OSError as error:
        print(f"pairweave: {error}", file=sys.stderr)
        return FAILED
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


def _on_terminate(_signal: int, _frame: object) -> None:
    """Leave in an orderly way, so that temporary directories and workers go."""
    raise SystemExit(128 + signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
