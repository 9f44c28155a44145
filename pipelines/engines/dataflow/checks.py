"""Checks before a job is sent to Dataflow: of missing options, labels, places and the service.

The service would report most errors minutes later, and some of them only from its workers.
"""

import ast
import importlib.util
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pairweave.pipelines.engines.dataflow import places, service
from pairweave.pipelines.options.base import GraphOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files

PACKAGE = "google.cloud.dataflow_v1beta3"

_OF_SERVICE = {
    "project": "give the id of the Google Cloud project that the job runs in",
    "region": "give the region of the job, such as europe-west4, best that of the buckets",
}
"""Options that every request to the service needs, each with what to give."""

_OF_JOB = {
    "temp_location": "give a place for files of the service and its jobs, such as gs://BUCKET/temp",
    "sdk_container_image": "Dataflow's workers get pairweave only from an image; build the one in "
    "deploy/dataflow and give its name",
}
"""Options that every job needs, likewise."""

_UNFIT = {
    "template_location": "writes a classic template; build the Flex Template of deploy/dataflow",
    "streaming": "jobs read files and end; leave it out",
    "setup_file": "the workers' packages are in their image; leave it out",
    "requirements_file": "the workers' packages are in their image; leave it out",
}
"""Beam options that cannot be used with this engine, and why."""

_LABEL_KEY = re.compile(r"[^\W\d_][\w-]{0,62}")
_LABEL_VALUE = re.compile(r"[\w-]{0,63}")
_MAX_LABELS = 64


def check_job(options: GraphOptions, extra: Sequence[str], values: Mapping[str, str]) -> None:
    """Check the options of a job and of Beam, and that the service knows project and region.

    Args:
        options: The job's options.
        extra: Beam options as the user gave them.
        values: Values of the Beam options, by name.

    Raises:
        ConfigError: An option is missing or invalid; names it and what to give.
        WorkerError: The service does not answer.
    """
    check_flags(values)
    if "workers" in options.model_fields_set:
        raise ConfigError(
            "--workers: Dataflow starts and stops machines by itself; give --max_num_workers, and "
            "--machine_type for the processes of each"
        )
    _check_by_beam(extra)
    places.check_reachable(options)
    for name in ("temp_location", "staging_location"):
        if name in values:
            files.check_store(values[name])
    service.check_access(extra)


def check_flags(values: Mapping[str, str]) -> None:
    """Check that no Beam option for Dataflow is missing, and that none has no use there.

    Raises:
        ConfigError: An option is missing, or cannot be used; names it.
    """
    check_service_flags(values)
    for name, why in _UNFIT.items():
        if name in values:
            raise ConfigError(f"--{name}: {why}")
    _require(_OF_JOB, values)


def check_service_flags(values: Mapping[str, str]) -> None:
    """Check that no option is missing that every request to the service needs.

    Raises:
        ConfigError: An option is missing, or the client of the service is; names it.
    """
    if not installed():
        raise ConfigError("engine dataflow: needs packages; run pip install 'pairweave[gcp]'")
    _require(_OF_SERVICE, values)


def _require(needed: Mapping[str, str], values: Mapping[str, str]) -> None:
    for name, what in needed.items():
        if name not in values:
            raise ConfigError(f"--{name} is missing: {what}")


def _check_by_beam(extra: Sequence[str]) -> None:
    """Check labels, and the rest by Beam's own rules that send no requests to the service."""
    from apache_beam.options.pipeline_options import GoogleCloudOptions, PipelineOptions
    from apache_beam.options.pipeline_options_validator import PipelineOptionsValidator

    class Validator(PipelineOptionsValidator):
        OPTIONS = [  # noqa: RUF012 - Beam's
            kind for kind in PipelineOptionsValidator.OPTIONS if kind is not GoogleCloudOptions
        ]

        def is_service_runner(self) -> bool:
            return True

    validator: Any = Validator
    given = PipelineOptions(list(extra))
    errors = validator(given, None).validate()
    if errors:
        raise ConfigError(f"Beam's options: {'; '.join(errors)}")
    check_labels(given.view_as(GoogleCloudOptions).labels or ())


def installed() -> bool:
    """Tell whether the client of the service is installed."""
    try:
        return importlib.util.find_spec(PACKAGE) is not None
    except ModuleNotFoundError:
        return False


def check_labels(given: Sequence[str]) -> None:
    """Check the values of ``--labels``.

    Raises:
        ConfigError: One is wrong, or there are too many.
    """
    count = 0
    for text in given:
        for key, value in _labels(text):
            count += 1
            is_valid = _LABEL_KEY.fullmatch(key) and _LABEL_VALUE.fullmatch(value)
            if not is_valid or (key, value) != (key.lower(), value.lower()):
                raise ConfigError(
                    f"--labels {text}: expected KEY=VALUE, each of at most 63 lower-case letters, "
                    "digits, hyphens and underscores, the first of KEY a letter; repeat --labels "
                    "for more"
                )
    if count > _MAX_LABELS:
        raise ConfigError(f"--labels: expected at most {_MAX_LABELS} labels, got {count}")


def _labels(text: str) -> Iterator[tuple[str, str]]:
    """Yield the labels in one value of ``--labels``; Beam reads one with a brace as a map."""
    if "{" not in text:
        key, _, value = text.partition("=")
        yield key, value
        return
    try:
        yield from ((str(key), str(value)) for key, value in ast.literal_eval(text).items())
    except (ValueError, SyntaxError, AttributeError) as error:
        raise ConfigError(
            f"--labels {text}: expected KEY=VALUE, or a map such as {{'KEY': 'VALUE'}}"
        ) from error
