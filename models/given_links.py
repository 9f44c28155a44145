"""Links that came with the input, used instead of an aligner; sent to workers. No torch."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import xxhash

from pairweave.models.aligner import Aligned, AlignerReference
from pairweave.models.model_store import LoadedOnce
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.links.attention import Attention
from pairweave.transforms.links.given_links import ReadAttention, link_rows
from pairweave.transforms.links.soft_links import SoftLinks
from pairweave.transforms.storage import files
from pairweave.transforms.storage.byte_streams import PLAIN_CHUNK_BYTES, stored_chunks
from pairweave.transforms.text.tokens import TokenConfig
from pairweave.transforms.units import Part, Plan

VERSION = 1
"""Increased when the same files give different links."""

ROLES = ("links", "forward_links", "reverse_links", "attention")
"""Roles of the files that links are read from."""

_ready: LoadedOnce[Attention] = LoadedOnce()


@dataclasses.dataclass(frozen=True)
class GivenLinks(AlignerReference):
    """The links of a run's input.

    Attributes:
        method: How links are extracted from attention, ``naive`` or ``shift``.
        layer: Layer of the attention; None if a file has only one.
        head: Head of that layer; None for the mean over its heads.
        attention: Files of attention, by unit.
        digest: Hex SHA-256 of everything that determines the links, except the input's columns.
    """

    method: str = "shift"
    layer: int | None = None
    head: int | None = None
    attention: Mapping[int, Part] = dataclasses.field(default_factory=dict)
    digest: str = ""

    def of_plan(self, plan: Plan) -> "GivenLinks":
        """Return the same links with the files of attention that a plan lists.

        Raises:
            ConfigError: A file of attention lacks the layer or the head.
            InputError: A file contains no attention.
        """
        attention = {unit.index: unit.attention for unit in plan.units if unit.attention}
        for path in dict.fromkeys(part.path for part in attention.values()):
            Attention(files.on_disk(path), self.layer, self.head).check()
        digests = [[file.role, file.sha256] for file in plan.files if file.role in ROLES]
        about = {"aligner": "given", "version": VERSION, "files": digests}
        if attention:
            about |= {"method": self.method, "layer": self.layer, "head": self.head}
        digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
        return dataclasses.replace(self, attention=attention, digest=digest)

    def align(
        self,
        kept: pa.Table,
        table: pa.Table,
        tokens: TokenConfig,
        wanted: np.ndarray | None = None,
    ) -> Aligned:
        """Turn TOKENS rows into LINKED rows, and give up rows whose links cannot be used.

        Args:
            kept: The rows as they were read (`transforms.schemas.ROWS`).
            table: The same rows with tokens (`transforms.schemas.TOKENS`).
            tokens: How the texts were cut into tokens.
            wanted: The rows whose links are read, bool ``[row]``; all by default.

        Raises:
            WorkerError: A file of attention is not the planned one.
        """
        return link_rows(kept, table, tokens, self._reader(), wanted)

    def _reader(self) -> ReadAttention | None:
        if not self.attention:
            return None

        def read(unit: int, line: int, source: int, target: int) -> SoftLinks | None:
            part = self.attention.get(unit)
            if part is None:
                return None
            return self._open(part).links(line, source, target, self.method)

        return read

    def _open(self, part: Part) -> Attention:
        """Open a planned file, once per process."""

        def planned() -> Attention:
            _require_planned(part)
            return Attention(files.on_disk(part.path), self.layer, self.head)

        return _ready.load((part.digest, self.layer, self.head), planned)


def _require_planned(part: Part) -> None:
    digest = xxhash.xxh3_128()
    try:
        for chunk in stored_chunks(part.path, 0, None, PLAIN_CHUNK_BYTES):
            digest.update(chunk)
    except OSError as error:
        raise WorkerError(f"{part.name}: cannot be read on this machine: {error}") from error
    if digest.hexdigest() != part.digest:
        raise WorkerError(f"{part.name}: is not the file that the run was planned with")
