"""The client of the Dataflow service, with one-line errors."""

import contextlib
import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pairweave.transforms.errors import ConfigError, WorkerError

PROBE_SECONDS = 30.0
"""How long the service may take to answer one request."""

FAILED = frozenset({"FAILED", "CANCELLED"})
"""States of a job that has ended without success."""

_RUNS_ALREADY = re.compile(r"already active job named (\S+) with id: (\S+?)\.? ")
_REQUEST = re.compile(r"^[A-Z]+ https?://\S+: ")
"""Matches the text that the client puts before a reason."""

_ENDED = re.compile(r"Dataflow pipeline failed\. State: (\w+), Error:\s*(.*)", re.DOTALL)


@dataclasses.dataclass(frozen=True, slots=True)
class SentJob:
    """A job that the service has accepted.

    Attributes:
        id: Its id.
        project: Its project.
        region: Its region.
    """

    id: str
    project: str
    region: str

    def how_to_look(self, output: str) -> str:
        """Return the commands that show the job's state and that stop it."""
        place = f"--project {self.project} --region {self.region}"
        return (
            f"Dataflow works on job {self.id}: see pairweave status {output}, pairweave status "
            f"{self.id} {place}; to stop it, gcloud dataflow jobs cancel {self.id} {place}"
        )


def sent_job(result: Any) -> SentJob:  # noqa: ANN401 - Beam's result of any runner
    """Return the job from the result of Beam's runner."""
    from apache_beam.options.pipeline_options import GoogleCloudOptions

    options = result._options.view_as(GoogleCloudOptions)
    return SentJob(result.job_id(), options.project, options.region)


def let_beam_know_errors() -> None:
    """Make Beam's retries recognize the errors of Google's clients.

    Without `apitools`, which nothing here needs, Beam does not recognize them and keeps repeating a
    refused request for half a minute.
    """
    from apache_beam.utils import retry
    from google.api_core.exceptions import GoogleAPICallError

    if retry.GoogleAPICallError is None:
        retry.GoogleAPICallError = GoogleAPICallError


def check_access(flags: Sequence[str]) -> None:
    """Check by a request that the service accepts the project, the region and the credentials.

    Raises:
        ConfigError: The service refuses; says why.
        WorkerError: The service does not answer.
    """
    from google.cloud import dataflow_v1beta3 as api

    options = _options(flags)
    request = api.ListJobsRequest(project_id=options.project, location=options.region, page_size=1)
    place = f"--project {options.project} --region {options.region}"
    with plain_errors(f"{place}: Dataflow refuses"):
        client = _client(api.JobsV1Beta3Client, options)
        client.list_jobs(request, timeout=PROBE_SECONDS, retry=None)


@dataclasses.dataclass(frozen=True, slots=True)
class ServiceJob:
    """A job as the service describes it.

    Attributes:
        name: Its name.
        state: Its state, such as ``RUNNING``.
        since: When it entered that state.
        error: The last error that the service reports for a failed job, in one line.
    """

    name: str
    state: str
    since: str
    error: str | None


def find_job(job: str, flags: Sequence[str]) -> ServiceJob:
    """Ask the service about a job.

    Args:
        job: Its id.
        flags: Beam options, at least ``--project`` and ``--region``.

    Raises:
        ConfigError: There is no such job, or the service refuses.
        WorkerError: It does not answer.
    """
    from google.cloud import dataflow_v1beta3 as api

    options = _options(flags)
    request = api.GetJobRequest(project_id=options.project, location=options.region, job_id=job)
    with plain_errors(f"job {job}: Dataflow refuses"):
        client = _client(api.JobsV1Beta3Client, options)
        answer = client.get_job(request, timeout=PROBE_SECONDS, retry=None)
        state = api.JobState(answer.current_state).name.removeprefix("JOB_STATE_")
        error = _last_error(job, options) if state in FAILED else None
    since = f"{answer.current_state_time:%Y-%m-%d %H:%M:%S} UTC"
    return ServiceJob(answer.name, state, since, error)


def _last_error(job: str, options: Any) -> str | None:  # noqa: ANN401 - see _options
    from google.cloud import dataflow_v1beta3 as api

    request = api.ListJobMessagesRequest(
        project_id=options.project,
        location=options.region,
        job_id=job,
        minimum_importance=api.JobMessageImportance.JOB_MESSAGE_ERROR,
    )
    client = _client(api.MessagesV1Beta3Client, options)
    messages = client.list_job_messages(request, timeout=PROBE_SECONDS, retry=None)
    texts = [" ".join(message.message_text.split()) for message in messages]
    return texts[-1] if texts else None


@contextlib.contextmanager
def plain_errors(refusal: str) -> Iterator[None]:
    """Turn errors of the service into pairweave's, each with its reason in one line.

    Args:
        refusal: The beginning of the message for a request that the service refuses.

    Raises:
        ConfigError: The service refused, a job of this name is running, or the job was cancelled.
        WorkerError: The service does not answer, or the job failed.
    """
    from apache_beam.runners.dataflow import dataflow_runner
    from apache_beam.runners.dataflow.internal import apiclient
    from google.api_core import exceptions
    from google.auth import exceptions as auth_exceptions

    try:
        yield
    except exceptions.ClientError as error:
        raise ConfigError(f"{refusal}: {_reason(error)}") from error
    except (exceptions.GoogleAPIError, OSError) as error:
        raise WorkerError(f"Dataflow does not answer: {_reason(error)}") from error
    except auth_exceptions.GoogleAuthError as error:
        raise ConfigError(
            f"{refusal}: no valid Google credentials ({_reason(error)}); set "
            "GOOGLE_APPLICATION_CREDENTIALS or run gcloud auth application-default login"
        ) from error
    except apiclient.DataflowJobAlreadyExistsError as error:
        raise ConfigError(_already_runs(str(error))) from error
    except dataflow_runner.DataflowRuntimeException as error:
        ended = _ENDED.search(str(error))
        if ended is None or ended[1] != "CANCELLED":
            raise
        raise ConfigError(
            "the Dataflow job was cancelled; run the same command again to continue"
        ) from error


def failed_job(text: str) -> str | None:
    """Return the reason why a job failed, in one line; None if the text is not about that."""
    ended = _ENDED.search(text)
    if ended is None:
        return None
    reason = " ".join(ended[2].split())
    if reason in {"", "None"}:
        reason = "the service gives no reason; see the job's page in the console"
    return f"the Dataflow job ended as {ended[1]}: {reason}"


def _already_runs(text: str) -> str:
    running = _RUNS_ALREADY.search(f"{text} ")
    if running is None:
        return text
    return (
        f"this run is already on Dataflow as job {running[2]}: look with pairweave status "
        f"{running[2]}, or wait for its end"
    )


def _options(flags: Sequence[str]) -> Any:  # noqa: ANN401 - options have no static attributes
    from apache_beam.options.pipeline_options import GoogleCloudOptions, PipelineOptions

    return PipelineOptions(list(flags)).view_as(GoogleCloudOptions)


def _client(kind: Any, options: Any) -> Any:  # noqa: ANN401 - the client is not typed
    """Return a client with the address and the credentials that Beam would use."""
    import google.auth.credentials
    from apache_beam.internal.gcp import auth
    from google.api_core.client_options import ClientOptions

    own = None if options.no_auth else auth.get_service_credentials(options)
    credentials = own or google.auth.credentials.AnonymousCredentials()
    address = (options.dataflow_endpoint or "").strip().rstrip("/")
    local = "localhost" in address or "sandbox" in address
    return kind(
        credentials=credentials,
        client_options=ClientOptions(
            api_endpoint=address if local else re.sub("^https?://", "", address) or None
        ),
        transport="rest" if local else None,
    )


def _reason(error: Exception) -> str:
    text = " ".join(str(getattr(error, "message", "") or error).split())
    return _REQUEST.sub("", text) or type(error).__name__
