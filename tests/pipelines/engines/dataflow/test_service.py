"""Errors of the Dataflow service in one line each, sorted by who acts."""

import types

import pytest

pytest.importorskip("google.cloud.dataflow_v1beta3", reason="needs the extra `gcp`")

from apache_beam.options.pipeline_options import GoogleCloudOptions, PipelineOptions
from apache_beam.runners.dataflow.dataflow_runner import DataflowRuntimeException
from apache_beam.runners.dataflow.internal import apiclient
from apache_beam.utils import retry
from google.api_core import exceptions
from google.auth import exceptions as auth_exceptions

from pairweave.pipelines.engines.dataflow import service
from pairweave.transforms.errors import ConfigError, WorkerError


def told(error):
    """Return the kind and the message of what an error of the service becomes."""
    try:
        with service.plain_errors("Dataflow refuses"):
            raise error
    except Exception as raised:  # noqa: BLE001 - which one is the question
        return type(raised), str(raised)


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (
            exceptions.Forbidden("GET https://x.test/v1: no\n permission"),
            ConfigError,
            "Dataflow refuses: no permission",
        ),
        (
            exceptions.ServiceUnavailable("try later"),
            WorkerError,
            "Dataflow does not answer: try later",
        ),
        (OSError("no route"), WorkerError, "Dataflow does not answer: no route"),
        (exceptions.GatewayTimeout(""), WorkerError, "Dataflow does not answer: "),
        (
            auth_exceptions.DefaultCredentialsError("none found"),
            ConfigError,
            "Dataflow refuses: no valid Google credentials (none found); set "
            "GOOGLE_APPLICATION_CREDENTIALS or run gcloud auth application-default login",
        ),
        (
            apiclient.DataflowJobAlreadyExistsError(
                "There is already active job named pairweave-a with id: 2026-1. If you want to"
            ),
            ConfigError,
            "this run is already on Dataflow as job 2026-1: look with pairweave status 2026-1, or "
            "wait for its end",
        ),
        (
            DataflowRuntimeException(
                "Dataflow pipeline failed. State: CANCELLED, Error:\nNone", None
            ),
            ConfigError,
            "the Dataflow job was cancelled; run the same command again to continue",
        ),
    ],
)
def test_each_error_says_who_acts(error, kind, message):
    actual, text = told(error)
    assert actual is kind
    assert text.startswith(message)
    assert "\n" not in text


def test_a_job_that_failed_is_left_to_the_message_of_its_run():
    error = DataflowRuntimeException(
        "Dataflow pipeline failed. State: FAILED, Error:\nno  memory", None
    )
    assert told(error)[0] is DataflowRuntimeException
    assert service.failed_job(str(error)) == "the Dataflow job ended as FAILED: no memory"


@pytest.mark.parametrize("reason", ["", "None"])
def test_a_failed_job_without_a_reason_says_where_to_look(reason):
    text = f"Dataflow pipeline failed. State: FAILED, Error:\n{reason}"
    assert service.failed_job(text) == (
        "the Dataflow job ended as FAILED: the service gives no reason; see the job's page in the "
        "console"
    )
    assert service.failed_job("another failure") is None


def test_an_accepted_job_says_how_to_look_at_it_and_how_to_stop_it():
    options = PipelineOptions(["--project", "p", "--region", "r"])
    result = types.SimpleNamespace(_options=options, job_id=lambda: "2026-1")
    assert options.view_as(GoogleCloudOptions).project == "p"
    sent = service.sent_job(result)
    assert (sent.id, sent.project, sent.region) == ("2026-1", "p", "r")
    assert sent.how_to_look("gs://b/out") == (
        "Dataflow works on job 2026-1: see pairweave status gs://b/out, pairweave status 2026-1 "
        "--project p --region r; to stop it, gcloud dataflow jobs cancel 2026-1 --project p "
        "--region r"
    )


def test_beam_does_not_repeat_a_request_that_was_refused(monkeypatch):
    monkeypatch.setattr(retry, "GoogleAPICallError", None)
    service.let_beam_know_errors()
    assert retry.GoogleAPICallError is exceptions.GoogleAPICallError
    mine = type("Mine", (Exception,), {})
    monkeypatch.setattr(retry, "GoogleAPICallError", mine)
    service.let_beam_know_errors()
    assert retry.GoogleAPICallError is mine


@pytest.mark.parametrize(
    ("endpoint", "address", "transport"),
    [
        (None, "dataflow.googleapis.com", None),
        ("https://eu.example/", "eu.example", None),
        ("http://localhost:1", "http://localhost:1", "rest"),
    ],
)
def test_the_client_uses_the_address_that_beam_would(endpoint, address, transport):
    made = {}
    flags = ["--no_auth", *(["--dataflow_endpoint", endpoint] if endpoint else [])]
    service._client(lambda **given: made.update(given), service._options(flags))
    assert made["client_options"].api_endpoint == address
    assert made["transport"] == transport
