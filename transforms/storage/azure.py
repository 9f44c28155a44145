"""Azure Blob Storage, with Microsoft's client: ``az://container/name``, in one storage account.

The account and its credentials are those of a connection string (Beam's
``--azure_connection_string``, ``AZURE_STORAGE_CONNECTION_STRING``), or those of the environment as
Azure's command line reads them (``AZURE_STORAGE_ACCOUNT``, ``AZURE_STORAGE_KEY``,
``AZURE_STORAGE_SAS_TOKEN``). Without a key or a signature, they are those of an identity: a service
principal, a workload's or the machine's identity, or that of ``az login``.
"""

import errno
import io
import itertools
import os
import time
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple, TypeVar

from apache_beam.options.pipeline_options import AzureOptions, PipelineOptions
from azure.core import MatchConditions, exceptions
from azure.core.credentials import AzureNamedKeyCredential, AzureSasCredential
from azure.identity import DefaultAzureCredential
from azure.storage.blob import BlobPrefix, BlobServiceClient

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import object_stores, reachable
from pairweave.transforms.storage.object_stores import Version, object_parts, parts

T = TypeVar("T")

FIRST_WAIT_SECONDS = 0.2
LONGEST_WAIT_SECONDS = 20.0
"""The waits between the attempts of a request; each is twice as long as the one before."""

PART_BYTES = 8 << 20
"""Size of the blocks in which a large object is sent; they appear together."""

_PART_ATTEMPTS = 5

_STORE = "Azure Blob Storage"
_SCOPE = "https://storage.azure.com/.default"
_BUSY = (408, 429)
"""Answers below 500 after which a request is repeated."""

_DOTS = frozenset({".", ".."})

_EXISTS = frozenset({"BlobAlreadyExists", "UnauthorizedBlobOverwrite"})

_NO_ACCOUNT = (
    "no storage account is known: set AZURE_STORAGE_ACCOUNT or AZURE_STORAGE_CONNECTION_STRING, or "
    "give Beam's --azure_connection_string"
)
_NO_CREDENTIALS = (
    "no Azure credentials were found: set AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or "
    "AZURE_STORAGE_CONNECTION_STRING, or run az login"
)


class Account(NamedTuple):
    """A storage account and its credentials.

    Attributes:
        name: Its name.
        endpoint: The address of its blobs.
        key: One of its two keys.
        signature: A shared access signature.
        identity: Gives tokens, if there is neither key nor signature.
    """

    name: str
    endpoint: str
    key: str | None = None
    signature: str | None = None
    identity: Any = None


def connect(options: PipelineOptions, _scheme: str) -> "AzureStore":
    """Return the store, for the options and the environment of this process.

    Raises:
        ConfigError: The store cannot be used with these; says why.
        OSError: The account cannot be reached.
    """
    account = _account(options.view_as(AzureOptions))
    reachable.require(_STORE, account.endpoint)
    credential: Any = account.identity
    if account.key:
        credential = AzureNamedKeyCredential(account.name, account.key)
    elif account.signature:
        credential = AzureSasCredential(account.signature)
    client = BlobServiceClient(
        account.endpoint,
        credential=credential,
        retry_total=0,  # `_repeated` repeats requests, and `put` blocks of large objects
        initial_backoff=1,
        increment_base=2,
        random_jitter_range=1,
        connection_timeout=10,
        read_timeout=60,
        max_single_put_size=PART_BYTES,
        max_block_size=PART_BYTES,
    )
    return AzureStore(client, account)


def _account(options: AzureOptions) -> Account:
    text = options.azure_connection_string or os.environ.get("AZURE_STORAGE_CONNECTION_STRING")
    if text:
        fields = _fields(text)
    else:
        fields = {
            "AccountName": _variable("AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_ACCOUNT_NAME"),
            "AccountKey": _variable("AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY"),
            "SharedAccessSignature": _variable("AZURE_STORAGE_SAS_TOKEN"),
            "BlobEndpoint": _variable("AZURE_STORAGE_ENDPOINT"),
        }
    endpoint = options.blob_service_endpoint or fields.get("BlobEndpoint") or ""
    _, host, _ = reachable.split(_STORE, endpoint)
    name = fields.get("AccountName") or host.partition(".")[0]
    if not name:
        raise ConfigError(_NO_ACCOUNT)
    if not endpoint:
        protocol = fields.get("DefaultEndpointsProtocol") or "https"
        suffix = fields.get("EndpointSuffix") or "core.windows.net"
        endpoint = f"{protocol}://{name}.blob.{suffix}"
    key, signature = fields.get("AccountKey"), fields.get("SharedAccessSignature")
    if key:
        return Account(name, endpoint.rstrip("/"), key=key)
    if signature:
        return Account(name, endpoint.rstrip("/"), signature=signature.lstrip("?"))
    machine = options.azure_managed_identity_client_id
    chosen = {"managed_identity_client_id": machine} if machine else {}
    return Account(name, endpoint.rstrip("/"), identity=DefaultAzureCredential(**chosen))


def _fields(connection: str) -> dict[str, str]:
    """Return the fields of a connection string.

    >>> _fields("AccountName=a;AccountKey=b==;")
    {'AccountName': 'a', 'AccountKey': 'b=='}
    """
    pairs = (field.partition("=") for field in connection.split(";") if field.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _variable(*names: str) -> str:
    return next((value for name in names if (value := os.environ.get(name))), "")


class AzureStore:
    """Objects of Azure Blob Storage; see `object_stores.Store`."""

    def __init__(self, client: BlobServiceClient, account: Account) -> None:
        """Take a client that repeats nothing, and the account that it uses."""
        self._client = client
        self._account = account
        self._has_answered = False

    def list(self, prefix: str, most: int | None = None, *, nested: bool = True) -> Iterator[str]:
        """Yield the URIs of the objects that begin with a prefix, at most ``most`` of them."""
        container, name = parts(prefix)
        scheme = prefix.partition("://")[0]  # spelt as by the caller
        client = self._client.get_container_client(container)
        ask = client.list_blobs if nested else client.walk_blobs

        def names() -> list[str]:
            entries = ask(name_starts_with=name, include=["metadata"], results_per_page=most)
            objects = (entry.name for entry in entries if _is_object(entry))
            return list(itertools.islice(objects, most))

        for object_name in self._repeated(prefix, names):
            yield f"{scheme}://{container}/{object_name}"

    def version(self, path: str) -> Version:
        """Return the current version of an object."""
        blob = self._blob(path)
        properties = self._repeated(path, blob.get_blob_properties)
        if not _is_object(properties):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return Version(int(properties.size), properties.etag, properties.last_modified.timestamp())

    def read(self, path: str, version: Version, start: int, stop: int) -> bytes:
        """Return a range of one version of an object."""
        blob = self._blob(path)

        def download() -> bytes:
            stream = blob.download_blob(
                offset=start,
                length=stop - start,
                etag=version.tag,
                match_condition=MatchConditions.IfNotModified,
                decompress=False,
            )
            return bytes(stream.readall())

        return self._repeated(path, download)

    def put(self, path: str, data: BinaryIO) -> None:
        """Write an object in one go; a large one in blocks that appear together."""
        size = data.seek(0, io.SEEK_END)
        blob = self._blob(path)

        def upload() -> None:
            data.seek(0)
            # A failed block is sent again by itself; only if that does not help are all blocks sent
            # again.
            attempts = _PART_ATTEMPTS if size > PART_BYTES else 0
            blob.upload_blob(
                data, length=size, overwrite=True, max_concurrency=4, retry_total=attempts
            )

        self._repeated(path, upload)

    def put_absent(self, path: str, data: bytes) -> bool:
        """Write an object only if there is none; tell whether it was written."""
        blob = self._blob(path)
        try:
            self._repeated(path, lambda: blob.upload_blob(data, overwrite=False))
        except FileExistsError:
            return False
        return True

    def delete(self, path: str) -> None:
        """Delete an object."""
        self._repeated(path, self._blob(path).delete_blob)

    def rust_options(self) -> dict[str, str]:
        """Return options for the library of deltalake; see `object_stores.Store`.

        By default it creates an object only if there is none. An identity's token is given as it is
        now; Azure's last for about an hour.

        Raises:
            ConfigError: The identity gives no token.
        """
        account = self._account
        options = {
            "azure_storage_account_name": account.name,
            "azure_storage_endpoint": account.endpoint,
            "allow_http": str(account.endpoint.startswith("http://")).lower(),
        }
        if account.key:
            return {**options, "azure_storage_account_key": account.key}
        if account.signature:
            return {**options, "azure_storage_sas_key": account.signature}
        try:
            token = account.identity.get_token(_SCOPE).token
        except exceptions.AzureError as error:
            raise ConfigError(f"{_NO_CREDENTIALS} ({_reason(error)})") from error
        return {**options, "azure_storage_token": token}

    def _blob(self, path: str) -> Any:  # noqa: ANN401 - typed only where the extra is installed
        container, name = object_parts(path)
        if not _DOTS.isdisjoint(path.partition("://")[2].split("/")):
            # The client would send the request for the name that is left without them.
            raise ConfigError(f"{path}: has . or .. between its slashes; give the name without")
        return self._client.get_blob_client(container, name)

    def _repeated(self, path: str, request: Callable[[], T]) -> T:
        """Return the answer to a request, repeated while the store is busy or cannot be reached.

        Raises:
            OSError: As `object_stores.Store` says.
        """
        # Its limits are read at each request, so that tests can set them.
        known = self._has_answered
        limit = object_stores.RETRY_SECONDS if known else object_stores.PROBE_SECONDS
        end, wait = time.monotonic() + limit, FIRST_WAIT_SECONDS
        while True:
            try:
                answer = request()
            except exceptions.AzureError as error:
                status = getattr(error, "status_code", None)
                self._has_answered |= status is not None and status < 500 and status not in _BUSY
                if not _may_pass(error, status) or time.monotonic() + wait > end:
                    raise _store_error(error, status, path) from error
            else:
                self._has_answered = True
                return answer
            time.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT_SECONDS)


def _is_object(entry: Any) -> bool:  # noqa: ANN401 - typed only where the extra is installed
    """Tell an object from a directory, which accounts with a hierarchical namespace list too."""
    if isinstance(entry, BlobPrefix):
        return False
    return (entry.metadata or {}).get("hdi_isfolder") != "true"


def _may_pass(error: exceptions.AzureError, status: int | None) -> bool:
    """Tell whether the same request may succeed later."""
    if status is None:  # there was no answer, or the answer broke off
        return not isinstance(error, exceptions.ClientAuthenticationError)
    return status in _BUSY or (status >= 500 and status not in (501, 505))


def _store_error(error: exceptions.AzureError, status: int | None, path: str) -> OSError:
    """Turn an error of the client into one of those of `object_stores.Store`."""
    code = str(getattr(error, "error_code", None) or "")
    if status == 404:
        absent = code == "ContainerNotFound"
        reason = "no such container" if absent else os.strerror(errno.ENOENT)
        return FileNotFoundError(errno.ENOENT, reason, path)
    if status == 412 or code in _EXISTS:
        return FileExistsError(errno.EEXIST, "changed while it was used, or exists already", path)
    if status in (401, 403):
        return PermissionError(errno.EACCES, f"Azure refuses: {_reason(error)}", path)
    if isinstance(error, exceptions.ClientAuthenticationError):
        return PermissionError(errno.EACCES, f"{_NO_CREDENTIALS} ({_reason(error)})", path)
    return OSError(errno.EIO, f"{_STORE}: {_reason(error)}", path)


def _reason(error: exceptions.AzureError) -> str:
    """Return the first line of an error, without the numbers of its request."""
    lines = str(error.message).strip().splitlines()
    return lines[0] if lines else type(error).__name__
