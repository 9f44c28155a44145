"""The command `cluster` starts, shows and ends a Flink cluster."""

import os

import pytest

from pairweave.pipelines.commands import cluster as cluster_command
from pairweave.pipelines.engines import programs
from pairweave.pipelines.engines.flink import cluster_state, session_cluster
from pairweave.pipelines.engines.flink.cluster_state import Member
from pairweave.pipelines.engines.flink.session_cluster import SessionCluster
from tests.makers import runs


@pytest.fixture
def started(monkeypatch):
    """Return the clusters that start; each has only this process, which is not ended."""
    result = []

    def start(cluster):
        result.append(cluster)
        cluster.directory.mkdir(parents=True)
        names = [f"member{n}" for n in range(cluster.state.task_managers)]
        members = [Member.of(name, os.getpid()) for name in (*names, "jobmanager", "jobserver")]
        cluster.state = cluster.state.model_copy(update={"members": members})
        cluster_state.write_state(cluster.directory, cluster.state)

    monkeypatch.setattr(SessionCluster, "start", start)
    monkeypatch.setattr(session_cluster, "find_libraries", lambda given: f"flink {given}")
    monkeypatch.setattr(programs, "require_job_server", lambda: "job.jar")
    monkeypatch.setattr(cluster_command, "require_java", lambda: "java")
    said = session_cluster.Overview.model_validate(
        {"slots-total": 6, "slots-available": 4, "jobs-running": 1}
    )
    monkeypatch.setattr(session_cluster, "overview", lambda _: said)
    return result


def test_a_cluster_starts_with_what_is_asked_for_and_is_shown(started, tmp_path):
    words = (
        "--directory",
        tmp_path / "mine",
        "--task_managers",
        3,
        "--slots",
        2,
        "--flink",
        "dist",
    )
    out = runs.run_well_here("cluster", "up", *words)
    (cluster,) = started
    assert (cluster.directory, cluster.libraries) == (tmp_path / "mine", "flink dist")
    assert (cluster.java, cluster.job_server) == ("java", "job.jar")
    assert (cluster.state.task_managers, cluster.state.slots) == (3, 2)
    assert cluster.state.rest != cluster.state.job_port
    lines = out.splitlines()
    assert lines[0] == f"{tmp_path / 'mine'}: up"
    assert lines[1] == f"  member0: process {os.getpid()}"
    assert lines[-3:] == [
        "  4 of 6 slots free; 1 job running",
        f"  web: http://localhost:{cluster.state.rest}",
        f"  use: --engine flink --flink_master=cluster:{tmp_path / 'mine'}",
    ]
    assert runs.run_well_here("cluster", "status", "--directory", tmp_path / "mine") == out


def test_the_users_one_cluster_needs_no_name(started, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    out = runs.run_well_here("cluster", "up")
    assert started[0].directory == tmp_path / "pairweave" / "cluster"
    assert out.endswith("  use: --engine flink --flink_master=cluster\n")


@pytest.mark.usefixtures("started")
def test_a_job_manager_that_does_not_answer_is_told(tmp_path, monkeypatch):
    runs.run_well_here("cluster", "up", "--directory", tmp_path / "mine")
    monkeypatch.setattr(session_cluster, "overview", lambda _: None)
    out = runs.run_well_here("cluster", "status", "--directory", tmp_path / "mine")
    assert "  the job manager does not answer\n" in out
    assert "slots free" not in out


@pytest.mark.parametrize(("action", "status"), [("status", 1), ("down", 0)])
def test_what_is_not_up_says_so(tmp_path, action, status):
    told = runs.run_here("cluster", action, "--directory", tmp_path / "none")
    assert told == (status, f"{tmp_path / 'none'}: not up\n", "")


@pytest.mark.usefixtures("started")
def test_a_process_that_has_ended_is_shown_and_the_status_says_so(tmp_path):
    runs.run_well_here("cluster", "up", "--directory", tmp_path / "mine")
    state = cluster_state.read_state(tmp_path / "mine")
    gone = [*state.members[:-1], Member(name="jobserver", pid=os.getpid(), started=1)]
    cluster_state.write_state(tmp_path / "mine", state.model_copy(update={"members": gone}))
    status, out, _ = runs.run_here("cluster", "status", "--directory", tmp_path / "mine")
    assert status == 1
    assert out.startswith(f"{tmp_path / 'mine'}: a process has ended\n")
    assert f"  jobserver: process {os.getpid()}, ended\n" in out


def test_down_tells_how_many_processes_it_ended(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(session_cluster, "stop", lambda directory: asked.append(directory) or 4)
    out = runs.run_well_here("cluster", "down", "--directory", tmp_path)
    assert (out, asked) == (f"{tmp_path}: 4 processes ended\n", [tmp_path])


@pytest.mark.parametrize("words", [("--slots", 2), ("--task_managers", 1), ("--flink", "dist")])
@pytest.mark.parametrize("action", ["down", "status"])
def test_an_option_of_up_is_refused_with_another_action(tmp_path, action, words):
    told = runs.run_here("cluster", action, "--directory", tmp_path, *words)
    text = f"pairweave: {words[0]}: goes with cluster up; leave it out of cluster {action}\n"
    assert told == (2, "", text)


@pytest.mark.parametrize("action", ["up", "down", "status"])
def test_a_directory_in_a_store_is_refused(action):
    status, _, errors = runs.run_here("cluster", action, "--directory", "gs://bucket/cluster")
    assert status == 2
    assert "a cluster's own directory is on a disk of this machine" in errors


def test_without_a_job_server_it_names_no_option_that_it_lacks(tmp_path, monkeypatch):
    monkeypatch.setattr(session_cluster, "find_libraries", lambda _: tmp_path)
    monkeypatch.setattr(programs, "CHECKOUT", tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    status, _, errors = runs.run_here("cluster", "up", "--directory", tmp_path / "mine")
    assert status == 2
    assert errors.endswith("run `pairweave doctor --install flink` (`make flink` in a checkout)\n")


def test_a_directory_that_is_a_link_to_itself_is_named(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    status, _, errors = runs.run_here("cluster", "status", "--directory", tmp_path / "loop")
    assert status == 2
    assert f"{tmp_path}/loop/cluster.json: Too many levels" in errors
