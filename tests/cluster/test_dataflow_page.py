"""`deploy/dataflow/JOB.md` shows a job as the service gets it, with each field explained."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra `neural`")
pytest.importorskip("google.cloud.dataflow_v1beta3", reason="needs the extra `gcp`")

from pairweave.pipelines.cli import main
from tests.cluster import test_dataflow as sending
from tests.cluster.test_dataflow import service, store  # noqa: F401 - fixtures
from tests.makers import dataflow

PAGE = Path(__file__).resolve().parents[2] / "deploy" / "dataflow" / "JOB.md"

VOLATILE = (
    (r"pairweave-align-[0-9a-f]{8}(\.[0-9.]+)?", r"pairweave-align-PLAN"),
    (r"http://localhost:\d+", "https://dataflow.googleapis.com"),
    (r"\b[0-9a-f]{64}\b", "SHA-256"),
    (r"^\d{20}-\d+$", "TIME-NUMBER"),
)
"""What differs between two launches, and what the page has instead."""

FIELDS = {
    "name": "contains the digest of the run's plan; the service refuses a second job of this name",
    "type": "1: batch",
    "clientRequestId": "a repeated request with this id starts no second job",
    "labels": "`--labels`: shown on the bill and in the console",
    "environment.dataset": "set by Beam; not used by a batch job",
    "environment.clusterManagerApiService": "set by Beam: the machines are those of Compute Engine",
    "environment.experiments": "`--experiments`, and those with which Beam asks for Runner v2",
    "environment.serviceAccountEmail": "`--service_account_email`: the account of the workers. It "
    "needs read access to inputs and models, and write access to output, temp and staging",
    "environment.serviceOptions": "`--dataflow_service_options`",
    "environment.tempStoragePrefix": "below `--temp_location`: the service's own temporary files",
    "environment.userAgent": "the launcher's version of Beam; the image must have the same version",
    "environment.version": "the protocol between the service and its workers",
    "environment.sdkPipelineOptions.options.pipelineUrl": "the graph, which is not part of the "
    "request: it is staged below `--staging_location`",
    "environment.sdkPipelineOptions.options.pipelineProtoHash": "SHA-256 of the staged graph",
    "environment.workerPools.kind": "`harness` at the real service",
    "environment.workerPools.numWorkers": "`--num_workers`: machines at the start",
    "environment.workerPools.autoscalingSettings": "`--max_num_workers`: the limit for both pools "
    "together, which also limits the bill",
    "environment.workerPools.machineType": "`--machine_type`",
    "environment.workerPools.diskSizeGb": "`--disk_size_gb`: for the image and temporary files",
    "environment.workerPools.network": "`--network`",
    "environment.workerPools.subnetwork": "`--subnetwork`",
    "environment.workerPools.ipConfiguration": "2: no public addresses (`--no_use_public_ips`)",
    "environment.workerPools.numThreadsPerWorker": "set by pairweave: a process works on one shard",
    "environment.workerPools.packages": "only Beam's list of the launcher's packages; the request "
    "contains no code",
    "environment.workerPools.taskrunnerSettings": "set by Beam: where workers report",
    "environment.workerPools.sdkHarnessContainerImages": "`--sdk_container_image`, once for each "
    "environment of the graph. The second has the resource hint of `--accelerator`; the service "
    "keeps a pool of machines with GPUs for the steps of this environment only",
}
"""What each field of the job means."""

pytestmark = pytest.mark.slow


def steady(value):
    """Return a value without what differs between launches, and without coders and options."""
    if isinstance(value, dict):
        return {
            key: steady(each)
            for key, each in value.items()
            if key not in ("capabilities", "display_data")
        }
    if isinstance(value, list):
        return [steady(each) for each in value]
    if isinstance(value, str):
        for pattern, instead in VOLATILE:
            value = re.sub(pattern, instead, value)
    return value


def shortened(sent):
    """Return a job as the page shows it."""
    result = steady(sent)
    options = result["environment"]["sdkPipelineOptions"]["options"]
    result["environment"]["sdkPipelineOptions"]["options"] = {
        name: options[name] for name in ("pipelineProtoHash", "pipelineUrl")
    }
    for pool in result["environment"]["workerPools"]:  # Beam takes environments from a set
        pool["sdkHarnessContainerImages"].sort(key=lambda image: image["environmentId"])
    return result


def paths(value, begin=""):
    """Yield the paths of the fields of a job, as deep as `FIELDS` goes."""
    for key, each in value.items():
        path = f"{begin}{key}"
        if path in FIELDS:
            yield path
        elif isinstance(each, dict):
            yield from paths(each, f"{path}.")
        elif isinstance(each, list) and each and isinstance(each[0], dict):
            for part in each:
                yield from paths(part, f"{path}.")
        else:
            yield path


def page(found, graph):
    """Return the text of the page."""
    hinted = sorted(dataflow.steps_with_hint(graph, "accelerator"))
    names = sorted({name.split("/")[0] for name in hinted})
    rows = [f"| `{path}` | {meaning} |" for path, meaning in FIELDS.items()]
    return "\n".join(
        [
            "# A job as Dataflow gets it",
            "",
            "This page shows the request that `pairweave align --engine dataflow --aligner "
            "encoder --accelerator …` sends to the service,",
            "as a local imitation of the service received it. The coders of each image and "
            "Beam's other options are left out.",
            "`PLAN` and `SHA-256` stand for values that differ between runs. "
            "`pytest -m slow tests/cluster/test_dataflow_page.py",
            "--update_golden` writes this page.",
            "",
            "```json",
            json.dumps(found, indent=2, sort_keys=True),
            "```",
            "",
            "| field | meaning |",
            "| --- | --- |",
            *rows,
            "",
            "In the staged graph, these steps have the environment with the accelerator: "
            f"{', '.join(f'`{name}`' for name in names)}. All others",
            "have the default environment.",
            "",
        ]
    )


def test_the_page_shows_the_job_as_it_is_sent(store, service, request):  # noqa: F811 - fixtures
    job, *more = sending.ENCODER["align"]
    words = sending.command(service, job, "page", *more, "--accelerator", sending.ACCELERATOR)
    assert main([*words, *sending.MACHINES, "--wait", "false"]) == 0
    (sent,) = service.jobs.values()
    actual = shortened(sent)
    assert set(paths(actual)) == FIELDS.keys()
    text = page(actual, dataflow.graph_of(sent, store))
    if request.config.getoption("update_golden"):
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text
