"""How a job finds the Flink cluster on this machine; clusters that are not up."""

import os
from pathlib import Path

import pytest

from pairweave.pipelines.engines import engine_flags, engines
from pairweave.pipelines.engines.flink import cluster_state, session_cluster
from pairweave.pipelines.engines.flink.cluster_state import ClusterState, Member
from pairweave.pipelines.process import file_lock
from pairweave.transforms.errors import ConfigError
from tests.makers import runs


def this_process() -> Member:
    return Member.of("jobmanager", os.getpid())


def state_of(*members: Member) -> ClusterState:
    return ClusterState(rest=1, job_port=2, slots=1, task_managers=1, members=[*members])


@pytest.fixture
def cluster(tmp_path) -> Path:
    """A cluster's directory with three task managers, whose members are all this process."""
    members = [this_process()] * 5
    state = ClusterState(rest=8081, job_port=8099, slots=2, task_managers=3, members=members)
    cluster_state.write_state(tmp_path, state)
    return tmp_path


@pytest.mark.parametrize("words", [("--flink_master={}",), ("--flink_master", "{}")])
def test_a_job_goes_to_the_warm_job_server_with_workers_of_this_machine(cluster, words):
    extra = [word.format(f"cluster:{cluster}") for word in words]
    with engines.beam_options("flink", 2, "a-job", extra) as given:
        assert "--flink_master=localhost:8081" in given
        assert "--job_endpoint=localhost:8099" in given
        assert "--sdk_worker_parallelism=2" in given  # of each task manager
        assert "--environment_type=PROCESS" in given
        assert not any("cluster:" in word or "jar" in word for word in given)
    assert engines.works_here("flink", extra)
    engine_flags.check_flags("flink", engine_flags.given_options(extra))


def test_as_many_workers_as_slots_of_all_task_managers_are_taken_and_no_more(cluster):
    extra = [f"--flink_master=cluster:{cluster}"]
    with engines.beam_options("flink", 6, "a-job", extra) as given:
        assert "--parallelism=6" in given
    with (
        pytest.raises(ConfigError, match="--workers 7: the cluster has 6 slots"),
        engines.beam_options("flink", 7, "a-job", extra),
    ):
        pass


def test_a_cluster_that_is_not_up_is_refused_with_the_command_that_starts_it(tmp_path):
    with pytest.raises(ConfigError, match=r"no cluster is up in .*; run pairweave cluster up"):
        engine_flags.check_flags("flink", {"flink_master": f"cluster:{tmp_path}"})


def test_a_cluster_one_of_whose_processes_has_ended_is_refused_by_its_name(tmp_path):
    ended = Member(name="jobserver", pid=os.getpid(), started=1)
    cluster_state.write_state(tmp_path, state_of(this_process(), ended))
    with pytest.raises(ConfigError, match=r"has ended \(jobserver\); run pairweave cluster down"):
        cluster_state.find(f"cluster:{tmp_path}")


def test_a_cluster_that_is_still_starting_is_not_up(tmp_path):
    cluster_state.write_state(tmp_path, state_of(this_process()))
    with pytest.raises(ConfigError, match="has not started"):
        cluster_state.find(f"cluster:{tmp_path}")


def test_of_two_that_start_a_cluster_at_once_one_is_refused(tmp_path):
    second = session_cluster.SessionCluster(tmp_path, tmp_path, "java", "jar", state_of())
    with (
        file_lock.alone_in(tmp_path, "busy"),
        pytest.raises(ConfigError, match="another pairweave cluster up starts a cluster there"),
    ):
        second.start()
    assert list(tmp_path.iterdir()) == []


def test_another_process_with_a_recorded_number_is_not_ended(tmp_path):
    other = Member(name="jobmanager", pid=os.getpid(), started=1)
    cluster_state.write_state(tmp_path, state_of(other))
    assert not cluster_state.read_state(tmp_path).ready
    assert session_cluster.stop(tmp_path) == 0
    assert cluster_state.read_state(tmp_path) is None


def test_a_host_named_cluster_is_no_directory():
    assert cluster_state.find("cluster:8081") is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not JSON"),
        ('{"rest": 8081', "not JSON"),
        ("[]", "expected a JSON object"),
        ("{}", "rest: is missing"),
        ('{"rest": "8081"}', "rest: expected a whole number"),
        ('{"rest": 8081, "job_port": 70000}', "job_port: expected at most 65535"),
        (
            '{"rest": 1, "job_port": 1, "slots": 1, "task_managers": 1, "members": {}}',
            "members: expected a list",
        ),
        (
            '{"rest": 1, "job_port": 1, "slots": 1, "task_managers": 1, "members": [{"name": 1}]}',
            "members[0].name: expected text",
        ),
    ],
)
@pytest.mark.parametrize("action", ["down", "status"])
def test_a_damaged_record_of_a_cluster_is_named_with_its_field(tmp_path, content, message, action):
    (tmp_path / cluster_state.STATE).write_text(content)
    status, _, errors = runs.run_here("cluster", action, "--directory", tmp_path)
    assert status == 2
    first, *others = errors.splitlines()
    assert first.startswith(f"pairweave: {tmp_path / cluster_state.STATE}: ")
    assert message in first
    assert "End the processes of the cluster" in first
    assert others == []
