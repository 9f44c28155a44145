"""Programs that are not Python: their paths, or the reason to skip a test."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pairweave.pipelines.engines import engine_report, programs
from pairweave.pipelines.engines.flink import cluster_state, java, session_cluster
from pairweave.transforms.errors import ConfigError
from tests.cluster import toy_shards

TOY = Path(toy_shards.__file__)
ROOT = TOY.parents[2]
LIMIT_SECONDS = 300
"""No job here may take longer: a cluster that waits for a worker has no limit of its own."""


def ready(engine: str) -> None:
    """Skip the test if this machine cannot run an engine."""
    state = next(state for state in engine_report.states() if state.engine == engine)
    if not state.ready:
        pytest.skip(state.render())


@pytest.fixture(scope="session")
def prism() -> None:
    """Skip where Beam's prism is absent."""
    ready("prism")


@pytest.fixture(scope="session")
def flink() -> Path:
    """Return the job server's jar, or skip where it or Java is absent."""
    ready("flink")
    return ROOT / programs.JAR


@pytest.fixture(scope="session")
def flink_libraries() -> Path:
    """Return the directory that holds `lib` and `bin` of a Flink distribution, or skip."""
    try:
        return session_cluster.find_libraries(os.environ.get("PAIRWEAVE_FLINK"))
    except ConfigError as error:
        pytest.skip(str(error))


def run_toy(output: Path, *flags: str) -> dict[str, object]:
    """Run the toy job as a program and return what it says of itself."""
    output.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, str(TOY), "--output", str(output), *flags],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=output.parent,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.stdout, done.stderr[-4000:]
    return {**json.loads(done.stdout.splitlines()[-1]), "stderr": done.stderr}


@pytest.fixture(scope="session")
def golden(tmp_path_factory) -> str:
    """Return the digest that one local worker makes."""
    return run_toy(tmp_path_factory.mktemp("golden") / "out", "--workers", "1")["digest"]


@pytest.fixture
def running_cluster(flink, flink_libraries, tmp_path) -> Iterator[session_cluster.SessionCluster]:
    """A Flink session cluster of two task managers with two slots each."""
    sizes = cluster_state.ClusterState(
        rest=session_cluster.free_port(),
        job_port=session_cluster.free_port(),
        slots=2,
        task_managers=2,
        members=[],
    )
    cluster = session_cluster.SessionCluster(
        tmp_path / "cluster", flink_libraries, java.require_java(), str(flink), sizes
    )
    try:
        cluster.start()
        yield cluster
    finally:
        session_cluster.stop(cluster.directory)


@pytest.fixture
def worker_pool() -> Iterator[int]:
    """One pool, which all task managers of this machine ask for workers."""
    port = session_cluster.free_port()
    pool = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "pairweave.pipelines.engines.flink.worker_pool",
            "--port",
            str(port),
        ],
        cwd=ROOT,
    )
    try:
        yield port
    finally:
        pool.terminate()
        pool.wait(timeout=20)
