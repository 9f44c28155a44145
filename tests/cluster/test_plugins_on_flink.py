"""Plugins on Flink: its workers import them, or the run ends with the name of the package."""

import json

import pytest

from pairweave.pipelines.engines.flink import cluster_settings, session_cluster
from tests.cluster.test_plugin_workers import ALIGN, FILTER, PAIRS, write_pairs
from tests.makers import plugins, runs

pytestmark = pytest.mark.flink
FLINK = ("--engine", "flink", "--workers", "2")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Return a directory with pairs, and the example of a plugin installed in its folder site."""
    directory = tmp_path_factory.mktemp("plugins")
    plugins.install_example(directory)
    write_pairs(directory)
    return directory


@pytest.fixture
def site(directory):
    return directory / "site"


@pytest.fixture
def one_worker(directory, site, tmp_path, monkeypatch):
    """Return what writes the files of a command with one local worker, and gives their digest."""

    def digest(words):
        plugins.use(monkeypatch, site)
        output = tmp_path / "one"
        runs.run_well_here(*words, "--workers", 1, "--output", output, cwd=directory)
        plugins.forget()
        return runs.tree_digest(output)

    return digest


@pytest.mark.usefixtures("flink")
@pytest.mark.parametrize("words", [ALIGN, FILTER], ids=["rule and aligner", "scorer and format"])
def test_workers_of_the_mini_cluster_write_the_same_as_a_local_one(
    words, directory, site, one_worker, tmp_path
):
    runs.run_well(*words, *FLINK, "--output", tmp_path / "two", cwd=directory, packages=[site])
    manifest = json.loads((tmp_path / "two" / "_manifest.json").read_text())
    assert manifest["rows"]["read"] == PAIRS
    assert manifest["rejected"]["rule_shouting"] == 20
    assert runs.tree_digest(tmp_path / "two") == one_worker(words)


def test_workers_of_a_running_cluster_have_what_the_command_has(
    running_cluster, directory, site, one_worker, tmp_path
):
    master = f"--flink_master=cluster:{running_cluster.directory}"
    words = (*ALIGN, *FLINK, master, "--output", tmp_path / "two")
    runs.run_well(*words, cwd=directory, packages=[site])
    assert runs.tree_digest(tmp_path / "two") == one_worker(ALIGN)


@pytest.fixture
def one_restart(monkeypatch):
    """Let a cluster that is started next restart a failed job once, after a second."""
    monkeypatch.setattr(session_cluster, "RESTARTS", 1)
    monkeypatch.setattr(cluster_settings, "RESTART_SECONDS", 1)


def test_workers_without_the_package_end_the_run_with_its_name(
    one_restart, running_cluster, worker_pool, directory, site, tmp_path
):
    del one_restart
    master = f"--flink_master=localhost:{running_cluster.state.rest}"
    place = ("--environment_type=EXTERNAL", f"--environment_config=localhost:{worker_pool}")
    words = (*ALIGN, *FLINK, master, *place, "--output", tmp_path / "out")
    status, _, errors = runs.run(*words, cwd=directory, packages=[site])
    assert status == 2, errors
    (said,) = (line for line in errors.splitlines() if line.startswith("pairweave: "))
    assert "pairweave-example-plugin 1.0: is not installed where a worker runs" in said
    assert not (tmp_path / "out" / "_manifest.json").exists()
