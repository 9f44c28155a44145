"""External aligners behind the interface of `models.aligner`: programs that the user installs."""

import hashlib
import json
from collections.abc import Mapping
from typing import Protocol

import pyarrow as pa

from pairweave.models.aligner import Aligned
from pairweave.models.external.external_config import ExternalConfig
from pairweave.models.external.external_corpus import Eflomal, Giza
from pairweave.models.external.external_encoders import AwesomeAlign, SimAlign, model_digest
from pairweave.models.external.external_fast_align import FastAlign, SystranAlign
from pairweave.models.external.external_process import identity
from pairweave.models.external.external_text import Directions, Text, linked_table, text_of
from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError, WorkerError

VERSION = 1
"""Increased when the links of the same program and settings change."""


class Program(Protocol):
    """The interface of a program: learning from text (if it learns beforehand) and aligning."""

    def __init__(self, config: ExternalConfig) -> None:
        """Keep the settings."""
        ...

    def learn(self, text: Text) -> dict[str, bytes]:
        """Return the model learned from text, by file name; empty if there is none."""
        ...

    def align(self, text: Text, learned: Mapping[str, bytes]) -> Directions:
        """Align text with the learned model."""
        ...


def program_of(config: ExternalConfig) -> Program:
    """Return the program that a configuration names."""
    makers: dict[str, type[Program]] = {
        "fast_align": FastAlign,
        "systran-align": SystranAlign,
        "eflomal": Eflomal,
        "awesome-align": AwesomeAlign,
        "simalign": SimAlign,
        "giza": Giza,
    }
    return makers[config.program](config)


class ExternalAligner:
    """An external aligner; implements `models.aligner.Aligner`."""

    def __init__(self, config: ExternalConfig, learned: Mapping[str, bytes] | None = None) -> None:
        """Look for the program.

        Args:
            config: The program and its settings.
            learned: Its learned model (`learn`), for programs that learn beforehand.

        Raises:
            ConfigError: The program or its encoder is missing.
        """
        self.config = config
        self._learned = dict(learned or {})
        self._program = program_of(config)
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
        """Turn TOKENS rows into LINKED rows, and give up those that the program cannot align.

        Args:
            table: Pairs with token offsets (`transforms.schemas.TOKENS`).

        Returns:
            The LINKED rows, in the same order and without those given up; and of these the reason
            and a detail, by row of ``table``.

        Raises:
            WorkerError: The program fails, takes too long, or does not answer line by line.
        """
        schemas.require(table, schemas.TOKENS)
        text = text_of(table)
        found = self._program.align(text, self._learned) if len(text) else Directions(b"", b"")
        return linked_table(table, text, found, self.config.program)

    def with_soft_links(self, least: float) -> "ExternalAligner":  # noqa: ARG002 - it says no more
        """Return the aligner itself: programs give no probabilities of links that they omit."""
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
    if config.about.way != "fitted":
        return {}
    text = text_of(table)
    if not len(text):
        raise ConfigError(f"{config.program} needs pairs to learn from, got none with two sides")
    return program_of(config).learn(text)


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
