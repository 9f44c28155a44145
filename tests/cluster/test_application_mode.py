"""A job as a jar on a Flink cluster of its own, as `deploy/flink/application.yaml` runs it."""

import subprocess
import sys
import time
from contextlib import ExitStack

import pytest

from pairweave.pipelines.engines.flink import (
    cluster_state,
    java,
    job_jar,
    session_cluster,
    worker_pool,
)
from tests.cluster.conftest import LIMIT_SECONDS
from tests.makers import corpora, runs

ENTRY_POINT = "org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint"
"""What Flink's image starts for `standalone-job`."""

pytestmark = pytest.mark.flink


class ApplicationCluster(session_cluster.SessionCluster):
    """A job manager that runs the jar, without a job server; the jar is on every class path."""

    def _start_all(self):
        self._write_configuration()
        job = ["--job-classname", job_jar.MAIN_CLASS]
        self._flink("jobmanager", ["-Xmx512m"], ENTRY_POINT, job)
        parameters = self._task_manager_parameters()
        for number in range(self.state.task_managers):
            self._start_task_manager(number, parameters)

    def run(self, held):
        """Start it and wait for the end of the job; return the job manager's log."""
        held.callback(session_cluster.stop, self.directory)
        self.start()
        manager = self.state.members[0]
        deadline = time.monotonic() + LIMIT_SECONDS
        while manager.alive:
            assert time.monotonic() < deadline, "the job does not end"
            time.sleep(0.2)
        return (self.directory / "jobmanager.log").read_text()


@pytest.fixture
def pool():
    """The place of a worker pool, which is in the pod beside a task manager."""
    port = str(session_cluster.free_port())
    process = subprocess.Popen(
        [sys.executable, "-m", worker_pool.__name__, "--port", port], cwd=runs.ROOT
    )
    try:
        yield f"localhost:{port}"
    finally:
        process.terminate()
        process.wait(timeout=20)


def test_a_jar_on_a_cluster_of_its_own_writes_and_commits_the_same_bytes(
    flink, flink_libraries, pool, tmp_path
):
    del flink
    corpora.write_corpus(tmp_path, 60)
    words = [
        *("augment", "--source_lang", "en", "--target_lang", "de", "--shard_pairs", "20"),
        *("--source_input", tmp_path / "corpus.en", "--target_input", tmp_path / "corpus.de"),
    ]
    golden = runs.digest_of(words, tmp_path / "golden", "--workers", "1")
    jar, output = tmp_path / "job.jar", tmp_path / "out"
    told = runs.run_well(
        *(*words, "--output", output, "--engine", "flink", "--workers", "2"),
        *(f"--output_executable_path={jar}", "--environment_type=EXTERNAL"),
        *(f"--environment_config={pool}", "--sdk_worker_parallelism=2"),
    )
    assert told == f"{jar}\n"
    assert not (output / "_manifest.json").exists()
    sizes = cluster_state.ClusterState(
        rest=session_cluster.free_port(),
        job_port=session_cluster.free_port(),  # nothing listens there
        slots=2,
        task_managers=1,
        members=[],
    )
    cluster = ApplicationCluster(
        tmp_path / "cluster", flink_libraries, java.require_java(), str(jar), sizes
    )
    with ExitStack() as held:
        log = cluster.run(held)
    assert "exit code 0" in log, log[-3000:]
    assert runs.tree_digest(output) == golden
