"""Finds the pairs on which an aligner fails, so that only these pairs are rejected."""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from pairweave.transforms import schemas
from pairweave.transforms.errors import PairweaveError, WorkerError

ALIGNER_FAILED = "aligner_failed"

ALWAYS_ALLOWED = 8
"""Number of pairs of a shard that may always fail, regardless of its size."""

ALLOWED_SHARE = 0.01
"""The share of a shard's pairs that may fail; if more do, the model is considered faulty."""

MAX_DETAIL = 200
"""Maximum length of an error in the detail of a rejected pair, in characters."""

Rejected = dict[int, tuple[str, str]]
Align = Callable[[pa.Table], tuple[pa.Table, Rejected]]
Kinds = tuple[type[BaseException], ...]


def align_isolated(align: Align, table: pa.Table, fatal: Kinds) -> tuple[pa.Table, Rejected]:
    """Align a table; only pairs that make the aligner fail are rejected.

    If the whole table fails, bisection finds the pairs that fail on their own, and the others are
    aligned together again: their links are those of a table without the failing pairs. A pair is
    rejected only if it fails alone, and fails alone again after the aligner has been shown to work,
    so a transient fault rejects nothing.

    Args:
        align: Turns pairs into LINKED rows, and reason and detail of the rejected ones, by row.
        table: Pairs with tokens (`transforms.schemas.TOKENS`), or without (`PAIRS`) if the aligner
            cuts them itself.
        fatal: Errors that are not a pair's fault, such as exhausted memory; raised unchanged.

    Returns:
        The result of ``align``, with the failing pairs among the rejected.

    Raises:
        WorkerError: Too many pairs fail, so the aligner is faulty, or the failure is not caused by
            single pairs.
    """
    together = _failure(align, table, fatal)
    if not isinstance(together, str):
        return together
    failed = _failing_alone(align, table, fatal)
    kept = np.ones(table.num_rows, dtype=np.bool_)
    kept[list(failed)] = False
    rest = _failure(align, table.filter(pa.array(kept)), fatal)
    if isinstance(rest, str):
        raise WorkerError(f"{int(kept.sum())} pairs fail together but not alone: {rest}")
    check_sound(align, table.column_names, fatal)
    for row in failed:
        if not isinstance(_failure(align, table.slice(row, 1), fatal), str):
            raise WorkerError(
                f"pair {table['id'][row]}: failed once and then did not: {failed[row]}"
            )
    linked, rejected = rest
    rows = np.flatnonzero(kept)
    given_up = {int(rows[row]): why for row, why in rejected.items()}
    given_up |= {row: (ALIGNER_FAILED, detail) for row, detail in failed.items()}
    return linked, dict(sorted(given_up.items()))


def check_sound(align: Align, columns: Sequence[str], fatal: Kinds) -> None:
    """Check that an aligner can align one letter with itself.

    Args:
        align: See `align_isolated`.
        columns: Columns of its tables: those of TOKENS, or of PAIRS if it cuts tokens itself.
        fatal: See `align_isolated`.

    Raises:
        WorkerError: The aligner cannot align even this.
    """
    failure = _failure(align, PROBE.select(columns), fatal)
    if isinstance(failure, str):
        raise WorkerError(f"the aligner fails even on a pair of single letters: {failure}")


def _failing_alone(align: Align, table: pa.Table, fatal: Kinds) -> dict[int, str]:
    """Return the errors of the pairs that fail on their own, by row, in order.

    Raises:
        WorkerError: There are too many of them.
    """
    most = max(ALWAYS_ALLOWED, int(ALLOWED_SHARE * table.num_rows))
    failed: dict[int, str] = {}
    parts = _halves(0, table.num_rows)  # the whole table is known to fail
    while parts:
        start, stop = parts.pop()
        failure = _failure(align, table.slice(start, stop - start), fatal)
        if not isinstance(failure, str):
            continue
        if stop - start > 1:
            parts += _halves(start, stop)
            continue
        failed[start] = failure
        if len(failed) > most:
            raise WorkerError(
                f"{len(failed)} of the first {stop} pairs of {table.num_rows} fail, so the "
                "fault is in the aligner, not in the pairs; first pair "
                f"{table['id'][min(failed)]}: {failed[min(failed)]}"
            )
    return failed


def _halves(start: int, stop: int) -> list[tuple[int, int]]:
    """Return the second and the first half of a range, without empty ones."""
    middle = (start + stop) // 2
    return [part for part in ((middle, stop), (start, middle)) if part[0] < part[1]]


def _failure(align: Align, table: pa.Table, fatal: Kinds) -> str | tuple[pa.Table, Rejected]:
    """Align; return an error as one line of text, so that its traceback keeps no memory alive."""
    try:
        return align(table)
    except fatal:
        raise
    except Exception as error:  # noqa: BLE001 - libraries raise any kind; too many are an error
        lines = str(error).strip().splitlines() or [""]
        name = "" if isinstance(error, PairweaveError) else f"{type(error).__name__}: "
        return f"{name}{lines[0]}"[:MAX_DETAIL]


PROBE = pa.Table.from_pylist(
    [
        {
            "id": "0" * 32,
            "corpus": "",
            "source_lang": "und",
            "target_lang": "und",
            "file": "",
            "line": 1,
            "source": "a",
            "target": "a",
            "translation": None,
            "source_tokens": [{"start": 0, "end": 1}],
            "target_tokens": [{"start": 0, "end": 1}],
        }
    ],
    schema=schemas.TOKENS,
)
