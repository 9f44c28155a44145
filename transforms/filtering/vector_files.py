"""Sentence vectors in files, between encoding a corpus and looking for neighbours in it.

Neighbours are sought among all sentences, so each shard's vectors are written when it is encoded. A
run that is resumed reads those that are there. They lie beside the scored shards and go with them.
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
        source: Of length 1, float32 ``[pair, hidden]``, for pairs that are encoded.
        target: Likewise.
        source_keys: xxh3-64 of the texts, uint64 ``[pair]``.
        target_keys: Likewise.
        neighbour: Whether the pair's sides may be neighbours of others: it passed the rules.
        rows: Its row in the shard's table, int64 ``[pair]``.
        given_up: Rows that the encoder could not take, int64.
        reasons: Reason and detail of each of these, joined by U+001F.
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
    """Return the vectors of a shard, if this plan's are there and whole (by their checksums)."""
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
        WorkerError: They are not there.
    """
    found = find(place, number)
    if found is None:
        name = _name(place, number)
        raise WorkerError(f"{DIRECTORY}/{name}: is damaged; delete it and run the command again")
    return found


def all_there(place: Place, shards: int) -> bool:
    """Tell whether every shard has a file of vectors."""
    names = set(files.list_names(files.join(place.output, DIRECTORY)))
    return all(_name(place, number) in names for number in range(shards))


def _name(place: Place, number: int) -> str:
    return f"vectors-{place.plan[:12]}-{number:05d}.npz"
