"""`status`: what a run's files and the service say."""

import json

import pytest

from pairweave.pipelines.cli import main
from pairweave.transforms.output import run_files
from tests.makers import dataflow, finished_runs

JOB = "2026-01-01_00_00_00-0"
UNIT = {"file": "a.tsv", "line": 1, "rows": 10}
UNITS = [{"index": number, **UNIT} for number in range(2)]
PLAN = finished_runs.plan(job="align", units=UNITS, shards=4)


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def receipt(number, plan, reasons):
    rejected = [
        {"corpus": "c", "stage": "screen", "reason": reason, "rows": rows}
        for reason, rows in reasons.items()
    ]
    kept = 1_000 + number
    name = run_files.rejects_name(number, 4)
    rows = kept + sum(reasons.values())
    return {
        "plan": plan,
        "shard": number,
        "rows": rows,
        "kept": kept,
        "rejected": rejected,
        "kept_by_corpus": {"c": kept},
        "units": [],
        "counts": {},
        "histograms": {},
        "files": [{"name": name, "bytes": 0, "sha256": "0" * 64, "rows": 0}],
    }


@pytest.fixture
def output(tmp_path):
    """A run with one of two units read, and two of four shards; a third is of another plan."""
    digest = run_files.plan_digest(PLAN)
    write(tmp_path / "_plan.json", PLAN)
    write(tmp_path / "_receipts" / "unit-00000.json", {})
    reasons = [{"too_long": 2}, {"too_long": 1, "duplicate": 7}, {"empty": 9}]
    for number, (plan, each) in enumerate(zip([digest, digest, "other"], reasons, strict=True)):
        write(tmp_path / run_files.shard_receipt_name(number, 4), receipt(number, plan, each))
    return tmp_path


def test_a_run_is_as_far_as_its_receipts_say(output, capsys):
    assert main(["status", str(output)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        str(output),
        f"  job align, plan {run_files.plan_digest(PLAN)}",
        "  units read 1 of 2",
        "  shards done 2 of 4",
        "  pairs in them: kept 2,001, rejected 10 (duplicate 7, too_long 3)",
        "  committed: no",
    ]


def test_a_run_with_a_manifest_is_committed(output, capsys):
    write(output / "_manifest.json", {})
    assert main(["status", str(output)]) == 0
    assert capsys.readouterr().out.endswith("  committed: yes\n")


def test_the_job_that_a_command_left_behind_is_named(output, capsys):
    sent = {"id": JOB, "project": "a-project", "region": "europe-west4"}
    times = {"started": "2026-01-01T00:00:00Z", "seconds": None, "pairs_per_second": None}
    place = {"engine": "dataflow", "workers": None, "attempts": 1, "shards_reused": 0}
    place |= {"machine": {"cores": 2, "platform": "Linux"}, "python": "3.11", "packages": {}}
    write(output / "_run.json", {**times, **place, "dataflow_job": sent})
    assert main(["status", str(output)]) == 0
    assert capsys.readouterr().out.endswith(
        f"  sent as job {JOB}: pairweave status {JOB} --project a-project --region europe-west4\n"
    )


def test_a_directory_without_a_plan_is_no_run(tmp_path, capsys):
    assert main(["status", str(tmp_path)]) == 2
    assert f"{tmp_path}: there is no run here: _plan.json is missing" in capsys.readouterr().err


@pytest.fixture
def service():
    with dataflow.running() as service:
        service.jobs[JOB] = {"name": "pairweave-align-0"}
        yield service


def of_job(service, *words):
    return main(["status", *words, *service.flags, "--region", dataflow.REGION])


@pytest.mark.parametrize(
    ("state", "status", "text"),
    [
        ("RUNNING", 0, "running since 2026-01-01 00:00:00 UTC"),
        ("DONE", 0, "done since 2026-01-01 00:00:00 UTC"),
        ("CANCELLED", 1, "cancelled since 2026-01-01 00:00:00 UTC"),
        ("FAILED", 1, "failed since 2026-01-01 00:00:00 UTC"),
    ],
)
def test_a_job_is_as_the_service_says(service, capsys, state, status, text):
    service.ends_as = f"JOB_STATE_{state}"
    assert of_job(service, JOB) == status
    assert capsys.readouterr().out.splitlines() == [
        f"Dataflow job {JOB} (pairweave-align-0)",
        f"  {text}",
    ]


def test_the_last_error_of_a_failed_job_is_shown_in_one_line(service, capsys):
    service.ends_as = "JOB_STATE_FAILED"
    service.messages = [("ERROR", "first"), ("ERROR", "Workflow failed. Causes:\n no quota left")]
    assert of_job(service, JOB) == 1
    assert capsys.readouterr().out.splitlines()[2:] == ["  Workflow failed. Causes: no quota left"]


def test_a_job_and_its_run_are_shown_together(service, output, capsys):
    assert of_job(service, JOB, str(output)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        f"Dataflow job {JOB} (pairweave-align-0)",
        str(output),
    ]


def test_an_unknown_job_and_missing_flags_are_one_line_each(service, capsys):
    assert of_job(service, "2025-01-01_00_00_00-9") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("Information about job 2025-01-01_00_00_00-9 could not be found.")
    assert main(["status", JOB]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--project is missing" in line
    assert main(["status"]) == 2
