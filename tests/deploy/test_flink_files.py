"""The files for Flink on Kubernetes and in Docker: they agree with the code, and open nothing."""

from pathlib import Path

import pytest
import yaml

from pairweave.pipelines.engines.flink import java, job_jar, worker_pool

FOLDER = Path(__file__).parents[2] / "deploy" / "flink"
POOL = ["python", "-m", worker_pool.__name__]
ARGUMENTS = ["--host", "localhost", "--port", "50000"]


@pytest.fixture(scope="module")
def session():
    return yaml.safe_load((FOLDER / "session.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def application():
    return yaml.safe_load((FOLDER / "application.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pod(session):
    return session["spec"]["taskManager"]["podTemplate"]["spec"]


@pytest.fixture(scope="module")
def services():
    return yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))["services"]


def test_the_operator_gets_a_deployment_of_the_flink_that_the_runner_is_for(session):
    spec = session["spec"]
    assert (session["apiVersion"], session["kind"]) == (
        "flink.apache.org/v1beta1",
        "FlinkDeployment",
    )
    assert spec["flinkVersion"] == f"v{java.FLINK_VERSION.replace('.', '_')}"
    assert spec["image"].startswith(f"flink:{java.FLINK_VERSION}.")
    # Every value of Flink's configuration is a text for the operator.
    assert all(isinstance(value, str) for value in spec["flinkConfiguration"].values())
    assert spec["flinkConfiguration"]["restart-strategy.type"] == "fixed-delay"
    assert "job" not in spec  # a session


def test_the_cluster_of_one_job_runs_its_jar_with_the_slots_that_it_needs(session, application):
    spec = application["spec"]
    assert spec["job"]["entryClass"] == job_jar.MAIN_CLASS
    # The classes of `lib` stay when a step ends, and so do its worker processes.
    assert spec["job"]["jarURI"] == "local:///opt/flink/lib/job.jar"
    slots = spec["flinkConfiguration"]["taskmanager.numberOfTaskSlots"]
    assert spec["job"]["parallelism"] == spec["taskManager"]["replicas"] * int(slots)
    own = spec["flinkConfiguration"].pop("classloader.resolve-order")
    assert own == "parent-first"
    assert spec["flinkConfiguration"] == session["spec"]["flinkConfiguration"]
    assert spec["taskManager"]["podTemplate"] == session["spec"]["taskManager"]["podTemplate"]


def test_the_workers_are_a_sidecar_that_has_the_gpu_and_listens_inside_the_pod(pod):
    flink, workers = pod["containers"]
    assert flink["name"] == "flink-main-container"
    assert "resources" not in flink
    assert workers["command"] == POOL
    assert workers["args"] == ARGUMENTS
    assert "ports" not in workers
    assert workers["resources"]["limits"]["nvidia.com/gpu"] == "1"
    assert not workers["securityContext"]["allowPrivilegeEscalation"]


def test_every_volume_that_is_mounted_exists_and_flink_spills_there(session, pod):
    volumes = {volume["name"] for volume in pod["volumes"]}
    mounts = [mount for one in pod["containers"] for mount in one.get("volumeMounts", [])]
    assert {mount["name"] for mount in mounts} == volumes
    assert session["spec"]["flinkConfiguration"]["io.tmp.dirs"] == mounts[0]["mountPath"]


def test_the_readme_names_the_port_of_the_pool_and_each_file():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert "--environment_config=localhost:50000" in text
    assert all(f"`{path.name}`" in text for path in FOLDER.glob("*.yaml"))


def test_compose_opens_a_port_on_this_machine_alone(services):
    ports = [port for service in services.values() for port in service.get("ports", [])]
    assert ports == ["127.0.0.1:8081:8081"]


def test_compose_has_the_workers_in_the_task_managers_network(services):
    workers = services["workers"]
    assert workers["network_mode"] == "service:taskmanager"
    assert workers["entrypoint"] == POOL
    assert workers["command"] == ARGUMENTS
    assert {services[name]["image"] for name in ("jobmanager", "taskmanager")} == {
        "flink:1.19.3-java17"
    }


def test_the_arguments_are_those_of_the_pool():
    parser = worker_pool.parser()
    assert vars(parser.parse_args(ARGUMENTS)) == {"host": "localhost", "port": 50000}
