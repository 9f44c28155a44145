"""One toy job on every engine: the same bytes, the same message when it fails."""

import os

import pytest

from tests.cluster.conftest import run_toy
from tests.makers import flink_settings

pytestmark = pytest.mark.flink


@pytest.mark.usefixtures("prism")
def test_prism_makes_the_same_shards(tmp_path, golden):
    assert run_toy(tmp_path / "out", "--engine", "prism", "--workers", "2")["digest"] == golden


@pytest.mark.usefixtures("prism")
def test_prism_fails_with_the_message_alone(tmp_path):
    failed = run_toy(tmp_path / "out", "--engine", "prism", "--fault", "config")
    assert failed["error"] == "toy.txt: shard 1 cannot be made: mend the file"
    assert failed["user_error"]


@pytest.mark.usefixtures("flink")
def test_a_flink_mini_cluster_makes_the_same_shards_in_one_process(tmp_path, golden):
    made = run_toy(tmp_path / "out", "--engine", "flink", "--workers", "1")
    assert made["digest"] == golden
    assert len(made["pids"]) == 1


@pytest.mark.usefixtures("flink")
def test_two_flink_slots_are_two_processes_and_leave_none_behind(tmp_path, golden):
    made = run_toy(tmp_path / "out", "--engine", "flink", "--workers", "2")
    assert made["digest"] == golden
    assert len(made["pids"]) == 2
    for number in made["pids"]:
        with pytest.raises(ProcessLookupError):
            os.kill(int(number), 0)


@pytest.mark.usefixtures("flink")
def test_a_flink_mini_cluster_fails_with_the_message_alone(tmp_path):
    settings = flink_settings.restart_once(tmp_path / "settings")
    flags = ("--engine", "flink", "--workers", "2", f"--flink_conf_dir={settings}")
    failed = run_toy(tmp_path / "out", *flags, "--fault", "worker")
    assert failed["error"] == "toy: shard 1: 3 pairs in, 2 out, first pair 00ff"
    assert not failed["user_error"]
