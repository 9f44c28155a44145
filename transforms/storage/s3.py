"""S3 and stores that speak its protocol, with boto3.

Credentials, region and endpoint are those of the environment (``AWS_ACCESS_KEY_ID``,
``AWS_ENDPOINT_URL`` and others, ``~/.aws``, the machine's role) or of Beam's options
(``--s3_access_key_id``, ``--s3_endpoint_url`` and others).
"""

import contextlib
import errno
import os
import time
from collections.abc import Iterator
from typing import Any, BinaryIO

import boto3
from apache_beam.options.pipeline_options import PipelineOptions, S3Options
from botocore import exceptions
from botocore.config import Config

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import reachable
from pairweave.transforms.storage.object_stores import Version, object_parts, parts

ATTEMPTS = 8
"""Number of attempts for a request; the waits between them double from 1 s to 20 s."""

_ABSENT = frozenset({"404", "NoSuchKey", "NoSuchBucket", "NotFound"})
_REFUSED = frozenset(
    {"403", "401", "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken"}
)
_MET_NOT = frozenset({"412", "PreconditionFailed", "ConditionalRequestConflict"})

_GLOBAL = "https://s3.amazonaws.com"
"""The endpoint of boto3 for some regions of Amazon; requests to others are redirected from it."""

_NO_LONGER_SIGNED_IN = (
    exceptions.CredentialRetrievalError,
    exceptions.SSOError,
    exceptions.TokenRetrievalError,
)

_BROKEN_OFF = (
    exceptions.IncompleteReadError,
    exceptions.ReadTimeoutError,
    exceptions.ResponseStreamingError,
)


def connect(options: PipelineOptions, _scheme: str) -> "S3Store":
    """Return the store, for the options and the environment of this process.

    Raises:
        ConfigError: The store cannot be used with these; says why.
    """
    s3_options = options.view_as(S3Options)
    with _set_up():
        session = boto3.session.Session(
            s3_options.s3_access_key_id,
            s3_options.s3_secret_access_key,
            s3_options.s3_session_token,
        )
        client = session.client(
            service_name="s3",
            region_name=s3_options.s3_region_name,
            api_version=s3_options.s3_api_version,
            use_ssl=not s3_options.s3_disable_ssl,
            verify=s3_options.s3_verify,
            endpoint_url=s3_options.s3_endpoint_url,
            config=Config(
                retries={"mode": "standard", "max_attempts": ATTEMPTS},
                connect_timeout=10,
                read_timeout=60,
            ),
        )
    reachable.require("S3", client.meta.endpoint_url)
    return S3Store(client, session)


class S3Store:
    """Objects of S3; see `object_stores.Store`."""

    def __init__(self, client: Any, session: boto3.session.Session) -> None:  # noqa: ANN401 - boto3 makes its classes at run time
        """Take a client of boto3, and its session."""
        self._client = client
        self._session = session

    def list(self, prefix: str, most: int | None = None, *, nested: bool = True) -> Iterator[str]:
        """Yield the URIs of the objects that begin with a prefix, at most ``most`` of them."""
        bucket, name = parts(prefix)
        scheme = prefix.partition("://")[0]  # spelt as by the caller
        ends = {} if nested else {"Delimiter": "/"}
        with _mapped(prefix):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=bucket, Prefix=name, **ends, PaginationConfig={"MaxItems": most}
            )
            for page in pages:
                for entry in page.get("Contents", ()):
                    yield f"{scheme}://{bucket}/{entry['Key']}"

    def version(self, path: str) -> Version:
        """Return the current version of an object."""
        with _mapped(path):
            head = self._client.head_object(**_place(path))
        written = head["LastModified"].timestamp()
        return Version(int(head["ContentLength"]), head.get("ETag"), written)

    def read(self, path: str, version: Version, start: int, stop: int) -> bytes:
        """Return a range of one version of an object."""
        same = {} if version.tag is None else {"IfMatch": version.tag}
        wanted = {**_place(path), "Range": f"bytes={start}-{stop - 1}", **same}
        with _mapped(path):
            # boto3 repeats a request, but not an answer that breaks off.
            for attempt in range(1, ATTEMPTS):
                try:
                    return bytes(self._client.get_object(**wanted)["Body"].read())
                except _BROKEN_OFF:
                    time.sleep(min(2**attempt // 4, 20))
            return bytes(self._client.get_object(**wanted)["Body"].read())

    def put(self, path: str, data: BinaryIO) -> None:
        """Write an object in one go; a large one in parts that appear together."""
        bucket, name = object_parts(path)
        with _mapped(path):
            self._client.upload_fileobj(data, bucket, name)  # this closes the file

    def put_absent(self, path: str, data: bytes) -> bool:
        """Write an object only if there is none; tell whether it was written."""
        try:
            with _mapped(path):
                self._client.put_object(**_place(path), Body=data, IfNoneMatch="*")
        except FileExistsError:
            return False
        return True

    def delete(self, path: str) -> None:
        """Delete an object."""
        with _mapped(path):
            self._client.delete_object(**_place(path))

    def rust_options(self) -> dict[str, str]:
        """Return options for the library of deltalake; see `object_stores.Store`."""
        options = {"aws_conditional_put": "etag"}
        if self._client.meta.region_name:
            options["aws_region"] = self._client.meta.region_name
        endpoint = str(self._client.meta.endpoint_url)
        if endpoint == _GLOBAL and "aws_region" in options:  # the library follows no redirection
            endpoint = f"https://s3.{options['aws_region']}.amazonaws.com"
        # Give the endpoint even if it is Amazon's own: without it, the library of deltalake asks
        # the machine for its region, and warns on every machine outside Amazon.
        options["aws_endpoint"] = endpoint
        options["aws_allow_http"] = str(endpoint.startswith("http://")).lower()
        with _set_up():
            credentials = self._session.get_credentials()
            frozen = None if credentials is None else credentials.get_frozen_credentials()
        if frozen is not None:
            options["aws_access_key_id"] = frozen.access_key
            options["aws_secret_access_key"] = frozen.secret_key
            if frozen.token:
                options["aws_session_token"] = frozen.token
        return options


def _place(path: str) -> dict[str, str]:
    bucket, name = object_parts(path)
    return {"Bucket": bucket, "Key": name}


@contextlib.contextmanager
def _set_up() -> Iterator[None]:
    """Turn errors about profiles, credentials and endpoints into errors that the user can fix.

    Examples are a missing profile, an expired session of single sign-on, and a program for
    credentials that fails.
    """
    try:
        yield
    except (exceptions.BotoCoreError, exceptions.ClientError, ValueError) as error:
        raise ConfigError(
            "S3 cannot be used with the settings of the environment: "
            f"{' '.join(str(error).split())}; see the profile (AWS_PROFILE, ~/.aws), the "
            "credentials and the endpoint, or sign in again"
        ) from error


@contextlib.contextmanager
def _mapped(path: str) -> Iterator[None]:
    """Turn errors of the client into those of `object_stores.Store`."""
    try:
        yield
    except exceptions.ClientError as error:
        described = error.response.get("Error", {})
        code = str(described.get("Code", ""))
        reason = " ".join(str(described.get("Message") or error).split())
        if code in _ABSENT:
            reason = "no such bucket" if code == "NoSuchBucket" else os.strerror(errno.ENOENT)
            raise FileNotFoundError(errno.ENOENT, reason, path) from error
        if code in _MET_NOT:
            reason = "changed while it was used, or exists already"
            raise FileExistsError(errno.EEXIST, reason, path) from error
        if code in _REFUSED:
            raise PermissionError(errno.EACCES, f"S3 refuses: {reason}", path) from error
        raise OSError(errno.EIO, f"S3: {reason} [{code}]", path) from error
    except exceptions.NoCredentialsError as error:
        reason = (
            "no AWS credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
            "AWS_PROFILE, or Beam's --s3_access_key_id and --s3_secret_access_key"
        )
        raise PermissionError(errno.EACCES, reason, path) from error
    except _NO_LONGER_SIGNED_IN as error:
        reason = f"no AWS credentials: {' '.join(str(error).split())}; sign in again"
        raise PermissionError(errno.EACCES, reason, path) from error
    except (exceptions.BotoCoreError, exceptions.HTTPClientError) as error:
        raise OSError(errno.EIO, f"S3: {' '.join(str(error).split())}", path) from error
