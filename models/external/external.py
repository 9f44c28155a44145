"""External aligners, which the user installs, behind the interface of `models.aligner`.

`PROGRAMS` describes how each is called; this module runs any of them.
"""

import contextlib
import functools
import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from pairweave.models.aligner import Aligned
from pairweave.models.external.external_process import (
    find_program,
    identity,
    python_of,
    read_answer,
    run,
    start_of,
)
from pairweave.models.external.external_programs import SETTINGS, Call, ExternalConfig
from pairweave.models.external.external_text import Directions, Text, linked_table, text_of
from pairweave.models.weights.weights import inspect_model
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError, WorkerError

VERSION = 1
"""Increased when the links of the same program and settings change."""

_PICKLE = """
import sys
import torch
from safetensors.torch import load_file
weights = {}
for path in sys.argv[2:]:
    weights.update(load_file(path))
torch.save(weights, sys.argv[1])
"""


class ExternalAligner:
    """An external aligner; implements `models.aligner.Aligner`."""

    def __init__(self, config: ExternalConfig, learned: Mapping[str, bytes] | None = None) -> None:
        """Find the program.

        Args:
            config: The program and its settings.
            learned: The model that it learned (`learn`), for programs that learn beforehand.

        Raises:
            ConfigError: The program or its encoder is missing.
        """
        self.config = config
        self._learned = dict(learned or {})
        self._digest = find_digest(config, self._learned)

    @property
    def digest(self) -> str:
        """Return the hex SHA-256 of everything that determines the links."""
        return self._digest

    def align(self, table: pa.Table) -> pa.Table:
        """Turn TOKENS rows into LINKED rows, in the same order.

        Raises:
            WorkerError: The program fails, or cannot align a pair.
        """
        linked, given_up = self.align_or_reject(table)
        for row, (reason, detail) in given_up.items():
            raise WorkerError(f"pair {table['id'][row]}: {reason}: {detail}")
        return linked

    def align_or_reject(self, table: pa.Table) -> Aligned:
        """Turn TOKENS rows into LINKED rows; give up the rows that the program cannot align.

        Args:
            table: Pairs with token offsets (`transforms.schemas.TOKENS`).

        Returns:
            The LINKED rows, in the same order and without those given up; and the reason and a
            detail of each row given up, by row of ``table``.

        Raises:
            WorkerError: The program fails, takes too long, or does not answer line by line.
        """
        schemas.require(table, schemas.TOKENS)
        text = text_of(table)
        directions = Directions(b"", b"")
        if len(text):
            directions = align_text(self.config, text, self._learned)
        return linked_table(table, text, directions, self.config.program)

    def with_soft_links(self, least: float) -> "ExternalAligner":  # noqa: ARG002 - it has no others
        """Return the aligner itself: programs give no probabilities for links that they omit."""
        return self


def learn(config: ExternalConfig, table: pa.Table) -> dict[str, bytes]:
    """Let a program learn from the pairs of a TOKENS table.

    Returns:
        The learned model, by file name; empty for a program that does not learn beforehand.

    Raises:
        ConfigError: The program is missing, or no pair has tokens on both sides.
        WorkerError: It fails.
    """
    schemas.require(table, schemas.TOKENS)
    calls = config.about.learn
    if not calls:
        return {}
    text = text_of(table)
    if not len(text):
        raise ConfigError(f"{config.program} needs pairs to learn from, got none with two sides")
    learned: dict[str, bytes] = {}
    printed = {}
    with _prepared(config, text, {}) as called:
        for call in calls:
            answers, errors = called(call)
            learned.update(zip(call.answers, answers, strict=True))
            if call.printed is not None:
                printed.update(dict.fromkeys(call.answers, call.printed(errors)))
    if printed:
        learned[SETTINGS] = json.dumps(printed, sort_keys=True).encode()
    return learned


def align_text(config: ExternalConfig, text: Text, learned: Mapping[str, bytes]) -> Directions:
    """Align lines of text with a program and its learned model, if it has one.

    Raises:
        ConfigError: The program or its encoder is missing.
        WorkerError: The program fails, takes too long, or its answer has an unexpected form.
    """
    links: list[bytes] = []
    given_up: dict[int, tuple[str, str]] = {}
    with _prepared(config, text, learned) as called:
        for call in config.about.align:
            for lines, refused in map(call.read, called(call)[0]):
                links.append(lines)
                given_up |= refused
    return Directions(links[0], links[-1], given_up)


def find_digest(config: ExternalConfig, learned: Mapping[str, bytes]) -> str:
    """Return the hex SHA-256 of everything that determines a program's links.

    Raises:
        ConfigError: The program or its encoder is missing.
    """
    about = {
        "version": VERSION,
        "program": config.program,
        "identity": identity(config),
        "learned": {name: hashlib.sha256(data).hexdigest() for name, data in learned.items()},
    }
    if config.about.heads:
        about |= {"layer": config.layer, "head": config.extraction}
        about |= {"encoder": model_digest(config)}
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def model_digest(config: ExternalConfig) -> str:
    """Return the hex SHA-256 of an encoder's directory: its files' names and contents."""
    digest = hashlib.sha256()
    for path in sorted(config.model_path().iterdir()):
        if path.is_file() and not path.name.startswith("."):
            with path.open("rb") as file:
                inner = hashlib.file_digest(file, "sha256").hexdigest()
            digest.update(f"{path.name} {inner}\n".encode())
    return digest.hexdigest()


@contextlib.contextmanager
def _prepared(
    config: ExternalConfig, text: Text, learned: Mapping[str, bytes]
) -> Iterator[Callable[[Call], tuple[list[bytes], bytes]]]:
    """Write a program's inputs to a private directory, and yield a function that calls it there.

    The function returns the answers of a call and its standard error.
    """
    about = config.about
    with tempfile.TemporaryDirectory(prefix="pairweave-") as name:
        directory = Path(name)
        for file, lines in about.inputs(text.source, text.target).items():
            (directory / file).write_text(lines, encoding="utf-8")
        for file, data in learned.items():
            (directory / file).write_bytes(data)
        values: dict[str, object] = {"layer": config.layer, "head": config.extraction}
        for file, fitted in json.loads(learned.get(SETTINGS, b"{}")).items():
            values[file.partition(".")[0]] = fitted
        if about.heads:
            private = about.weights is not None
            values["model"] = (
                _private_model(config, directory / "encoder") if private else config.model_path()
            )
        yield functools.partial(_answers_of, config, directory, values)


def _answers_of(
    config: ExternalConfig, directory: Path, values: Mapping[str, object], call: Call
) -> tuple[list[bytes], bytes]:
    """Fill in the command of a call, run it, and return its answers and its standard error."""
    first, *words = call.command.split()
    if first == "{program}":
        name, start = config.about.title or config.program, start_of(config)
    else:
        name, start = first, (find_program(config, first),)
    command = (*start, *(word.format_map(values) for word in words))
    stdin = b"" if call.stdin is None else (directory / call.stdin).read_bytes()
    out, errors = run(name, command, config.timeout_seconds, directory, stdin)
    return [
        out if answer == "-" else read_answer(directory / answer, name) for answer in call.answers
    ], errors


def _private_model(config: ExternalConfig, directory: Path) -> Path:
    """Make a copy of an encoder's directory with its weights in the form that the program reads.

    The other files are links. The program's own Python converts the weights from safetensors to
    pickles; the user's pickled files are never read.
    """
    assert config.about.weights is not None
    model = inspect_model(config.model_path())
    directory.mkdir()
    for path in model.others:
        (directory / path.name).symlink_to(path.absolute())
    python = python_of(find_program(config)) or sys.executable
    weights = (str(directory / config.about.weights), *map(str, model.weights))
    arguments = (python, "-c", _PICKLE, *weights)
    run("conversion of safetensors", arguments, config.timeout_seconds, directory)
    return directory
