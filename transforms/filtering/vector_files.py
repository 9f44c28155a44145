"""Stores sentence vectors in files until the corpus is searched for neighbours.

Neighbours are searched among all sentences, so each shard's vectors are written when it is encoded.
A resumed run reuses them. They are stored next to the scored shards and deleted with them.
"""

import dataclasses
import io
import zipfile

import numpy as np

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.filtering.scored_shards import DIRECTORY, Place
from pairweave.transforms.storage import files


@dataclasses.dataclass(frozen=True)
class Vectors:
    """The sentence vectors of a shard.

    Attributes:
        source: Vectors of length 1, float32 ``[pair, hidden]``, of pairs that are encoded.
        target: The same for the target.
        source_keys: xxh3-64 of the source texts, uint64 ``[pair]``.
        target_keys: xxh3-64 of the target texts.
        neighbour: Whether the pair passed the rules, so its sides may be neighbours of others.
        rows: Row of each pair in the shard's table, int64 ``[pair]``.
        given_up: Rows that the encoder could not encode, int64.
        reasons: Reason and detail of each row in ``given_up``, joined by U+001F.
    """

    source: np.ndarray
    target: np.ndarray
    source_keys: np.ndarray
    target_keys: np.ndarray
    neighbour: np.ndarray
    rows: np.ndarray
    given_up: np.ndarray
    reasons: np.ndarray


def write(vectors: Vectors, place: Place, number: int) -> None:
    """Write the vectors of a shard."""
    buffer = io.BytesIO()
    fields = {field.name: getattr(vectors, field.name) for field in dataclasses.fields(vectors)}
    np.savez(buffer, allow_pickle=False, **fields)
    files.write_bytes(place.path(_name(place, number)), buffer.getvalue())


def find(place: Place, number: int) -> Vectors | None:
    """Return the vectors of a shard; None if this plan has none or their checksums do not match."""
    path = place.path(_name(place, number))
    if not files.exists(path):
        return None
    try:
        with np.load(io.BytesIO(files.read_bytes(path)), allow_pickle=False) as arrays:
            return Vectors(*(arrays[field.name] for field in dataclasses.fields(Vectors)))
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None


def read(place: Place, number: int) -> Vectors:
    """Return the vectors of a shard.

    Raises:
        WorkerError: They are missing or damaged.
    """
    vectors = find(place, number)
    if vectors is None:
        name = _name(place, number)
        raise WorkerError(
            f"{DIRECTORY}/{name}: missing or damaged; delete it and run the command again"
        )
    return vectors


def all_there(place: Place, shards: int) -> bool:
    """Tell whether every shard has a file of vectors."""
    names = set(files.list_names(files.join(place.output, DIRECTORY)))
    return all(_name(place, number) in names for number in range(shards))


def _name(place: Place, number: int) -> str:
    return f"vectors-{place.plan[:12]}-{number:05d}.npz"
