"""Cloud Storage, with Google's client.

The credentials are those of the environment (``GOOGLE_APPLICATION_CREDENTIALS``, ``gcloud auth
application-default login``, the machine's service account); requests are anonymous if there are
none, if Beam's ``--no_auth`` says so, or at an emulator (``STORAGE_EMULATOR_HOST``).
"""

import contextlib
import errno
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import google.auth
import requests
from apache_beam.options.pipeline_options import GoogleCloudOptions, PipelineOptions
from google.api_core import exceptions
from google.auth import exceptions as auth_exceptions
from google.auth import impersonated_credentials
from google.cloud import storage
from google.cloud.storage.retry import DEFAULT_RETRY

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import reachable
from pairweave.transforms.storage.object_stores import (
    PROBE_SECONDS,
    RETRY_SECONDS,
    Version,
    object_parts,
    parts,
)

_EMULATOR = "STORAGE_EMULATOR_HOST"
_ADDRESS = "https://storage.googleapis.com"
_KEY_FILE = "GOOGLE_APPLICATION_CREDENTIALS"
_KINDS_OF_KEY = (None, "service_account", "authorized_user")
"""Types of credentials that the library of deltalake knows; None for those of the machine."""

_NO_CREDENTIALS = (
    "the request was anonymous, because no Google credentials were found: set "
    f"{_KEY_FILE} or run gcloud auth application-default login"
)
_NO_BUCKET = "no such bucket"


def connect(options: PipelineOptions, _scheme: str) -> "GcsStore":
    """Return the store, for the options and the environment of this process.

    Raises:
        ConfigError: The file of credentials that the environment names cannot be used; says why.
    """
    reachable.require("Cloud Storage", os.environ.get(_EMULATOR) or _ADDRESS)
    of_google = options.view_as(GoogleCloudOptions)
    impersonated = of_google.impersonate_service_account
    credentials = None if _is_anonymous(of_google) else _credentials(of_google)
    if credentials is None:
        return GcsStore(storage.Client.create_anonymous_client(), anonymous=True)
    project = of_google.project or os.environ.get("GOOGLE_CLOUD_PROJECT") or "unused"
    client = storage.Client(project=project, credentials=credentials)
    return GcsStore(client, anonymous=False, impersonated=impersonated)


def _is_anonymous(options: GoogleCloudOptions) -> bool:
    return bool(options.no_auth) or (_EMULATOR in os.environ and _KEY_FILE not in os.environ)


def _credentials(options: GoogleCloudOptions) -> Any:  # noqa: ANN401 - google-auth is not typed
    try:
        credentials, _ = google.auth.default(scopes=options.gcp_oauth_scopes)
    except (auth_exceptions.DefaultCredentialsError, AttributeError, OSError) as error:
        path = os.environ.get(_KEY_FILE)
        if path:  # an anonymous request instead would fail without naming the file
            reason = error.strerror if isinstance(error, OSError) else error.args[0]
            raise ConfigError(
                f"{_KEY_FILE}: {path}: is no file of Google credentials ({reason}); name another, "
                "or unset the variable"
            ) from error
        if not isinstance(error, auth_exceptions.DefaultCredentialsError):
            raise
        return None
    if not options.impersonate_service_account:
        return credentials
    *through, target = options.impersonate_service_account.split(",")
    return impersonated_credentials.Credentials(
        source_credentials=credentials,
        target_principal=target,
        delegates=through,
        target_scopes=options.gcp_oauth_scopes,
    )


class GcsStore:
    """Objects of Cloud Storage; see `object_stores.Store`."""

    def __init__(
        self, client: storage.Client, *, anonymous: bool, impersonated: str | None = None
    ) -> None:
        """Take a client, whether it has no credentials, and the account that it acts for."""
        self._client = client
        self._anonymous = anonymous
        self._impersonated = impersonated
        self._answered = False

    def list(self, prefix: str, most: int | None = None, *, nested: bool = True) -> Iterator[str]:
        """Yield the URIs of the objects that begin with a prefix, at most ``most`` of them."""
        bucket, name = parts(prefix)
        scheme = prefix.partition("://")[0]  # spelt as by the caller
        with self._mapped(prefix, absent=_NO_BUCKET):
            blobs = self._client.list_blobs(
                bucket,
                prefix=name,
                delimiter=None if nested else "/",
                max_results=most,
                retry=self._retry(),
            )
            for blob in blobs:
                yield f"{scheme}://{bucket}/{blob.name}"

    def version(self, path: str) -> Version:
        """Return the current version of an object."""
        bucket, name = object_parts(path)
        with self._mapped(path):
            blob = self._client.bucket(bucket).get_blob(name, retry=self._retry())
        if blob is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        generation = int(blob.generation) if blob.generation else None
        return Version(int(blob.size), generation, blob.updated.timestamp())

    def read(self, path: str, version: Version, start: int, stop: int) -> bytes:
        """Return a range of one version of an object."""
        with self._mapped(path):
            data = self._blob(path).download_as_bytes(
                start=start,
                end=stop - 1,
                raw_download=True,
                if_generation_match=version.tag,
                retry=self._retry(),
            )
        return bytes(data)

    def put(self, path: str, data: BinaryIO) -> None:
        """Write an object in one go."""
        size = data.seek(0, io.SEEK_END)  # small objects are sent in one request
        data.seek(0)
        with self._mapped(path, absent=_NO_BUCKET):
            self._blob(path).upload_from_file(data, size=size, retry=self._retry())

    def put_absent(self, path: str, data: bytes) -> bool:
        """Write an object only if there is none; tell whether it was written."""
        try:
            with self._mapped(path, absent=_NO_BUCKET):
                self._blob(path).upload_from_string(
                    data, if_generation_match=0, retry=self._retry()
                )
        except FileExistsError:
            return False
        return True

    def delete(self, path: str) -> None:
        """Delete an object."""
        with self._mapped(path):
            self._blob(path).delete(retry=self._retry())

    def rust_options(self) -> dict[str, str]:
        """Return options for the library of deltalake; see `object_stores.Store`.

        By default it creates an object only if there is none. It knows a key of a service account,
        those of a user, and those of the machine, which it finds by itself.
        """
        emulator = os.environ.get(_EMULATOR)
        if emulator is not None:
            # The library takes another address only from a key; no request is signed.
            address = emulator if "://" in emulator else f"http://{emulator}"
            nobody = {"client_email": "", "private_key": "", "private_key_id": ""}
            key = {**nobody, "gcs_base_url": address.rstrip("/"), "disable_oauth": True}
            return {"google_service_account_key": json.dumps(key), "allow_http": "true"}
        if self._anonymous:
            return {"google_skip_signature": "true"}
        path = _file_of_credentials()
        kind = _kind_of_key(path) if path else None
        if self._impersonated or kind not in _KINDS_OF_KEY:
            what = "impersonated accounts" if self._impersonated else f"credentials of type {kind}"
            raise ConfigError(
                f"Delta tables at gs:// cannot be used with {what}; give the key of a service "
                f"account in {_KEY_FILE}, or run on a machine with one"
            )
        return {"google_application_credentials": path} if path else {}

    def _blob(self, path: str) -> Any:  # noqa: ANN401 - the client is not typed
        bucket, name = object_parts(path)
        return self._client.bucket(bucket).blob(name)

    def _retry(self) -> Any:  # noqa: ANN401 - the client is not typed
        return DEFAULT_RETRY.with_timeout(RETRY_SECONDS if self._answered else PROBE_SECONDS)

    @contextlib.contextmanager
    def _mapped(self, path: str, *, absent: str | None = None) -> Iterator[None]:
        """Turn errors of the client into those of `object_stores.Store`.

        Args:
            path: The object or the prefix that the request is about.
            absent: What the store means where it says that there is no such thing.
        """
        try:
            yield
        except exceptions.NotFound as error:
            self._answered = True
            reason = absent or _reason(error, "no such object")
            raise FileNotFoundError(errno.ENOENT, reason, path) from error
        except exceptions.PreconditionFailed as error:
            reason = "changed while it was used, or exists already"
            raise FileExistsError(errno.EEXIST, reason, path) from error
        except (
            exceptions.Unauthorized,
            exceptions.Forbidden,
            auth_exceptions.InvalidOperation,  # an anonymous request would need credentials
        ) as error:
            reason = _NO_CREDENTIALS if self._anonymous else _reason(error, "not permitted")
            raise PermissionError(errno.EACCES, reason, path) from error
        except (
            exceptions.GoogleAPIError,
            auth_exceptions.GoogleAuthError,
            requests.RequestException,
        ) as error:
            hint = f" ({_NO_CREDENTIALS})" if self._anonymous and not self._answered else ""
            raise OSError(errno.EIO, f"Cloud Storage: {_reason(error)}{hint}", path) from error
        else:
            self._answered = True


def _file_of_credentials() -> str | None:
    """Return the file that Google's client takes credentials from; None for those of the machine.

    That is the file of the environment, or else the one that gcloud has written, whose directory
    ``CLOUDSDK_CONFIG`` may name, unlike in the library of deltalake.
    """
    key_file = os.environ.get(_KEY_FILE)
    if key_file:
        return key_file
    folder = os.environ.get("CLOUDSDK_CONFIG") or Path("~/.config/gcloud").expanduser()
    path = Path(folder, "application_default_credentials.json")
    return str(path) if path.is_file() else None


def _kind_of_key(path: str) -> str:
    """Return the type of the credentials in a file."""
    with Path(path).open("rb") as file:
        return str(json.load(file).get("type"))


def _reason(error: Exception, default: str = "") -> str:
    """Return the last cause of an error in one line."""
    cause = getattr(error, "cause", None) or error
    said = _message_of(getattr(cause, "response", None))
    text = " ".join((said or getattr(cause, "message", "") or str(cause)).split())
    return text or default or type(error).__name__


def _message_of(answer: Any) -> str:  # noqa: ANN401 - the client is not typed
    """Return the message in the body of an answer; "" if there is none."""
    try:
        return str(answer.json()["error"]["message"])
    except (AttributeError, ValueError, LookupError, TypeError):
        return ""
