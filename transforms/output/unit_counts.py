"""Counts of a shard's rows by unit, as a receipt holds them.

A shard has rows of nearly every unit, so the counts of all receipts together grow as shards times
units. Above `PACKED` entries they are therefore compressed: 15,000 units take 650 kB as JSON and
16 kB packed.
"""

import base64
import binascii
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from pairweave.transforms.errors import WorkerError

PACKED = 1_024
"""Maximum number of entries that are written as lists."""

MOST = 1 << 24
"""Maximum number of entries of packed counts, so that a damaged number cannot exhaust memory.

There is at most one entry for each unit and reason, and a plan lists its units in JSON, so no run
has that many.
"""

_CODEC = pa.Codec("zstd", compression_level=3)
_NUMBER = np.dtype("<i4")


def count_units(kept: pa.Table, rejected: pa.Table) -> object:
    """Count rows (`transforms.schemas.ROWS`) by unit, as `pack_units` does."""
    kept_units = Counter(kept.column("unit").to_pylist())
    rejected_units = Counter(rejected.column("unit").to_pylist())
    units = sorted({*kept_units, *rejected_units})
    return pack_units([(unit, kept_units[unit], rejected_units[unit]) for unit in units])


def count_unit_reasons(rejected: pa.Table) -> object:
    """Count rejected rows by unit and reason, as `pack_reasons` does."""
    reasons = rejected.column("reason").cast(pa.string()).to_pylist()
    counter = Counter(zip(rejected.column("unit").to_pylist(), reasons, strict=True))
    return pack_reasons([(*key, counter[key]) for key in sorted(counter)])


def pack_units(counts: Sequence[Sequence[int]]) -> object:
    """Return counts for JSON: a list of ``[unit, kept, rejected]``, or packed."""
    return counts if len(counts) <= PACKED else _pack(counts)


def unpack_units(value: object) -> np.ndarray:
    """Return counts of a receipt: int64 ``[entry, (unit, kept, rejected)]``.

    Raises:
        WorkerError: They are invalid.
    """
    return _unpack(value, 3)


def pack_reasons(counts: Sequence[tuple[int, str, int]]) -> object:
    """Return counts of rejects for JSON: a list of ``[unit, reason, rows]``, or packed."""
    if len(counts) <= PACKED:
        return [list(entry) for entry in counts]
    reasons = sorted({reason for _, reason, _ in counts})
    return {
        reason: _pack([(unit, rows) for unit, name, rows in counts if name == reason])
        for reason in reasons
    }


def unpack_reasons(value: object) -> dict[str, np.ndarray]:
    """Return counts of rejects of a receipt: for each reason int64 ``[entry, (unit, rows)]``.

    Raises:
        WorkerError: They are invalid.
    """
    if isinstance(value, Mapping):
        return {reason: _unpack(packed, 2) for reason, packed in value.items()}
    entries_of: dict[str, list[list[object]]] = {}
    for entry in _entries(value, 3):
        unit, reason, rows = entry
        if not isinstance(reason, str):
            raise WorkerError(f"expected the name of a reason, found {reason!r}")
        entries_of.setdefault(reason, []).append([unit, rows])
    return {reason: _unpack(entries, 2) for reason, entries in entries_of.items()}


def _pack(counts: Sequence[Sequence[int]]) -> dict[str, object]:
    # Column by column, with units as differences from the one before, which are mostly 1.
    numbers = np.array(counts, dtype=_NUMBER).T.copy()
    numbers[0, 1:] = np.diff(numbers[0])
    packed = _CODEC.compress(numbers.tobytes(), asbytes=True)
    return {"entries": len(counts), "zstd": base64.b64encode(packed).decode()}


def _unpack(value: object, width: int) -> np.ndarray:
    if isinstance(value, Mapping):
        numbers = _decompressed(value, width)
    else:
        entries = _entries(value, width)
        if not all(type(number) is int for entry in entries for number in entry):
            raise WorkerError("counts of units are not all whole numbers")
        try:
            numbers = np.array(entries, dtype=np.int64).reshape(-1, width)
        except OverflowError as error:
            raise WorkerError(f"a count of a unit needs more than 64 bits: {error}") from error
    if numbers.size and numbers.min() < 0:
        raise WorkerError("a count of a unit is negative")
    return numbers


def _decompressed(value: Mapping[str, object], width: int) -> np.ndarray:
    try:
        entries = int(str(value["entries"]))
        if not 0 <= entries <= MOST:
            raise ValueError(f"expected 0 to {MOST:,} entries")
        packed = base64.b64decode(str(value["zstd"]), validate=True)
        size = entries * width * _NUMBER.itemsize
        data = _CODEC.decompress(packed, decompressed_size=size, asbytes=True)
        numbers = np.frombuffer(data, dtype=_NUMBER).reshape(width, entries).astype(np.int64)
    except (KeyError, ValueError, OSError, binascii.Error) as error:
        raise WorkerError(f"packed counts of units are damaged: {error}") from error
    numbers[0] = np.cumsum(numbers[0])
    return numbers.T


def _entries(value: object, width: int) -> list[list[object]]:
    if not isinstance(value, list) or not all(
        isinstance(entry, list) and len(entry) == width for entry in value
    ):
        raise WorkerError("counts of units are not lists")
    return value
