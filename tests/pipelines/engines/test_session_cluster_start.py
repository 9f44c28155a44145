"""A Flink cluster starts, is recorded and ends; here with a stand-in for Java."""

import http.server
import json
import socket
import threading

import pytest

from pairweave.pipelines.engines.flink import cluster_state, session_cluster
from pairweave.pipelines.engines.flink.cluster_state import ClusterState
from pairweave.pipelines.engines.flink.session_cluster import SessionCluster
from pairweave.transforms.errors import ConfigError, WorkerError

JAVA = """#!/bin/sh
echo "$@"
case "$*" in
*BashJavaUtils*) echo BASH_JAVA_UTILS_EXEC_RESULT:-Xmx1m -Xms1m
                 echo BASH_JAVA_UTILS_EXEC_RESULT:-D a=b;;
*FAILING*) echo no memory; exit 1;;
*) exec sleep 60;;
esac
"""


class Overview(http.server.BaseHTTPRequestHandler):
    """What the job manager says; all slots are free at the second question."""

    asked = 0

    def do_GET(self):
        Overview.asked += 1
        free = 6 if Overview.asked > 1 else 5
        said = json.dumps({"slots-total": 6, "slots-available": free, "jobs-running": 0}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_):
        pass


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """Return a cluster that has not started, whose interfaces answer."""
    monkeypatch.setattr(session_cluster, "POLL_SECONDS", 0.02)
    java = tmp_path / "java"
    java.write_text(JAVA)
    java.chmod(0o755)
    Overview.asked = 0
    rest = http.server.HTTPServer(("localhost", 0), Overview)
    thread = threading.Thread(target=rest.serve_forever, args=(0.02,))
    thread.start()
    directory = tmp_path / "cluster"
    with socket.create_server(("localhost", 0)) as job:
        ports = {"rest": rest.server_address[1], "job_port": job.getsockname()[1]}
        state = ClusterState(**ports, slots=2, task_managers=3, members=[])
        yield SessionCluster(directory, tmp_path, str(java), "server.jar", state)
        session_cluster.stop(directory)
    rest.shutdown()
    thread.join()
    rest.server_close()


def test_all_processes_start_and_are_recorded_until_they_are_stopped(cluster):
    cluster.start()
    state = cluster_state.read_state(cluster.directory)
    names = ["jobmanager", "jobserver", "taskmanager0", "taskmanager1", "taskmanager2"]
    assert [member.name for member in state.members] == names
    assert state == cluster.state
    assert state.ready
    assert Overview.asked == 2
    actual = cluster_state.find(f"cluster:{cluster.directory}")
    assert actual == state
    with pytest.raises(ConfigError, match="a cluster is running there"):
        SessionCluster(*(getattr(cluster, name) for name in cluster.__slots__)).start()
    assert session_cluster.stop(cluster.directory) == 5
    assert not any(member.alive for member in state.members)
    assert cluster_state.read_state(cluster.directory) is None
    assert not (cluster.directory / "tmp").exists()
    assert session_cluster.stop(cluster.directory) == 0


def test_each_process_is_told_its_memory_and_where_the_others_are(cluster):
    cluster.start()
    told = {path.stem: path.read_text() for path in cluster.directory.glob("*.log")}
    job_manager = told["jobmanager"].split()
    main = next(n for n, word in enumerate(job_manager) if word.endswith("ClusterEntrypoint"))
    assert "-Xmx512m" in job_manager[:main], "Java itself would not limit its memory"
    assert f"--flink-master localhost:{cluster.state.rest}" in told["jobserver"]
    assert f"--job-port {cluster.state.job_port}" in told["jobserver"]
    assert "-Xmx1m -Xms1m" in told["taskmanager2"]
    assert told["taskmanager2"].rstrip().endswith("-D a=b")
    lines = (cluster.directory / "conf" / "flink-conf.yaml").read_text().splitlines()
    settings = dict(line.split(": ") for line in lines)
    assert settings["taskmanager.numberOfTaskSlots"] == "2"
    assert settings["rest.port"] == str(cluster.state.rest)
    hosts = [settings[f"{who}"] for who in ("jobmanager.bind-host", "taskmanager.bind-host")]
    assert {*hosts, settings["rest.bind-address"]} == {"localhost"}


def test_a_task_manager_that_ended_is_replaced_under_its_name(cluster):
    cluster.start()
    before = {member.name: member.pid for member in cluster.state.members}
    cluster._start_task_manager(1, cluster._task_manager_parameters())
    after = {member.name: member.pid for member in cluster.state.members}
    assert after.keys() == before.keys()
    assert {name for name in after if after[name] != before[name]} == {"taskmanager1"}
    old = cluster_state.Member.of("old", before["taskmanager1"])
    session_cluster._signal([old.model_copy(update={"started": 0})], 9)
    assert old.alive  # another process with its number would not be ended
    session_cluster._signal([old], 9)
    session_cluster._await_end([old], 10)
    assert not old.alive


def test_a_process_that_ends_at_once_ends_the_others_and_its_log_is_told(cluster):
    cluster.job_server = "FAILING.jar"
    with pytest.raises(WorkerError, match=r"ended: .*\.log: .*\n?.*no memory"):
        cluster.start()
    assert cluster_state.read_state(cluster.directory) is None


def test_a_cluster_that_never_answers_is_given_up_with_all_logs(cluster, monkeypatch):
    monkeypatch.setattr(session_cluster, "START_SECONDS", 0.3)
    monkeypatch.setattr(session_cluster, "overview", lambda _: None)
    monkeypatch.setattr(SessionCluster, "_task_manager_parameters", lambda _: ([], []))
    with pytest.raises(WorkerError, match="the cluster was not ready in 0 s") as failed:
        cluster.start()
    assert all(f"{name}.log" in str(failed.value) for name in ("jobmanager", "taskmanager2"))


def test_a_directory_without_flink_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="is not a Flink distribution"):
        session_cluster.find_libraries(str(tmp_path))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "bash-java-utils.jar").touch()
    assert session_cluster.find_libraries(str(tmp_path)) == tmp_path.resolve()
