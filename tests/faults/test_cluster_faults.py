"""Faults on a Flink session cluster of two task managers."""

import contextlib
import dataclasses
import functools
import json
import os
import signal
from pathlib import Path

import pytest

from pairweave.pipelines.engines.flink import cluster_settings, cluster_state, java, session_cluster
from pairweave.pipelines.process import descendants
from tests.faults import matrix
from tests.faults.held import await_held, kill_launcher, let_go
from tests.faults.matrix import HELD, KILLED, MIDDLE, RAISES, Cell
from tests.makers import runs

SESSION = "flink, session cluster"
SMALL = ("--engine", "flink", "--workers", "2")
RESTART_SECONDS = 3
"""Time until a failed job is restarted on the session cluster: less than usual, to save time."""

LARGE = ("--engine", "flink", "--workers", "4")
ON_SESSION = [
    Cell("worker killed as it makes a shard", SESSION, SMALL, (MIDDLE,), attempts=1),
    Cell("function raises once", SESSION, SMALL, (RAISES,), attempts=1),
]
ELSEWHERE = Cell("workers in another directory", SESSION, SMALL, attempts=1)
REPLACED = Cell("task manager killed, replaced", SESSION, LARGE, (HELD,), attempts=1)
SPARE = Cell("task manager killed, spare slots", SESSION, SMALL, (HELD,), attempts=1)
LAUNCHER = Cell("launcher killed as it makes a shard", SESSION, SMALL, (HELD,), (KILLED, 0))
ENDED = "has ended (jobmanager)"
MANAGER = Cell("job manager killed", SESSION, SMALL, (HELD,), (2, 0), ENDED)
CELLS = [*ON_SESSION, ELSEWHERE, REPLACED, SPARE, LAUNCHER, MANAGER]

pytestmark = pytest.mark.flink


@dataclasses.dataclass
class Machine:
    """A session cluster, and the file with the faults of its workers."""

    cluster: session_cluster.SessionCluster
    faults: Path

    def workers(self):
        """Return the worker processes."""
        return [pid for member in self.cluster.state.members for pid in descendants.of(member.pid)]

    def task_manager_of(self, worker):
        """Return the task manager that started a worker, by its number."""
        (result,) = [
            member
            for member in self.cluster.state.members
            if member.name.startswith("taskmanager") and worker in descendants.of(member.pid)
        ]
        return int(result.name.removeprefix("taskmanager"))

    def kill(self, name):
        """Kill a process of the cluster."""
        (member,) = [each for each in self.cluster.state.members if each.name == name]
        os.kill(member.pid, signal.SIGKILL)
        matrix.await_no_process(lambda: [member.pid] if member.alive else [])

    def replace_task_manager(self, number):
        """Start a task manager in place of one that has ended; do not wait until it is ready."""
        parameters = self.cluster._task_manager_parameters()
        self.cluster._start_task_manager(number, parameters)

    def run(self, cell, words, directory, number=0, during=None):
        """Run the command on this cluster, see `matrix.end`; its workers end a little later."""
        faults = [
            each.described(directory / f"met{place}") for place, each in enumerate(cell.faults)
        ]
        self.faults.write_text(json.dumps([] if number else faults))
        words = (*words, f"--flink_master=cluster:{self.cluster.directory}")
        status, errors = matrix.end(cell, words, directory, number, during)
        if not cell.faults or cell.faults[0].do != "hold":
            matrix.await_no_process(self.workers)
        return status, errors


@pytest.fixture(scope="module")
def machine(flink, flink_libraries, tmp_path_factory):
    """A session cluster of two task managers with two slots each, whose workers have faults."""
    directory = tmp_path_factory.mktemp("session")
    faults = directory / "faults.json"
    faults.write_text("[]")
    sizes = cluster_state.ClusterState(
        rest=session_cluster.free_port(),
        job_port=session_cluster.free_port(),
        slots=2,
        task_managers=2,
        members=[],
    )
    cluster = session_cluster.SessionCluster(
        directory / "cluster", flink_libraries, java.require_java(), str(flink), sizes
    )
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as held:
        patch.setattr(cluster_settings, "RESTART_SECONDS", RESTART_SECONDS)
        patch.setenv("PAIRWEAVE_FAULTS", f"@{faults}")
        held.callback(session_cluster.stop, cluster.directory)
        cluster.start()
        yield Machine(cluster, faults)


@pytest.mark.parametrize("cell", ON_SESSION, ids=lambda cell: cell.id)
def test_a_fault_on_a_session_cluster(cell, machine, golden, tmp_path, record):
    statuses = matrix.examine(cell, golden, tmp_path, machine.run)
    assert (tmp_path / "met0").exists()  # the fault has happened
    record(cell, statuses)


def test_workers_in_another_directory_find_files_with_relative_names(
    machine, golden, tmp_path, record
):
    """The workers are in the directory of their cluster."""
    near = [
        os.path.relpath(word, tmp_path) if word[0] == "/" else word for word in golden.arguments
    ]
    runs.run_well_here(*near, "--output", "golden", "--workers", "1", cwd=tmp_path)
    golden = matrix.Golden(near, runs.tree_digests(tmp_path / "golden"))

    def run(cell, words, directory, number=0):
        words = [word.name if isinstance(word, Path) else word for word in words]
        return machine.run(cell, words, directory, number)

    record(ELSEWHERE, matrix.examine(ELSEWHERE, golden, tmp_path, run))


def test_a_killed_task_manager_that_is_replaced_costs_no_byte(machine, golden, tmp_path, record):
    def during(process):
        number = machine.task_manager_of(await_held(tmp_path, process))
        machine.kill(f"taskmanager{number}")
        machine.replace_task_manager(number)

    run = functools.partial(machine.run, during=during)
    record(REPLACED, matrix.examine(REPLACED, golden, tmp_path, run))
    matrix.await_no_process(machine.workers)


def test_a_killed_task_manager_leaves_its_work_to_spare_slots(machine, golden, tmp_path, record):
    killed = []

    def during(process):
        killed.append(machine.task_manager_of(await_held(tmp_path, process)))
        machine.kill(f"taskmanager{killed[0]}")

    run = functools.partial(machine.run, during=during)
    record(SPARE, matrix.examine(SPARE, golden, tmp_path, run))
    machine.replace_task_manager(killed[0])
    machine.cluster.wait_for_slots()
    matrix.await_no_process(machine.workers)


def test_a_job_whose_launcher_was_killed_does_not_disturb_the_next(
    machine, golden, tmp_path, record
):
    """The cluster goes on with the first job, which writes a shard after the second has ended."""
    run = functools.partial(machine.run, during=functools.partial(kill_launcher, tmp_path))
    statuses = matrix.examine(LAUNCHER, golden, tmp_path, run)
    let_go(tmp_path)
    machine.cluster.wait_for_slots()
    matrix.await_no_process(machine.workers)
    matrix.check_files(tmp_path / "out", golden, committed=True)
    record(LAUNCHER, statuses)


def test_after_a_killed_job_manager_a_new_cluster_goes_on(machine, golden, tmp_path, record):
    """The last test of this file, since the cluster ends and starts again.

    The shard of the held worker stays unfinished, so that there is something left to do.
    """

    def during(process):
        await_held(tmp_path, process)
        machine.kill("jobmanager")

    def run(cell, words, directory, number=0):
        if number:
            let_go(tmp_path)
            session_cluster.stop(machine.cluster.directory)
            machine.cluster.start()
        return machine.run(cell, words, directory, number, during)

    record(MANAGER, matrix.examine(MANAGER, golden, tmp_path, run))
    matrix.await_no_process(machine.workers)
