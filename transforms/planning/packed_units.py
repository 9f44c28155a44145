"""Units as bytes, as small as they can be: a plan of a large corpus has ten thousands of them."""

from collections.abc import Iterable, Iterator

import orjson
import pyarrow as pa

from pairweave.transforms.units import Unit

NO_UNITS = b""
"""Stands for an element without a unit."""

_CODEC = pa.Codec("zstd", compression_level=3)
_SIZE_BYTES = 4


def pack_units(units: Iterable[Unit]) -> bytes:
    """Return units as bytes."""
    data = orjson.dumps([unit.to_json() for unit in units])
    return len(data).to_bytes(_SIZE_BYTES, "little") + _CODEC.compress(data, asbytes=True)


def unpack_units(packed: bytes) -> Iterator[Unit | None]:
    """Yield the units that were packed; None for `NO_UNITS`."""
    if packed == NO_UNITS:
        yield None
        return
    size = int.from_bytes(packed[:_SIZE_BYTES], "little")
    data = _CODEC.decompress(packed[_SIZE_BYTES:], decompressed_size=size, asbytes=True)
    yield from map(Unit.from_json, orjson.loads(data))
