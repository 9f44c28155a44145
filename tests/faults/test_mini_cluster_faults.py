"""Faults on the Flink mini cluster of a run."""

import functools

import pytest

from tests.faults import matrix
from tests.faults.held import kill_launcher
from tests.faults.matrix import ALWAYS, ASIDE, HELD, KILLED, MIDDLE, POISON, RAISES, Cell
from tests.makers import flink_settings

MINI = "flink, mini cluster"
SMALL = ("--engine", "flink", "--workers", "2")
ON_MINI = [
    Cell("worker killed as it makes a shard", MINI, SMALL, (MIDDLE,), attempts=1),
    Cell("function raises once", MINI, SMALL, (RAISES,), attempts=1),
]
SOON = (
    *("--engine", "flink", "--workers", "1"),
    *matrix.ONCE,
    "--flink_conf_dir=soon",
    "--environment_cache_millis=500",  # a worker process is forgotten before the job is restarted
)
"""What always fails costs each graph its restarts: on the mini cluster one, after a second."""
ALWAYS_ON_MINI = [
    Cell("function raises for one shard", MINI, SOON, (ALWAYS,), (3, 0), ASIDE),
    Cell("shard kills its worker always", MINI, SOON, (POISON,), (3, 0), ASIDE),
]
KILL_ON_MINI = Cell("launcher killed as it makes a shard", MINI, SMALL, (HELD,), (KILLED, 0))
CELLS = [*ON_MINI, *ALWAYS_ON_MINI, KILL_ON_MINI]

pytestmark = pytest.mark.flink


@pytest.mark.parametrize("cell", ON_MINI, ids=lambda cell: cell.id)
def test_a_fault_on_a_mini_cluster(cell, golden, tmp_path, record, flink):
    del flink
    statuses = matrix.examine(cell, golden, tmp_path)
    assert (tmp_path / "met0").exists()  # the fault has happened
    record(cell, statuses)


@pytest.mark.parametrize("cell", ALWAYS_ON_MINI, ids=lambda cell: cell.id)
def test_a_shard_that_always_fails_on_a_mini_cluster(cell, golden, tmp_path, record, flink):
    del flink
    flink_settings.restart_once(tmp_path / "soon")
    record(cell, matrix.examine(cell, golden, tmp_path))


def test_a_killed_launcher_of_a_mini_cluster_is_repeated(golden, tmp_path, record, flink):
    del flink
    run = functools.partial(matrix.end, during=functools.partial(kill_launcher, tmp_path))
    record(KILL_ON_MINI, matrix.examine(KILL_ON_MINI, golden, tmp_path, run))
