"""Forms of the values of Beam's options for Dataflow.

Beam sends these values as they are. The service refuses a wrong one when it gets the job, after the
input was read, or minutes later when it starts machines. Only the service knows which machine
types, networks and accounts exist.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pairweave.transforms.errors import ConfigError

REGION = re.compile(r"[a-z]+-[a-z]+[0-9]+")

LEAST_DISK_GB = 30
"""Google's documentation asks for at least this, for the workers' image and logs."""

_ACCOUNT = r"[^@\s,]+@[^@\s,]+\.gserviceaccount\.com"
_NAME = "[^/\\s]+"


class _Form(NamedTuple):
    """The form of an option's value.

    Attributes:
        pattern: What it must match.
        expected: The same in words.
    """

    pattern: str
    expected: str


_MACHINE = _Form("[a-z][a-z0-9]*(-[a-z0-9]+)+", "a machine type such as n2-standard-4")
_ZONE = _Form(rf"{REGION.pattern}-[a-z0-9]+", "a zone such as europe-west4-a")

_FORMS = {
    "job_name": _Form(
        "[a-z]([-a-z0-9]*[a-z0-9])?",
        "lower-case letters, digits and hyphens, beginning with a letter and not ending with a "
        "hyphen",
    ),
    "machine_type": _MACHINE,
    "worker_region": _Form(REGION.pattern, "a region such as europe-west4"),
    "worker_zone": _ZONE,
    "zone": _ZONE,
    "service_account_email": _Form(
        _ACCOUNT, "the address of a service account, such as NAME@PROJECT.iam.gserviceaccount.com"
    ),
    "impersonate_service_account": _Form(
        f"{_ACCOUNT}(,{_ACCOUNT})*",
        "addresses of service accounts, such as NAME@PROJECT.iam.gserviceaccount.com",
    ),
    "subnetwork": _Form(
        f"(.*/)?regions/{_NAME}/subnetworks/{_NAME}",
        "regions/REGION/subnetworks/NAME, or the subnetwork's address",
    ),
    "dataflow_kms_key": _Form(
        f"projects/{_NAME}/locations/{_NAME}/keyRings/{_NAME}/cryptoKeys/{_NAME}",
        "projects/PROJECT/locations/REGION/keyRings/RING/cryptoKeys/KEY",
    ),
}

_LABEL_KEY = re.compile(r"[^\W\d_][\w-]{0,62}")
_LABEL_VALUE = re.compile(r"[\w-]{0,63}")
_MOST_LABELS = 64


def check(extra: Sequence[str]) -> None:
    """Check the forms of options that Beam passes to the service.

    Args:
        extra: Beam options as the user gave them.

    Raises:
        ConfigError: One has another form; names it.
    """
    from apache_beam.options.pipeline_options import PipelineOptions

    values: dict[str, Any] = PipelineOptions(list(extra)).get_all_options()
    for name, form in _FORMS.items():
        value = values[name]
        if value is not None and not re.fullmatch(form.pattern, value):
            raise ConfigError(f"--{name} {value}: expected {form.expected}")
    size = values["disk_size_gb"]
    if size and size < LEAST_DISK_GB:  # to Beam, 0 is the service's default
        raise ConfigError(
            f"--disk_size_gb {size}: expected {LEAST_DISK_GB} or more, for the workers' image and "
            "logs; leave it out for the service's default"
        )
    _check_labels(values["labels"] or ())


def _check_labels(given: Sequence[str]) -> None:
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
    if count > _MOST_LABELS:
        raise ConfigError(f"--labels: a job has at most {_MOST_LABELS} labels, got {count}")


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
            f"--labels {text}: is not a map such as {{'KEY': 'VALUE'}}; give KEY=VALUE"
        ) from error
