"""Checks before a job is sent to Dataflow: of projects, regions, buckets, images and files.

The service would report most errors minutes later, and some of them only from its workers.
"""

import importlib.util
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pairweave.pipelines.engines.dataflow import option_forms, places, service
from pairweave.pipelines.options.base import GraphOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files

PACKAGE = "google.cloud.dataflow_v1beta3"

_PROJECT = re.compile(r"([a-z][a-z0-9.-]*:)?[a-z][a-z0-9-]{4,28}[a-z0-9]")
_ZONE = re.compile(rf"({option_forms.REGION.pattern})-[a-z]")
_IMAGE = re.compile(r"[a-z0-9][\w.:-]*(/[\w.-]+)+(:(?P<tag>[\w.-]+)|@sha256:[0-9a-f]{64})?")
_BUCKET = re.compile(r"gs://[a-z0-9][a-z0-9._-]{1,220}[a-z0-9](/[^\r\n]*)?")

_UNFIT = {
    "template_location": "writes a classic template; build the Flex Template of deploy/dataflow",
    "streaming": "jobs read files and end; leave it out",
    "setup_file": "the workers' packages are in their image; leave it out",
    "requirements_file": "the workers' packages are in their image; leave it out",
}
"""Beam options that cannot be used with this engine, and why."""


def check(options: GraphOptions, extra: Sequence[str], values: Mapping[str, str]) -> None:
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
    option_forms.check(extra)
    places.check(options)
    for name in ("temp_location", "staging_location"):
        if name in values:
            files.check_store(values[name])
    service.check(extra)


def check_flags(values: Mapping[str, str]) -> None:
    """Check the Beam options for Dataflow without any request.

    Raises:
        ConfigError: An option is missing or wrong; names it.
    """
    check_service_flags(values)
    for name, why in _UNFIT.items():
        if name in values:
            raise ConfigError(f"--{name}: {why}")
    if "temp_location" not in values:
        raise ConfigError(
            "--temp_location is missing: give a place for files of the service and its jobs, such "
            "as gs://BUCKET/temp"
        )
    for name in ("temp_location", "staging_location"):
        if name in values:
            _check_bucket(name, values[name])
    _check_image(values.get("sdk_container_image"))


def check_service_flags(values: Mapping[str, str]) -> None:
    """Check the options that every request to the service needs.

    Raises:
        ConfigError: An option is missing or wrong; names it.
    """
    if not installed():
        raise ConfigError("engine dataflow: needs packages; run pip install 'pairweave[gcp]'")
    _check_project(values.get("project"))
    _check_region(values.get("region"))


def _check_by_beam(extra: Sequence[str]) -> None:
    """Check by Beam's own rules, except those that send requests to the service."""
    from apache_beam.options.pipeline_options import GoogleCloudOptions, PipelineOptions
    from apache_beam.options.pipeline_options_validator import PipelineOptionsValidator

    class Validator(PipelineOptionsValidator):
        OPTIONS = [  # noqa: RUF012 - Beam's
            kind for kind in PipelineOptionsValidator.OPTIONS if kind is not GoogleCloudOptions
        ]

        def is_service_runner(self) -> bool:
            return True

    validator: Any = Validator
    errors = validator(PipelineOptions(list(extra)), None).validate()
    if errors:
        raise ConfigError(f"Beam's options: {'; '.join(errors)}")


def installed() -> bool:
    """Tell whether the client of the service is installed."""
    try:
        return importlib.util.find_spec(PACKAGE) is not None
    except ModuleNotFoundError:
        return False


def _check_project(project: str | None) -> None:
    if project is None:
        raise ConfigError(
            "--project is missing: give the id of the Google Cloud project that the job runs in"
        )
    if project.isdecimal():
        raise ConfigError(f"--project {project}: is a project's number; give its id")
    if not _PROJECT.fullmatch(project):
        raise ConfigError(
            f"--project {project}: is not the id of a project (6 to 30 lower-case letters, digits "
            "and hyphens); gcloud projects list shows them"
        )


def _check_region(region: str | None) -> None:
    if region is None:
        raise ConfigError(
            "--region is missing: give the region of the job, such as europe-west4, best that of "
            "the buckets"
        )
    zone = _ZONE.fullmatch(region)
    if zone:
        raise ConfigError(f"--region {region}: is a zone; give {zone[1]}")
    if not option_forms.REGION.fullmatch(region):
        raise ConfigError(f"--region {region}: is not a region; expected one such as europe-west4")


def _check_bucket(name: str, path: str) -> None:
    if not path.startswith(places.SCHEME):
        raise ConfigError(
            f"--{name} {path}: Dataflow cannot open it; give a place in a bucket, such as "
            "gs://BUCKET/temp"
        )
    if not _BUCKET.fullmatch(path):
        raise ConfigError(f"--{name} {path}: names no valid bucket; expected one as in gs://BUCKET")


def _check_image(image: str | None) -> None:
    if image is None:
        raise ConfigError(
            "--sdk_container_image is missing: Dataflow's workers get pairweave only from an "
            "image; build the one in deploy/dataflow and give its name"
        )
    parsed = _IMAGE.fullmatch(image)
    if not parsed:
        raise ConfigError(
            f"--sdk_container_image {image}: is not the name of an image in a registry; expected "
            "one such as REGION-docker.pkg.dev/PROJECT/REPOSITORY/pairweave:0.1.0"
        )
    if "@" not in image and parsed["tag"] in {None, "latest"}:
        raise ConfigError(
            f"--sdk_container_image {image}: has no fixed version, so that workers started later "
            "could differ; give a tag other than latest, or a digest"
        )
