"""How long each step of a graph worked, from the counters of `steps.count` on all workers."""

from typing import Any

from apache_beam.metrics import MetricsFilter

from pairweave.pipelines.steps.steps import MICROSECONDS, NAMESPACE, ROWS

StepTimes = dict[str, dict[str, float | int]]
"""Seconds, rows and rows per second, by the name of a step."""


def step_times(result: Any) -> StepTimes:  # noqa: ANN401 - a runner's own
    """Return the times and rows of a finished pipeline's steps, by the step's name.

    Returns:
        Seconds of all workers together, rows, and rows per second and worker, if there are any.
    """
    by_step: dict[str, dict[str, int]] = {}
    counters = result.metrics().query(MetricsFilter().with_namespace(NAMESPACE))["counters"]
    for each in counters:
        counts = by_step.setdefault(each.key.step, {MICROSECONDS: 0, ROWS: 0})
        counts[each.key.metric.name] += int(each.result or 0)
    return {name: _described(**counts) for name, counts in sorted(by_step.items())}


def _described(microseconds: int, rows: int) -> dict[str, float | int]:
    times: dict[str, float | int] = {"seconds": round(microseconds / 1e6, 3)}
    if rows:
        times |= {"rows": rows, "rows_per_second": round(rows * 1e6 / max(1, microseconds), 1)}
    return times
