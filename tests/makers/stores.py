"""Emulators of Cloud Storage, S3 and Azure on this machine, and faults before them."""

import base64
import contextlib
import datetime as dt
import email.utils
import gc
import html
import http.client
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path

import pytest

from pairweave.transforms.storage import object_stores

BUCKET = "bucket"
AZURITE = Path(__file__).parents[2] / ".tools/azurite/node_modules/.bin/azurite-blob"
AZURITE_FLAGS = (
    *("--blobHost", "127.0.0.1", "--blobPort", "0", "--inMemoryPersistence"),
    *("--silent", "--disableTelemetry", "--skipApiVersionCheck"),
)


class Door(http.server.ThreadingHTTPServer):
    """An address in front of an emulator, where requests can be counted, spoilt and delayed.

    Attributes:
        address: Host and port.
        requests: Method and path of each request that came.
        headers: The headers of each of them.
        spoil: Is asked about each request, by method, path and body: None lets it pass, an integer
            is the status of the answer instead, a float the seconds that it waits first, "drop"
            closes the connection, and "break" does so in the middle of the answer.
    """

    daemon_threads = True

    def __init__(self, behind, passage=None, preconditions=False):
        super().__init__(("localhost", 0), passage or _Passage)
        self.address = f"localhost:{self.server_address[1]}"
        self.behind = behind
        self.preconditions = preconditions
        self.requests = []
        self.headers = []
        self.spoil = lambda *_: None
        self.alone = threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """Say nothing where a client has gone, or the store behind has ended before it."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Passage(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer with a body waits 40 ms after its headers

    def _pass(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = self._chunks()
        door = self.server
        door.requests.append((self.command, self.path))
        door.headers.append(self.headers)
        fault = door.spoil(self.command, self.path, body)
        if fault == "drop":
            self.close_connection = True
            return
        if isinstance(fault, float):
            time.sleep(fault)
        elif fault not in (None, "break"):
            self._answer(fault, {}, b"")
            return
        with door.alone:  # a precondition and what depends on it are one step
            if door.preconditions and self._unmet(body):
                self._answer(412, {"Content-Type": "application/json"}, b"{}")
                return
            status, headers, data = self._answer_of(body)
        if fault == "break":
            self.close_connection = True
            headers["Content-Length"], data = str(len(data)), data[: len(data) // 2]
        self._answer(status, headers, data)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = _pass  # noqa: N815

    def _chunks(self):
        data = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def _answer_of(self, body):
        return self._ask(self.command, self.path, body)

    def _ask(self, method, path, body=None):
        connection = http.client.HTTPConnection(self.server.behind, timeout=60)
        skipped = ("connection", "transfer-encoding", "content-length")
        headers = {key: value for key, value in self.headers.items() if key.lower() not in skipped}
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        data = answer.read()
        kept = {key: value for key, value in answer.getheaders() if key.lower() not in skipped}
        if method == "HEAD" and answer.getheader("Content-Length"):
            kept["Content-Length"] = answer.getheader("Content-Length")
        connection.close()
        return answer.status, kept, data

    def _unmet(self, body):
        """Tell whether the object has another generation than the request asks for."""
        address = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(address.query)
        wanted = query.get("ifGenerationMatch")
        if wanted is None:
            return False
        bucket, name = re.search("/b/([^/]+)/o(?:/(.*))?$", address.path).groups()
        if name is None:  # an upload, with the name in its first part
            named = json.loads(body[body.index(b"{") : body.index(b"}") + 1])["name"]
            name = urllib.parse.quote(named, safe="")
        status, _, data = self._ask("GET", f"/storage/v1/b/{bucket}/o/{name}")
        return (json.loads(data)["generation"] if status == 200 else "0") != wanted[0]

    def _answer(self, status, headers, data):
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            with contextlib.suppress(ConnectionError):  # whoever asked does not read all of it
                self.wfile.write(data)

    def log_message(self, *_):
        """Say nothing."""


class _CloudPassage(_Passage):
    """Adds the XML API of Cloud Storage, which deltalake uses and the emulator lacks.

    As far as that library needs it: objects are listed, read, written and deleted, and written only
    at a generation (``x-goog-if-generation-match``). The answers come from the emulator's JSON API.
    """

    def _answer_of(self, body):
        address = urllib.parse.urlsplit(self.path)
        head = address.path.split("/")[1]
        if head in ("storage", "upload", "download", "batch", "resumable"):
            return super()._answer_of(body)
        bucket, _, name = address.path[1:].partition("/")
        query = dict(urllib.parse.parse_qsl(address.query))
        if not name:
            return self._list(bucket, query)
        return self._object(f"/storage/v1/b/{bucket}/o/{name.replace('/', '%2F')}", name, body)

    def _list(self, bucket, query):
        words = {key: query[key] for key in ("prefix", "delimiter") if key in query}
        words = urllib.parse.urlencode(words)
        status, _, data = self._ask("GET", f"/storage/v1/b/{bucket}/o?{words}")
        listing = json.loads(data)
        after = query.get("start-after", "")
        entries = "".join(
            f"<Contents><Key>{html.escape(one['name'])}</Key><Size>{one['size']}</Size>"
            f"<LastModified>{one['updated']}</LastModified><ETag>{one['etag']}</ETag></Contents>"
            for one in listing.get("items", ())
            if one["name"] > after
        )
        entries += "".join(
            f"<CommonPrefixes><Prefix>{html.escape(each)}</Prefix></CommonPrefixes>"
            for each in listing.get("prefixes", ())
        )
        text = f'<?xml version="1.0"?><ListBucketResult>{entries}</ListBucketResult>'
        return status, {"Content-Type": "application/xml"}, text.encode()

    def _object(self, place, name, body):
        status, _, data = self._ask("GET", place)
        about = json.loads(data) if status == 200 else {"generation": "0"}
        if self.command == "PUT":
            wanted = self.headers.get("x-goog-if-generation-match")
            if wanted not in (None, about["generation"]):
                return 412, {}, b""
            upload = f"/upload{place.rpartition('/')[0]}?uploadType=media&name={name}"
            status, _, data = self._ask("POST", upload, body)
            about = json.loads(data)
        elif status != 200 or self.command == "DELETE":
            return (status, {}, b"") if status != 200 else self._ask("DELETE", place)
        written = dt.datetime.fromisoformat(about["updated"])
        headers = {
            "ETag": f'"{about["etag"]}"',
            "Last-Modified": email.utils.format_datetime(written, usegmt=True),
            "x-goog-generation": about["generation"],
        }
        if self.command == "GET":
            status, answered, data = self._ask("GET", f"/download{place}?alt=media")
            if "Content-Range" in answered:
                headers["Content-Range"] = answered["Content-Range"]
            return status, headers, data
        if self.command == "HEAD":
            return 200, {**headers, "Content-Length": about["size"]}, b""
        return 200, headers, b""


class S3:
    """Moto's server, with one bucket."""

    scheme = "s3"

    def __init__(self):
        server = pytest.importorskip("moto.server")
        self._server = server.ThreadedMotoServer("localhost", 0, verbose=False)
        self._server.start()
        behind = f"localhost:{self._server.get_host_and_port()[1]}"
        self.door = Door(behind)
        import boto3

        self._client = boto3.client(
            "s3",
            endpoint_url=f"http://{behind}",
            aws_access_key_id="key",
            aws_secret_access_key="secret",
            region_name="us-east-1",
        )
        self._client.create_bucket(Bucket=BUCKET)
        self.environment = {
            "AWS_ENDPOINT_URL": f"http://{self.door.address}",
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def put(self, name, data):
        """Write an object, not through the door."""
        self._client.put_object(Bucket=BUCKET, Key=name, Body=data)

    def objects(self, prefix=""):
        """Return the bytes of the objects that begin with a prefix, by name."""
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        names = [entry["Key"] for page in pages for entry in page.get("Contents", ())]
        return {
            name: self._client.get_object(Bucket=BUCKET, Key=name)["Body"].read() for name in names
        }

    def stop(self):
        """End the servers."""
        self.door.shutdown()
        self.door.server_close()
        self._server.stop()


class CloudStorage:
    """An emulator of Cloud Storage, with one bucket; the door adds what it lacks.

    That is preconditions, and the XML API.
    """

    scheme = "gs"

    def __init__(self):
        server = pytest.importorskip("gcp_storage_emulator.server")
        self._server = server.create_server("localhost", 0, in_memory=True, default_bucket=BUCKET)
        self._server.start()
        while self._server._api._httpd is None:
            time.sleep(0.01)
        behind = f"localhost:{self._server._api._httpd.server_address[1]}"
        self.door = Door(behind, _CloudPassage, preconditions=True)
        self.environment = {"STORAGE_EMULATOR_HOST": f"http://{self.door.address}"}
        from google.cloud import storage

        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("STORAGE_EMULATOR_HOST", f"http://{behind}")
            self._bucket = storage.Client.create_anonymous_client().bucket(BUCKET)

    def put(self, name, data):
        """Write an object, not through the door."""
        self._bucket.blob(name).upload_from_string(data)

    def objects(self, prefix=""):
        """Return the bytes of the objects that begin with a prefix, by name."""
        return {
            blob.name: blob.download_as_bytes() for blob in self._bucket.list_blobs(prefix=prefix)
        }

    def stop(self):
        """End the servers."""
        self.door.shutdown()
        self.door.server_close()
        self._server.stop()


class Azure:
    """Azurite, with one container."""

    scheme = "az"
    account = "devstoreaccount1"
    key = base64.b64encode(b"a key that this emulator alone knows").decode()

    def __init__(self):
        pytest.importorskip("azure.storage.blob")
        program = AZURITE if AZURITE.exists() else shutil.which("azurite-blob")
        if program is None or shutil.which("node") is None:
            pytest.skip("Azurite is not there: make azurite, with node and npm")
        self._process = subprocess.Popen(
            [program, *AZURITE_FLAGS],
            env={**os.environ, "AZURITE_ACCOUNTS": f"{self.account}:{self.key}"},
            stdout=subprocess.PIPE,
            text=True,
        )
        said = next((line for line in self._process.stdout if "listens on" in line), "")
        behind = re.search(r"127\.0\.0\.1:\d+", said).group()
        self.door = Door(behind)
        self.environment = {"AZURE_STORAGE_CONNECTION_STRING": self._connection(self.door.address)}
        from azure.storage.blob import ContainerClient

        self._client = ContainerClient.from_connection_string(self._connection(behind), BUCKET)
        self._client.create_container()

    def _connection(self, address):
        return (
            f"AccountName={self.account};AccountKey={self.key};"
            f"BlobEndpoint=http://{address}/{self.account}"
        )

    def put(self, name, data):
        """Write an object, not through the door."""
        self._client.upload_blob(name, data, overwrite=True)

    def objects(self, prefix=""):
        """Return the bytes of the objects that begin with a prefix, by name."""
        names = list(self._client.list_blob_names(name_starts_with=prefix))
        return {name: self._client.download_blob(name).readall() for name in names}

    def stop(self):
        """End the servers."""
        self.door.shutdown()
        self.door.server_close()
        self._process.terminate()
        self._process.wait()
        self._process.stdout.close()


OPEN_AT_THE_END = "ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning"
"""What a client of a store warns of that a run in this process made; a command's process ends."""


def let_go():
    """Let this process's clients of stores go, so that no later test hears of their connections."""
    object_stores.use_beam_flags([])
    gc.collect()


KINDS = {"az": Azure, "gs": CloudStorage, "s3": S3}


@contextlib.contextmanager
def running(scheme):
    """Yield an emulator that programs started meanwhile use by their environment."""
    store = KINDS[scheme]()
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if re.match("AWS_|AZURE_|GOOGLE_|STORAGE_", name)]:
            patch.delenv(name)
        for name, value in store.environment.items():
            patch.setenv(name, value)
        try:
            yield store
        finally:
            store.stop()
