"""The toy job on a real Flink cluster: a job manager and two task managers."""

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pairweave.pipelines.engines.flink.cluster_state import read_state
from tests.cluster.conftest import ROOT, run_toy
from tests.makers.terminals import alive

pytestmark = pytest.mark.flink


def flags_for(cluster, *environment: str) -> list[str]:
    master = f"--flink_master=localhost:{cluster.state.rest}"
    return ["--engine", "flink", "--workers", "4", master, *environment]


@pytest.fixture
def boot(tmp_path) -> Path:
    """The program that PROCESS workers are started with."""
    path = tmp_path / "boot"
    path.write_text(
        f"#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} "
        '-m pairweave.pipelines.engines.local.worker "$@"\n'
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_two_task_managers_can_share_a_worker_pool(running_cluster, worker_pool, tmp_path, golden):
    made = run_toy(
        tmp_path / "out",
        *flags_for(running_cluster),
        "--environment_type=EXTERNAL",
        f"--environment_config=localhost:{worker_pool}",
    )
    assert made["digest"] == golden
    assert len(made["pids"]) == 2  # one for each task manager


def test_a_killed_task_manager_costs_time_but_no_byte(running_cluster, boot, tmp_path):
    work = ("--shards", "12")
    golden = run_toy(tmp_path / "golden", "--workers", "1", *work)["digest"]
    output = tmp_path / "out"
    killed = []

    def kill_when_half_done() -> None:
        deadline = time.monotonic() + 200
        while time.monotonic() < deadline:
            if len(list(output.glob("part-*"))) >= 3:
                manager = next(
                    member
                    for member in running_cluster.state.members
                    if member.name == "taskmanager0"
                )
                os.kill(manager.pid, signal.SIGKILL)
                killed.append(0)
                return
            time.sleep(0.05)

    watcher = threading.Thread(target=kill_when_half_done)
    watcher.start()
    made = run_toy(
        output,
        *flags_for(running_cluster),
        *work,
        *("--work", "sleep", "--seconds", "1", "--parallelism=2"),
        "--environment_type=PROCESS",
        f'--environment_config={{"command": "{boot}"}}',
    )
    watcher.join()
    assert killed
    assert made["digest"] == golden


def test_the_command_starts_a_cluster_that_jobs_use_and_leaves_nothing_of_it(
    flink, flink_libraries, tmp_path, golden
):
    del flink
    place = str(tmp_path / "cluster")

    def cluster(action: str, *more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pairweave.pipelines.cli", "cluster", action]
        return subprocess.run(
            [*command, "--directory", place, *more],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )

    try:
        up = cluster("up", "--flink", str(flink_libraries))
        assert up.returncode == 0, up.stderr
        assert "2 of 2 slots free" in up.stdout
        members = read_state(Path(place)).members
        again = cluster("up", "--flink", str(flink_libraries))
        assert again.returncode == 2
        assert "a cluster is running there" in again.stderr
        made = run_toy(
            *(tmp_path / "out", "--engine", "flink", "--workers", "2"),
            *(f"--flink_master=cluster:{place}", "--fill", "20"),
        )
        assert made["digest"] == golden
        assert len(made["pids"]) == 2
    finally:
        down = cluster("down")
    assert "3 processes ended" in down.stdout
    assert not any(member.alive for member in members)
    assert not alive(map(int, made["pids"]))
    assert cluster("status").returncode == 1
