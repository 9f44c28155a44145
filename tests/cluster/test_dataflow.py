"""Jobs that are sent to Dataflow: what the service gets, and how their end is told."""

import pytest

pytest.importorskip("torch", reason="needs the extra `neural`")
pytest.importorskip("google.cloud.dataflow_v1beta3", reason="needs the extra `gcp`")

from apache_beam.utils import retry

from pairweave.pipelines.cli import main
from tests.cluster.conftest import ready
from tests.makers import dataflow, poisoned, runs, stores

pytestmark = pytest.mark.slow

ACCELERATOR = "type:nvidia-l4;count:1;install-nvidia-driver"
GPU = {"accelerator": ACCELERATOR.encode()}
MACHINES = (
    *("--max_num_workers", "20", "--num_workers", "2", "--machine_type", "n2-highmem-4"),
    *("--disk_size_gb", "60", "--network", "a-network", "--no_use_public_ips"),
    *("--subnetwork", "regions/europe-west4/subnetworks/a-subnetwork"),
    *("--service_account_email", "worker@a-project.iam.gserviceaccount.com"),
    *("--labels", "team=mt", "--labels", "cost=corpus"),
    *("--dataflow_service_options", "enable_dynamic_thread_scaling"),
    *("--experiments", "no_use_multiple_sdk_containers"),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Run a stand-in for Google's storage that holds a small corpus under `in/`."""
    directory = tmp_path_factory.mktemp("files")
    poisoned.write(directory)
    with stores.running("gs") as store:
        for path in sorted(directory.rglob("*")):
            if path.is_file():
                store.put(f"in/{path.relative_to(directory)}", path.read_bytes())
        yield store


@pytest.fixture
def service():
    """Run a stand-in for the Dataflow service."""
    with dataflow.running() as service:
        yield service


def command(service, job, output, *more):
    """Return a job's command line; its workers are to come from the image."""
    return [
        *(job, "--engine", "dataflow", "--output", f"gs://bucket/{output}"),
        *("--source_input", "gs://bucket/in/corpus.en", "--source_lang", "en"),
        *("--target_input", "gs://bucket/in/corpus.de", "--target_lang", "de"),
        *("--shard_pairs", "40", "--temp_location", "gs://bucket/temp"),
        *("--region", dataflow.REGION, "--sdk_container_image", dataflow.IMAGE),
        *service.flags,
        *more,
    ]


ENCODER = {
    "align": ("align", "--aligner", "encoder", "--model", "gs://bucket/in/one", "--layer", "2"),
    "yisi2": ("filter", "--scorer", "yisi2", "--encoder", "gs://bucket/in/one", "--layer", "2"),
    "margin": ("filter", "--scorer", "margin", "--encoder", "gs://bucket/in/one"),
}
HOLDS_ENCODER = {"align": "Align/", "yisi2": "Score/", "margin": "Score/Encode"}


@pytest.mark.parametrize("kind", ENCODER)
def test_the_gpu_is_asked_for_by_the_step_with_the_encoder_alone(store, service, capsys, kind):
    job, *more = ENCODER[kind]
    words = command(service, job, f"gpu_{kind}", *more, "--accelerator", ACCELERATOR)
    assert main([*words, "--wait", "false"]) == 0
    assert capsys.readouterr().out.splitlines() == list(service.jobs)
    ((sent),) = service.jobs.values()
    graph = dataflow.graph_of(sent, store)
    environments = dataflow.environments_of(graph)
    assert sorted(environments.values(), key=str) == sorted(
        [(dataflow.IMAGE, {}), (dataflow.IMAGE, GPU)], key=str
    )
    hinted = dataflow.steps_with_hint(graph, "accelerator")
    assert hinted
    assert all(name.startswith(HOLDS_ENCODER[kind]) for name in hinted), hinted
    (pool,) = sent["environment"]["workerPools"]
    images = pool["sdkHarnessContainerImages"]
    assert {image["containerImage"] for image in images} == {dataflow.IMAGE}
    assert {image["environmentId"] for image in images} == environments.keys()


def test_the_job_has_what_the_flags_say(store, service, capsys):
    assert main([*command(service, "augment", "flags", *MACHINES), "--wait", "false"]) == 0
    capsys.readouterr()
    ((sent),) = service.jobs.values()
    assert sent["name"].startswith("pairweave-augment-")
    assert sent["type"] == 1  # batch
    assert sent["labels"] == {"team": "mt", "cost": "corpus"}
    environment = sent["environment"]
    assert "enable_dynamic_thread_scaling" in environment["serviceOptions"]
    assert {"use_runner_v2", "no_use_multiple_sdk_containers"} <= {*environment["experiments"]}
    assert environment["serviceAccountEmail"] == "worker@a-project.iam.gserviceaccount.com"
    assert environment["tempStoragePrefix"].startswith("storage.googleapis.com/bucket/temp/")
    (pool,) = environment["workerPools"]
    assert pool["numWorkers"] == 2
    assert pool["autoscalingSettings"]["maxNumWorkers"] == 20
    assert pool["machineType"] == "n2-highmem-4"
    assert pool["diskSizeGb"] == 60
    assert pool["network"] == "a-network"
    assert pool["subnetwork"] == "regions/europe-west4/subnetworks/a-subnetwork"
    assert pool["ipConfiguration"] == 2  # private
    assert pool["numThreadsPerWorker"] == 1
    assert [package["name"] for package in pool["packages"]] == [
        "submission_environment_dependencies.txt"  # a list: no code travels with the job
    ]
    graph = dataflow.graph_of(sent, store)
    (environment,) = dataflow.environments_of(graph).values()
    assert environment == (dataflow.IMAGE, {})
    names = {step.unique_name for step in graph.components.transforms.values()}
    assert any(name.startswith("Commit") for name in names)
    plan = store.objects("flags/_plan.json")
    assert plan  # claimed before the job was sent
    assert main(["status", "gs://bucket/flags"]) == 0
    told = capsys.readouterr().out
    assert "shards done 0 of 3" in told
    assert f"sent as job {next(iter(service.jobs))}" in told


def test_the_graph_is_that_of_other_engines(store, service, tmp_path, capsys):
    """The bytes of a run of the same graph on another engine are those of a disk."""
    ready("prism")
    assert main([*command(service, "align", "there"), "--wait", "false"]) == 0
    capsys.readouterr()
    words = command(service, "align", "there")
    here = [
        *words[: words.index("--temp_location")],
        *("--engine", "prism", "--workers", "2"),
    ]
    runs.run_well(*here)  # a run that Dataflow began is finished elsewhere: the plan is the same
    manifest = store.objects("there/_manifest.json")
    assert manifest
    runs.run_well(
        *("align", "--source_lang", "en", "--target_lang", "de", "--shard_pairs", "40"),
        *("--source_input", "gs://bucket/in/corpus.en"),
        *("--target_input", "gs://bucket/in/corpus.de", "--output", tmp_path / "out"),
    )
    expected = (tmp_path / "out" / "_manifest.json").read_bytes()
    assert manifest["there/_manifest.json"] == expected
    assert main([*words, "--wait", "false"]) == 0  # nothing is left to do, so nothing is sent
    assert len(service.jobs) == 1


@pytest.mark.parametrize(
    ("refusal", "status", "message"),
    [
        (
            (403, "(9c): Current user cannot act as service account\n worker@a-project."),
            2,
            "Dataflow refuses the job: (9c): Current user cannot act as service account worker@a",
        ),
        (
            (400, "(1f): The workflow could not be created. Causes: no machine type x1"),
            2,
            "Dataflow refuses the job: (1f): The workflow could not be created. Causes: no mach",
        ),
        ((429, "quota of jobs exhausted"), 2, "Dataflow refuses the job: quota of jobs exhausted"),
    ],
)
@pytest.mark.usefixtures("store")
def test_a_refusal_of_the_service_is_its_reason_in_one_line(
    service, capsys, monkeypatch, refusal, status, message
):
    monkeypatch.setattr(retry, "GoogleAPICallError", None)  # as where apitools is missing
    service.refusal = refusal
    assert main(command(service, "align", "refused")) == status
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"pairweave: {message}")
    assert [method for method, _ in service.requests].count("POST") == 1  # it is not repeated


@pytest.mark.usefixtures("store")
def test_a_run_that_is_sent_twice_is_told_that_it_runs(service, capsys):
    words = [*command(service, "align", "twice"), "--wait", "false"]
    assert main(words) == 0
    capsys.readouterr()
    assert main(words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    (job,) = service.jobs
    assert line.startswith(f"pairweave: this run is already on Dataflow as job {job}: look with")


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(
    ("state", "told", "status", "message"),
    [
        (
            "FAILED",
            [("ERROR", "Workflow failed. Causes: Quota 'NVIDIA_L4_GPUS' exceeded.")],
            1,
            "the Dataflow job ended as FAILED: Workflow failed. Causes: Quota 'NVIDIA_L4_GPUS'",
        ),
        (
            "FAILED",
            [
                (
                    "ERROR",
                    "Traceback (most recent call last):\n  File x\n"
                    "pairweave.transforms.errors.ConfigError: gs://bucket/in/corpus.en: line 3: "
                    "no valid UTF-8",
                )
            ],
            2,
            "gs://bucket/in/corpus.en: line 3: no valid UTF-8",
        ),
        ("CANCELLED", [], 2, "the Dataflow job was cancelled; run the same command again"),
    ],
)
def test_how_a_job_ended_is_told_in_one_line(service, capsys, state, told, status, message):
    service.ends_as = f"JOB_STATE_{state}"
    service.messages = told
    assert main([*command(service, "align", "ended"), "--attempts", "1"]) == status
    lines = [line for line in capsys.readouterr().err.splitlines() if "pairweave: " in line]
    assert lines == [line for line in lines if line.startswith(f"pairweave: {message}")]
    assert len(lines) == 1
