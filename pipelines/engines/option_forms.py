"""Forms of the values of Beam's options, for each engine.

Beam passes most values on as they are. An engine or a service would refuse a wrong one when it gets
the job, after the input was read, or minutes later when it starts machines. Only the service knows
which machine types, networks and accounts exist.
"""

import re
import urllib.parse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from pairweave.transforms.errors import ConfigError


class Form(NamedTuple):
    """The form of an option's value.

    Attributes:
        fits: Tells whether a value has it.
        fault: The message for another value.
    """

    fits: Callable[[str], object]
    fault: str


def _like(pattern: str, expected: str) -> Form:
    """Return the form of values that match a pattern (RE) as a whole."""
    return Form(re.compile(pattern).fullmatch, f"expected {expected}")


def _whole_number(least: int, most: int) -> Form:
    return Form(
        lambda value: value.isdecimal() and least <= int(value) <= most,
        f"expected a whole number from {least} to {most}",
    )


_MAX_PARALLEL = 1 << 15

_KINDS = ("DOCKER", "EXTERNAL", "LOOPBACK", "PROCESS")
_WORKERS = {
    "environment_type": _like(f"(?i:{'|'.join(_KINDS)})|beam:.*", f"one of {', '.join(_KINDS)}")
}

_NAME = r"[^/\s]+"
_REGION = "[a-z]+-[a-z]+[0-9]+"
_ACCOUNT = r"[^@\s,]+@[^@\s,]+\.gserviceaccount\.com"
_A_REGION = _like(_REGION, "a region such as europe-west4, not a zone of it")
_A_ZONE = _like(rf"{_REGION}-[a-z0-9]+", "a zone such as europe-west4-a")
_A_MACHINE = _like("[a-z][a-z0-9]*(-[a-z0-9]+)+", "a machine type such as n2-standard-4")
_IN_A_BUCKET = _like(
    r"gs://[a-z0-9][a-z0-9._-]{1,220}[a-z0-9](/[^\r\n]*)?",
    "a place in a bucket, such as gs://BUCKET/temp, which Dataflow can open",
)

FORMS: Mapping[str, Mapping[str, Form]] = {
    "local": {"direct_num_workers": Form(str.isdecimal, "expected a whole number")},
    "prism": {
        **_WORKERS,
        "prism_location": Form(
            lambda value: urllib.parse.urlsplit(value).scheme or Path(value).is_file(),
            "no such file; leave it out to use the one of `make prism`",
        ),
    },
    "flink": {
        **_WORKERS,
        "parallelism": _whole_number(1, _MAX_PARALLEL),
        "max_parallelism": _whole_number(1, _MAX_PARALLEL),
        "sdk_worker_parallelism": _whole_number(0, _MAX_PARALLEL),
        "job_port": _whole_number(0, 65_535),
        "flink_conf_dir": Form(
            lambda value: Path(value).is_dir(),
            "no such directory; give one with Flink's configuration",
        ),
    },
    "dataflow": {
        "project": _like(
            r"([a-z][a-z0-9.-]*:)?[a-z][a-z0-9-]{4,28}[a-z0-9]",
            "the id of a project (6 to 30 lower-case letters, digits and hyphens), not its name or "
            "number; gcloud projects list shows the ids",
        ),
        "region": _A_REGION,
        "worker_region": _A_REGION,
        "worker_zone": _A_ZONE,
        "zone": _A_ZONE,
        "temp_location": _IN_A_BUCKET,
        "staging_location": _IN_A_BUCKET,
        "sdk_container_image": _like(
            r"[a-z0-9][\w.:-]*(/[\w.-]+)+(:(?!latest$)[\w.-]+|@sha256:[0-9a-f]{64})",
            "the name of an image in a registry with a tag other than latest or a digest, so that "
            "all workers have the same, such as "
            "REGION-docker.pkg.dev/PROJECT/REPOSITORY/pairweave:0.1.0",
        ),
        "job_name": _like(
            "[a-z]([-a-z0-9]*[a-z0-9])?",
            "lower-case letters, digits and hyphens, beginning with a letter and not ending with a "
            "hyphen",
        ),
        "machine_type": _A_MACHINE,
        "worker_machine_type": _A_MACHINE,
        # Google's documentation asks for at least 30; to Beam, 0 is the service's default.
        "disk_size_gb": _like(
            r"0|[3-9]\d|[1-9]\d{2,}",
            "30 or more, for the workers' image and logs; leave it out for the service's default",
        ),
        "service_account_email": _like(
            _ACCOUNT,
            "the address of a service account, such as NAME@PROJECT.iam.gserviceaccount.com",
        ),
        "impersonate_service_account": _like(
            f"{_ACCOUNT}(,{_ACCOUNT})*",
            "addresses of service accounts, such as NAME@PROJECT.iam.gserviceaccount.com",
        ),
        "subnetwork": _like(
            f"(.*/)?regions/{_NAME}/subnetworks/{_NAME}",
            "regions/REGION/subnetworks/NAME, or the subnetwork's address",
        ),
        "dataflow_kms_key": _like(
            f"projects/{_NAME}/locations/{_NAME}/keyRings/{_NAME}/cryptoKeys/{_NAME}",
            "projects/PROJECT/locations/REGION/keyRings/RING/cryptoKeys/KEY",
        ),
    },
}
"""For each engine, the options whose values have a form."""


def check_forms(engine: str, values: Mapping[str, str]) -> None:
    """Check the forms of an engine's options, without any request.

    Args:
        engine: Its name.
        values: Values of the user's Beam options, by name.

    Raises:
        ConfigError: A value has another form; names the option.
    """
    for name, form in FORMS[engine].items():
        value = values.get(name)
        if value is not None and not form.fits(value):
            raise ConfigError(f"--{name} {value}: {form.fault}")
