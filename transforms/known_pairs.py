"""Pairs that a table has, and pairs that were taken down: both are rejected before the screen.

Such a row keeps its id and its place in the input, so that a table's provenance can list the files
that contain its pair. It loses its texts: a table already has those of its pairs, and those of
pairs that were taken down must not be kept.
"""

import dataclasses
import functools
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms import ids, schemas
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.rejects import Reason, Reject, Stage
from pairweave.transforms.screen import sentence_keys, with_reasons
from pairweave.transforms.storage import files

TEXTS = ("source", "target", "translation", "detail", "raw", "markup")
"""The columns of a row that hold text of the input, or may quote it."""


class IdSet:
    """A set of pair ids.

    Attributes:
        rows: High and low 64 bits of each id, sorted, each once; uint64 ``[id, 2]``.
    """

    def __init__(self, rows: np.ndarray) -> None:
        """Sort ids, given as uint64 ``[id, 2]``, and drop repeated ones."""
        order = np.lexsort((rows[:, 1], rows[:, 0]))
        rows = rows[order]
        first = np.ones(len(rows), np.bool_)
        first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
        self.rows = np.ascontiguousarray(rows[first])
        same = self.rows[1:, 0] == self.rows[:-1, 0]
        self._collides = bool(same.any())

    @classmethod
    def of(cls, column: pa.Array | pa.ChunkedArray) -> "IdSet":
        """Return the set of a column of ids, none of them null."""
        return cls(np.stack(ids.halves(column), axis=1))

    @classmethod
    def of_all(cls, columns: Iterable[pa.Array | pa.ChunkedArray]) -> "IdSet":
        """Return the set of several columns, with one column at a time in memory."""
        return cls.joined(map(cls.of, columns))

    @classmethod
    def joined(cls, sets: Iterable["IdSet"]) -> "IdSet":
        """Return the ids that any of several sets has."""
        return cls(np.concatenate([np.zeros((0, 2), np.uint64), *(each.rows for each in sets)]))

    @classmethod
    def from_bytes(cls, data: bytes) -> "IdSet":
        """Return the set that `to_bytes` has encoded."""
        return cls(np.frombuffer(data, "<u8").astype(np.uint64).reshape(-1, 2))

    def to_bytes(self) -> bytes:
        """Return 16 bytes for each id, in order."""
        return self.rows.astype("<u8").tobytes()

    def __len__(self) -> int:
        return len(self.rows)

    def has(self, column: pa.Array | pa.ChunkedArray) -> np.ndarray:
        """Tell which ids of a column without nulls are in the set, ``[id]``."""
        return self._has(*ids.halves(column))

    def without(self, other: "IdSet") -> "IdSet":
        """Return the ids that another set does not have."""
        return IdSet(self.rows[~other._has(self.rows[:, 0], self.rows[:, 1])])

    def texts(self, most: int) -> list[str]:
        """Return the first ids of the set, in order, as they are written.

        >>> IdSet.of(pa.array(["0" * 31 + "f", "f" * 32])).texts(1)
        ['0000000000000000000000000000000f']
        """
        return [f"{high:016x}{low:016x}" for high, low in self.rows[:most].tolist()]

    def _has(self, high: np.ndarray, low: np.ndarray) -> np.ndarray:
        if not len(self.rows) or not len(high):
            return np.zeros(len(high), np.bool_)
        places = np.searchsorted(self.rows[:, 0], high)
        inside = np.minimum(places, len(self.rows) - 1)
        are_known = (self.rows[inside, 0] == high) & (self.rows[inside, 1] == low)
        if self._collides:
            half = np.flatnonzero((self.rows[inside, 0] == high) & ~are_known)
            for row in half.tolist():
                stop = np.searchsorted(self.rows[:, 0], high[row], "right")
                are_known[row] = low[row] in self.rows[places[row] : stop, 1]
        return are_known


NO_IDS = IdSet(np.zeros((0, 2), np.uint64))

Corpora = tuple[str, ...] | None
"""The corpora that may not bring a pair back; None for all."""

_Key = TypeVar("_Key", str, int)


@dataclasses.dataclass(frozen=True)
class Tombstones:
    """Pairs that were taken down.

    Attributes:
        ids: Ids, each with the corpora that may not bring the pair back; None for all corpora.
        texts: Keys of texts of either side (`transforms.screen.sentence_keys`), each with its
            corpora in the same way.
    """

    ids: Mapping[str, Corpora]
    texts: Mapping[int, Corpora]

    def __len__(self) -> int:
        return len(self.ids) + len(self.texts)

    def to_bytes(self) -> bytes:
        """Return one JSON object per line; a text is represented only by the hash of its key."""
        entries = [{"id": key, "corpora": self.ids[key]} for key in sorted(self.ids)]
        entries += [{"text": f"{k:016x}", "corpora": self.texts[k]} for k in sorted(self.texts)]
        return b"".join(orjson.dumps(entry) + b"\n" for entry in entries)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Tombstones":
        """Decode the bytes that `to_bytes` returned."""
        corpora_by_id: dict[str, Corpora] = {}
        texts: dict[int, Corpora] = {}
        for line in data.splitlines():
            entry = orjson.loads(line)
            corpora = None if entry["corpora"] is None else tuple(entry["corpora"])
            if "id" in entry:
                corpora_by_id[entry["id"]] = corpora
            else:
                texts[int(entry["text"], 16)] = corpora
        return cls(corpora_by_id, texts)

    def joined(self, other: "Tombstones") -> "Tombstones":
        """Return the tombstones of both, with the corpora of both."""
        return Tombstones(_joined(self.ids, other.ids), _joined(self.texts, other.texts))

    def hits(
        self, pair_ids: Sequence[str], corpora: Sequence[str], sides: Sequence[pa.Array]
    ) -> np.ndarray:
        """Tell which pairs are taken down, ``[pair]``.

        Args:
            pair_ids: The pairs' ids.
            corpora: The corpus of each.
            sides: Source texts and target texts ``[pair]``.
        """
        taken_down = np.array(
            [_covers(self.ids, key, name) for key, name in zip(pair_ids, corpora, strict=True)],
            np.bool_,
        )
        if self.texts:
            wanted = np.sort(np.fromiter(self.texts, np.uint64, len(self.texts)))
            for texts in sides:
                keys = sentence_keys(texts)
                for row in np.flatnonzero(np.isin(keys, wanted)).tolist():
                    taken_down[row] |= _covers(self.texts, int(keys[row]), corpora[row])
        return taken_down


NO_TOMBSTONES = Tombstones({}, {})


def _joined(one: Mapping[_Key, Corpora], other: Mapping[_Key, Corpora]) -> dict[_Key, Corpora]:
    joined = dict(one)
    for key, corpora in other.items():
        joined[key] = _both(joined[key], corpora) if key in joined else corpora
    return joined


def _both(one: Corpora, other: Corpora) -> Corpora:
    return None if one is None or other is None else tuple(sorted({*one, *other}))


def _covers(stones: Mapping[_Key, Corpora], key: _Key, corpus: str) -> bool:
    if key not in stones:
        return False
    corpora = stones[key]
    return corpora is None or corpus in corpora


class PlannedFile(NamedTuple):
    """A file as it was when the run was planned.

    Attributes:
        path: Where it is.
        sha256: Its hash, in hex. A process that has read a file under this path before reads it
            again if the hash differs.
    """

    path: str
    sha256: str

    def read(self) -> bytes:
        """Return the content.

        Raises:
            ConfigError: It has changed.
        """
        data = files.read_bytes(self.path)
        if hashlib.sha256(data).hexdigest() != self.sha256:
            raise ConfigError(
                f"{self.path}: has changed since the run was planned; restore it, or give another "
                "--output"
            )
        return data


@dataclasses.dataclass(frozen=True)
class KnownPairs:
    """The files of known pairs, in the form sent to workers.

    Attributes:
        known: The file of an encoded `IdSet`, if there is one.
        taken_down: The file of encoded `Tombstones`, if there is one.
    """

    known: PlannedFile | None
    taken_down: PlannedFile | None


@functools.lru_cache(maxsize=2)
def _ids_in(file: PlannedFile) -> IdSet:
    path, data = file.path, file.read()
    if len(data) % 16:
        raise ConfigError(f"{path}: expected 16 bytes for each id, found {len(data)} bytes in all")
    return IdSet.from_bytes(data)


@functools.lru_cache(maxsize=2)
def _stones_in(file: PlannedFile) -> Tombstones:
    data = file.read()
    try:
        return Tombstones.from_bytes(data)
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise ConfigError(
            f"{file.path}: expected one JSON object per line with id or text, and corpora: {error}"
        ) from error


def mark_known(batch: pa.RecordBatch, config: KnownPairs) -> pa.RecordBatch:
    """Reject the pairs that a table has, and those that were taken down.

    Args:
        batch: Rows (`schemas.ROWS`); rows that are already rejected stay as they are.
        config: The files of known pairs.

    Returns:
        The same rows in the same order.
    """
    known = None if config.known is None else _ids_in(config.known)
    stones = NO_TOMBSTONES if config.taken_down is None else _stones_in(config.taken_down)
    reasons = _reasons(batch, known, stones)
    return without_texts(with_reasons(batch, reasons, Stage.SCREEN), reasons) if reasons else batch


def _reasons(
    batch: pa.RecordBatch, known: IdSet | None, stones: Tombstones
) -> dict[int, tuple[Reason, str | None]]:
    is_open = pc.and_(batch.column("reason").is_null(), batch.column("id").is_valid())
    rows = np.flatnonzero(is_open.to_numpy(zero_copy_only=False))
    if not len(rows):
        return {}
    pairs = batch.take(pa.array(rows))
    reasons: dict[int, tuple[Reason, str | None]] = {}
    if known is not None:
        for row in rows[known.has(pairs.column("id"))].tolist():
            reasons[row] = (Reject.IN_TABLE, None)
    if len(stones):
        corpora = pairs.column("corpus").cast(pa.string()).to_pylist()
        sides = [pairs.column("source"), pairs.column("target")]
        for row in rows[stones.hits(pairs.column("id").to_pylist(), corpora, sides)].tolist():
            reasons[row] = (Reject.TAKEN_DOWN, None)
    return reasons


def without_texts(batch: pa.RecordBatch, rows: Iterable[int]) -> pa.RecordBatch:
    """Return rows (`schemas.ROWS`) after removing the texts of some."""
    mask = np.zeros(batch.num_rows, np.bool_)
    mask[list(rows)] = True
    columns = batch.columns
    for name in TEXTS:
        place = batch.schema.get_field_index(name)
        empty = pa.scalar(None, columns[place].type)
        columns[place] = pc.if_else(pa.array(mask), empty, columns[place])
    return pa.RecordBatch.from_arrays(columns, schema=schemas.ROWS)
