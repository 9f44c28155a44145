"""Finish every other shard when one fails on each attempt.

A shard that ends its worker, or always raises, would keep a run from ever finishing anything behind
it. After the last attempt the missing shards are therefore divided: those that were being worked on
(`transforms.output.attempt_marks`) are made one by one, the others together, and a group that fails
is divided again. A shard that fails alone is set aside. Nothing is committed while one is missing.
"""

from typing import Protocol

from pairweave.pipelines.run.progress import LOG
from pairweave.transforms.errors import SetAsideError, WorkerError

FEW = 4
"""Up to so many marked shards are made one by one; more are divided in halves."""

Shards = frozenset[int]


class Rest(Protocol):
    """The missing shards of a run."""

    def missing(self) -> Shards:
        """Return the shards that are not finished."""

    def begun(self) -> Shards:
        """Return the shards that the last graph worked on and did not finish."""

    def make(self, shards: Shards) -> str | None:
        """Make some shards and leave the others; return what failed, None if nothing did."""


def finish_others(rest: Rest, shards: int, most: int, message: str) -> None:
    """Finish all missing shards but those that fail alone.

    Args:
        rest: The missing shards, after a failed attempt.
        shards: The number of the run's shards.
        most: How many shards may be set aside.
        message: What failed in the attempt.

    Raises:
        SetAsideError: Shards fail alone, and all others are finished.
        WorkerError: Nothing can be set aside: no shard was being worked on, all fail, or too many.
    """
    left, marked = rest.missing(), rest.begun()
    if not most or not marked & left:
        raise WorkerError(message)
    LOG.warning("the last attempt failed: %s; finding the shards that fail", message)
    told: dict[int, str] = {}
    groups = divide(left, marked) if len(left) > 1 else []
    if not groups:  # it has failed alone already
        told = dict.fromkeys(left, message)
        _check_limit(told, shards, most)
    while groups:
        group = groups.pop(0) & rest.missing()
        failed = rest.make(group) if group else None
        if failed is None:
            continue
        unfinished = group & rest.missing()
        if len(unfinished) > 1:
            groups = [*divide(unfinished, rest.begun()), *groups]
        for shard in unfinished if len(unfinished) == 1 else ():
            told[shard] = failed
            LOG.warning("shard %d fails alone: %s", shard, failed)
        _check_limit(told, shards, most)
    if told:
        raise SetAsideError(_describe(told, shards))


def _check_limit(told: dict[int, str], shards: int, most: int) -> None:
    if len(told) > most or len(told) == shards:
        message = list(told.values())[-1]
        raise WorkerError(f"{message} ({len(told)} of {shards} shards fail alone)")


def divide(shards: Shards, marked: Shards) -> list[Shards]:
    """Divide shards that failed together into groups that are made one after the other.

    >>> divide(frozenset({1, 2, 3, 4}), frozenset({2, 9}))
    [frozenset({2}), frozenset({1, 3, 4})]
    >>> divide(frozenset({1, 2, 3}), frozenset())
    [frozenset({1}), frozenset({2, 3})]
    """
    suspects = sorted(shards & marked)
    if 0 < len(suspects) <= FEW:
        groups = [*(frozenset({shard}) for shard in suspects), shards - marked]
    elif 0 < len(suspects) < len(shards):
        groups = [frozenset(suspects), shards - marked]
    else:
        ordered = sorted(shards)
        half = len(ordered) // 2
        groups = [frozenset(ordered[:half]), frozenset(ordered[half:])]
    return [group for group in groups if group]


def _describe(told: dict[int, str], shards: int) -> str:
    each = "; ".join(f"shard {shard}: {message}" for shard, message in sorted(told.items()))
    return (
        f"{len(told)} of {shards} shards failed on every attempt and were set aside; the others "
        f"are finished and nothing is committed. {each}. Remove the cause and run the same "
        "command again, which makes only these"
    )
