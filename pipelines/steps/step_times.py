"""How long each step of a graph works, counted by Beam over all workers."""

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from apache_beam.metrics import Metrics, MetricsFilter

StepTimes = dict[str, dict[str, float | int]]
"""Seconds, rows and rows per second, by the name of a step."""

_NAMESPACE = "pairweave.steps"
_MICROSECONDS, _ROWS = "microseconds", "rows"


@contextlib.contextmanager
def timed(rows: int) -> Iterator[None]:
    """Count the time of this block, and the rows that it processes, for the step that runs it.

    Outside a worker, nothing is counted.
    """
    start = time.monotonic_ns()
    try:
        yield
    finally:
        count(rows, start)


def count(rows: int, start: int) -> None:
    """Count the time since a reading of ``time.monotonic_ns``, and the rows processed since."""
    Metrics.counter(_NAMESPACE, _MICROSECONDS).inc((time.monotonic_ns() - start) // 1000)
    Metrics.counter(_NAMESPACE, _ROWS).inc(rows)


def step_times(result: Any) -> StepTimes:  # noqa: ANN401 - a runner's own
    """Return the times and rows of a finished pipeline's steps, by the step's name.

    Returns:
        Seconds of all workers together, rows, and rows per second and worker, if there are any.
    """
    by_step: dict[str, dict[str, int]] = {}
    counters = result.metrics().query(MetricsFilter().with_namespace(_NAMESPACE))["counters"]
    for each in counters:
        counts = by_step.setdefault(each.key.step, {_MICROSECONDS: 0, _ROWS: 0})
        counts[each.key.metric.name] += int(each.result or 0)
    return {name: _described(**counts) for name, counts in sorted(by_step.items())}


def _described(microseconds: int, rows: int) -> dict[str, float | int]:
    times: dict[str, float | int] = {"seconds": round(microseconds / 1e6, 3)}
    if rows:
        times |= {"rows": rows, "rows_per_second": round(rows * 1e6 / max(1, microseconds), 1)}
    return times
