"""Marks of the shards that an attempt works on, next to the receipts.

A failed attempt leaves the marks of the shards that were being made when it failed, so the launcher
need not guess which shard ended a worker. Each attempt has its own marks; marks of a stopped run or
of a second launcher say nothing about this attempt. Marks are only a hint where to look first
(`pipelines.run.attempts.set_aside`).
"""

import contextlib
import re
import uuid
from collections.abc import Iterator

from pairweave.transforms.output.run_files import RECEIPTS, to_json
from pairweave.transforms.storage import files

PREFIX = "begun-"

_LAUNCHED = re.compile(rf"{PREFIX}run-[0-9a-f]+\.json")
_NAME = re.compile(rf"{PREFIX}([0-9]{{5,}})-of-([0-9]{{5,}})-([0-9a-f]+)\.json")


@contextlib.contextmanager
def launched(output: str) -> Iterator[None]:
    """Keep a mark in a run's directory while it is being worked on by this process.

    A resumed run can have only old files for a long time; this mark is a new file, which tells
    `transforms.commit.leftovers` that the run is in progress.

    Raises:
        OSError: The mark cannot be written.
    """
    path = files.join(output, f"{RECEIPTS}/{PREFIX}run-{uuid.uuid4().hex}.json")
    files.write_bytes(path, to_json({}))
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # the mark is only a hint, and may be gone
            files.delete(path)


def new_attempt() -> str:
    """Return a name that no other attempt has."""
    return uuid.uuid4().hex


def mark_name(shard: int, shards: int, attempt: str) -> str:
    """Name the mark of one shard.

    >>> mark_name(7, 16, "a1")
    '_receipts/begun-00007-of-00016-a1.json'
    """
    return f"{RECEIPTS}/{PREFIX}{shard:05d}-of-{shards:05d}-{attempt}.json"


def begin(shard: int, *, output: str, shards: int, attempt: str) -> None:
    """Mark a shard as begun.

    Raises:
        OSError: The mark cannot be written.
    """
    name = mark_name(shard, shards, attempt)
    files.write_bytes(files.join(output, name), to_json({"shard": shard}))


def end(shard: int, *, output: str, shards: int, attempt: str) -> None:
    """Remove the mark of a shard, whose receipt is written."""
    files.delete(files.join(output, mark_name(shard, shards, attempt)))


def begun(output: str, attempt: str) -> frozenset[int]:
    """Return the shards that an attempt has begun and whose marks still exist."""
    names = files.list_names(files.join(output, RECEIPTS))
    matches = filter(None, map(_NAME.fullmatch, names))
    return frozenset(int(match[1]) for match in matches if match[3] == attempt)


def forget(output: str, attempt: str | None = None) -> None:
    """Delete the marks of one attempt, or of all when every shard is finished."""
    for name in files.list_names(files.join(output, RECEIPTS)):
        match = _NAME.fullmatch(name)
        launched = attempt is None and _LAUNCHED.fullmatch(name)
        if launched or (match is not None and attempt in (None, match[3])):
            files.delete(files.join(output, RECEIPTS, name))
