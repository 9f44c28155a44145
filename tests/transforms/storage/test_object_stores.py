"""What stores promise, on emulators of Cloud Storage, S3 and Azure."""

import io
import json
import os
import re
import subprocess
import sys
import threading

import boto3
import pytest
import requests
from google.api_core import exceptions as google_exceptions
from google.auth.credentials import AnonymousCredentials

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import files, gcs, object_stores, reachable, s3
from tests.makers import stores

FORKS = """
import os, signal, sys
from pairweave.transforms.storage import files
data = files.read_bytes(sys.argv[1])
fork = os.fork()
if not fork:
    signal.alarm(30)
    print(data, files.read_bytes(sys.argv[1]), flush=True)
    os._exit(0)
sys.exit(os.waitpid(fork, 0)[1])
"""


@pytest.fixture(scope="module", params=sorted(stores.KINDS))
def emulator(request):
    with stores.running(request.param) as store:
        yield store


@pytest.fixture
def store(emulator, monkeypatch):
    object_stores.use_beam_flags([])
    monkeypatch.setattr(emulator.door, "spoil", lambda *_: None)
    emulator.door.requests.clear()
    yield emulator
    object_stores.use_beam_flags([])


def uri(store, name):
    return f"{store.scheme}://{stores.BUCKET}/{name}"


def test_a_bucket_that_is_not_there_is_said_to_be_missing(store):
    with pytest.raises(ConfigError, match=r"x: no such (bucket|container)$"):
        object_stores.check(f"{store.scheme}://no-such-bucket/x")


def test_a_write_into_a_bucket_that_is_not_there_says_so(store):
    path = f"{store.scheme}://no-such-bucket/x"
    for write in (files.write_bytes, files.create):
        with pytest.raises(FileNotFoundError) as refused:
            write(path, b"x")
        assert refused.value.strerror in ("no such bucket", "no such container")


def test_a_folder_that_a_console_marks_is_no_object(store):
    store.put("marked/", b"")
    store.put("marked/a.tsv", b"x")
    assert files.match(uri(store, "marked/*")) == [uri(store, "marked/a.tsv")]
    assert files.match(uri(store, "marked/**")) == [uri(store, "marked/a.tsv")]
    assert files.match(uri(store, "marked/")) == []
    assert not files.exists(uri(store, "marked/"))
    for use in (files.read_bytes, lambda path: files.write_bytes(path, b"x")):
        with pytest.raises(FileNotFoundError, match="names a folder and no object in it"):
            use(uri(store, "marked/"))


@pytest.mark.parametrize("emulator", ["gs"], indirect=True)
def test_an_anonymous_request_that_needs_credentials_says_which(store, monkeypatch):
    files.list_names(uri(store, "a"))  # the store has answered before
    monkeypatch.setattr(store.door, "spoil", lambda *_: 401)
    for use in (files.read_bytes, lambda path: files.write_bytes(path, b"x")):
        with pytest.raises(PermissionError, match="set GOOGLE_APPLICATION_CREDENTIALS or run"):
            use(uri(store, "a/x"))


def test_the_message_in_an_answer_of_cloud_storage_is_shown_alone():
    answer = requests.Response()
    answer.status_code, answer._content = 403, b'{"error": {"message": "me@p has no\\n access"}}'
    error = google_exceptions.from_http_status(403, "POST http://host/: {body}", response=answer)
    store = gcs.GcsStore(None, anonymous=False)
    with pytest.raises(PermissionError) as refused, store._mapped("gs://b/x"):
        raise error
    assert refused.value.strerror == "me@p has no access"
    answer._content = b"<html>"
    with pytest.raises(PermissionError) as refused, store._mapped("gs://b/x"):
        raise google_exceptions.from_http_status(403, "POST http://host/: no", response=answer)
    assert refused.value.strerror == "POST http://host/: no"


def test_what_is_written_is_read_listed_and_deleted(store):
    path = uri(store, "a/part-0")
    files.write_bytes(path, b"one")
    files.write_bytes(path, b"data of a shard")
    assert store.objects("a/") == {"a/part-0": b"data of a shard"}
    assert files.exists(path)
    assert files.size(path) == 15
    assert files.read_bytes(path) == b"data of a shard"
    files.write_bytes(uri(store, "a/empty"), b"")
    files.write_bytes(uri(store, "a/below/part-1"), b"x")
    assert files.read_bytes(uri(store, "a/empty")) == b""
    assert files.list_names(uri(store, "a")) == ["empty", "part-0"]
    assert files.list_below(uri(store, "a")) == ["below/part-1", "empty", "part-0"]
    files.delete(path)
    files.delete(path)
    assert not files.exists(path)
    assert files.list_names(uri(store, "nothing")) == []


def test_names_are_those_of_a_directory_and_what_is_below_is_not_listed(store):
    for name in ("d/a", "d/b", "d/below/c", "d/below/deeper/e", "da/f"):
        store.put(name, b"x")
    store.door.requests.clear()
    assert files.list_names(f"{store.scheme}://{stores.BUCKET}/d/") == ["a", "b"]
    asked = [path for _, path in store.door.requests if "prefix=" in path]
    assert asked
    assert all("delimiter=" in path for path in asked)
    actual = object_stores.store_of(f"{store.scheme}://b").list(f"{store.scheme}://bucket/d/")
    assert len(list(actual)) == 4


def test_an_object_is_read_from_any_place(store, monkeypatch):
    monkeypatch.setattr(object_stores, "READ_BYTES", 1000)
    data = bytes(range(256)) * 50
    store.put("ranges", data)
    with files.open_read(uri(store, "ranges")) as file:
        assert file.read(3) == data[:3]
        assert file.seek(-5, io.SEEK_END) == len(data) - 5
        assert file.read() == data[-5:]
        assert file.seek(100) == 100
        assert file.read(10) == data[100:110]
        assert file.seek(2, io.SEEK_CUR) == 112
        assert file.tell() == 112
        assert file.read() == data[112:]
        assert file.read() == b""
        assert file.seek(0) == 0
        assert file.read(3) == data[:3]


def test_patterns_match_between_slashes_and_names_match_themselves(store):
    for name in ("p/a.en", "p/b.en", "p/q/c.en", "p/a.de", "p/[x].en"):
        store.put(name, b"text")
    actual = files.match(uri(store, "p/*.en"))
    assert actual == [uri(store, f"p/{name}.en") for name in ("[x]", "a", "b")]
    assert files.match(uri(store, "p/**.en")) == sorted([*actual, uri(store, "p/q/c.en")])
    assert files.match(uri(store, "p/[x].en")) == [uri(store, "p/[x].en")]
    assert files.match(uri(store, "p/a.en")) == [uri(store, "p/a.en")]
    assert files.match(uri(store, "p/a")) == files.match(uri(store, "p/?")) == []


def test_creating_twice_keeps_the_first(store):
    path = uri(store, "plan")
    assert files.create(path, b"one")
    assert not files.create(path, b"two")
    assert files.read_bytes(path) == b"one"


@pytest.mark.slow
def test_of_many_that_create_an_object_at_once_one_does(store):
    path = uri(store, "claim")
    actual = []
    threads = [
        threading.Thread(target=lambda n=n: actual.append((files.create(path, b"%d" % n), n)))
        for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = [number for created, number in actual if created]
    assert len(actual) == 12
    assert files.read_bytes(path) == b"%d" % winner


def test_a_block_that_fails_writes_nothing(store):
    path = uri(store, "half")

    def write_half():
        with files.open_write(path) as file:
            file.write(b"half")
            raise ValueError("interrupted")

    with pytest.raises(ValueError, match="interrupted"):
        write_half()
    assert not files.exists(path)
    with files.open_write(path) as file:
        file.write(b"whole")
    assert files.read_bytes(path) == b"whole"


@pytest.mark.parametrize("act", [files.read_bytes, files.size, files.open_read])
def test_an_absent_object_is_one_error_that_names_it(store, act):
    path = uri(store, "absent")
    with pytest.raises(FileNotFoundError, match="absent"):
        act(path)


def test_an_object_that_changes_while_it_is_read_is_an_error(store):
    path = uri(store, "changing")
    store.put("changing", b"a" * (2 * object_stores.READ_BYTES))
    with files.open_read(path) as file:
        file.read(10)
        store.put("changing", b"b" * (2 * object_stores.READ_BYTES))
        file.seek(object_stores.READ_BYTES + 5)
        with pytest.raises(OSError, match="changed while"):
            file.read(10)


def test_a_store_that_is_throttled_or_fails_for_a_while_is_asked_again(store, monkeypatch):
    faults = iter([503, 429, "drop"])
    path = uri(store, "again")
    files.exists(path)
    monkeypatch.setattr(store.door, "spoil", lambda *_: next(faults, None))
    files.write_bytes(path, b"data")
    assert next(faults, None) is None
    assert files.read_bytes(path) == b"data"


def test_an_answer_that_breaks_off_is_asked_for_again(store, monkeypatch):
    data = bytes(range(256)) * 20
    store.put("whole", data)
    faults = iter(["break", "break"])

    def spoil(_method, path, _body):
        return next(faults, None) if "alt=media" in path or store.scheme != "gs" else None

    version = object_stores.store_of(uri(store, "whole")).version(uri(store, "whole"))
    monkeypatch.setattr(store.door, "spoil", spoil)
    actual = object_stores.store_of(uri(store, "whole"))
    assert actual.read(uri(store, "whole"), version, 0, len(data)) == data
    assert next(faults, None) is None


def test_a_claim_is_asked_for_again_after_a_fault(store, monkeypatch):
    faults = iter([503])
    path = uri(store, "claim_again")
    files.list_names(uri(store, "claims"))
    for module in (gcs, object_stores):  # the limit of a store that has not answered yet
        monkeypatch.setattr(module, "PROBE_SECONDS", 0.0)
    monkeypatch.setattr(store.door, "spoil", lambda *_: next(faults, None))
    assert files.create(path, b"data")


def test_a_store_that_goes_on_failing_is_an_error_with_its_name(store, monkeypatch):
    monkeypatch.setattr(gcs, "RETRY_SECONDS", 2.0)
    monkeypatch.setattr(gcs, "PROBE_SECONDS", 2.0)
    monkeypatch.setattr(s3, "ATTEMPTS", 2)
    monkeypatch.setattr(object_stores, "RETRY_SECONDS", 2.0)
    monkeypatch.setattr(object_stores, "PROBE_SECONDS", 2.0)
    object_stores.use_beam_flags([])
    path = uri(store, "never")
    monkeypatch.setattr(store.door, "spoil", lambda *_: 503)
    with pytest.raises(OSError, match="never") as raised:
        files.write_bytes(path, b"data")
    assert not isinstance(raised.value, FileNotFoundError)
    assert not store.objects("never")


@pytest.mark.slow
def test_a_store_that_refuses_is_not_asked_twice(store, monkeypatch):
    path = uri(store, "refused")
    monkeypatch.setattr(store.door, "spoil", lambda *_: 403)
    with pytest.raises(PermissionError, match="refused"):
        files.write_bytes(path, b"data")
    assert len([path for method, path in store.door.requests if method != "GET"]) == 1


def test_a_bucket_that_is_not_there_is_told_before_a_run(store):
    with pytest.raises(ConfigError, match=r"nosuchbucket/out: .*(bucket|container)"):
        files.check_store(f"{store.scheme}://nosuchbucket/out")
    files.check_store(uri(store, "new/out"))


def test_a_file_uri_is_no_store_and_the_path_to_give_is_named():
    with pytest.raises(ConfigError, match="give a path on a disk without file://, such as /data/o"):
        object_stores.parts("file:///data/out")


def test_a_path_without_a_bucket_is_refused(store):
    with pytest.raises(ConfigError, match="names no bucket"):
        files.read_bytes(f"{store.scheme}:///x")


@pytest.mark.slow
def test_a_fork_of_a_process_that_has_used_a_store_reads_it(store):
    path = uri(store, "forked")
    store.put("forked", b"data")
    words = [sys.executable, "-c", FORKS, path]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "b'data' b'data'\n"), done.stderr


@pytest.mark.parametrize("end", ["", "/"])
def test_a_bucket_is_no_object(store, end):
    bucket = f"{store.scheme}://{stores.BUCKET}{end}"
    assert not files.exists(bucket)
    assert files.match(bucket) == []
    for act in (files.read_bytes, files.size):
        with pytest.raises(FileNotFoundError, match="names a bucket and no object"):
            act(bucket)
    with pytest.raises(OSError, match="names a bucket and no object"):
        files.write_bytes(bucket, b"data")


def test_objects_are_listed_under_the_scheme_as_it_is_spelt(store):
    store.put("spelt/a", b"a")
    directory = f"{store.scheme.upper()}://{stores.BUCKET}/spelt"
    assert files.list_names(directory) == ["a"]
    assert files.match(f"{directory}/*") == [f"{directory}/a"]


def test_deltalake_gets_the_endpoint_and_credentials_of_the_environment(store):
    actual = object_stores.rust_options(uri(store, "table"))
    assert actual.pop("aws_allow_http" if store.scheme == "s3" else "allow_http") == "true"
    if store.scheme == "s3":
        assert actual == {
            "aws_conditional_put": "etag",
            "aws_region": "us-east-1",
            "aws_endpoint": f"http://{store.door.address}",
            "aws_access_key_id": "key",
            "aws_secret_access_key": "secret",
        }
    elif store.scheme == "az":
        assert actual == {
            "azure_storage_account_name": store.account,
            "azure_storage_account_key": store.key,
            "azure_storage_endpoint": f"http://{store.door.address}/{store.account}",
        }
    else:
        key = json.loads(actual.pop("google_service_account_key"))
        assert not actual
        assert key["disable_oauth"]
        assert key["gcs_base_url"] == f"http://{store.door.address}"


@pytest.mark.parametrize(
    ("region", "given", "endpoint"),
    [
        ("eu-west-1", None, "https://s3.eu-west-1.amazonaws.com"),
        ("us-east-1", None, "https://s3.us-east-1.amazonaws.com"),
        ("cn-north-1", None, "https://s3.cn-north-1.amazonaws.com.cn"),
        ("us-east-1", "https://s3-fips.us-east-1.amazonaws.com", None),
        ("us-east-1", "http://s3.us-east-1.amazonaws.com", None),
        ("us-east-1", "https://bucket.vpce-1a.s3.us-east-1.vpce.amazonaws.com", None),
        ("eu-west-1", "https://s3.amazonaws.com", "https://s3.eu-west-1.amazonaws.com"),
    ],
)
def test_deltalake_gets_the_endpoint_of_its_region_or_the_one_given_and_the_keys_of_flags(
    region, given, endpoint, monkeypatch
):
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    session = boto3.session.Session("id", "secret", "token")
    client = session.client("s3", region_name=region, endpoint_url=given)
    actual = s3.S3Store(client, session).rust_options()
    assert actual == {
        "aws_conditional_put": "etag",
        "aws_region": region,
        "aws_endpoint": endpoint or given,
        "aws_allow_http": "true" if given and given.startswith("http:") else "false",
        "aws_access_key_id": "id",
        "aws_secret_access_key": "secret",
        "aws_session_token": "token",
    }


PROFILES = """
[profile failing]
credential_process = false
[profile ended]
sso_start_url = https://example.org/start
sso_region = us-east-1
sso_account_id = 1
sso_role_name = reader
[profile plain]
"""


@pytest.mark.parametrize(
    ("profile", "flags", "said"),
    [
        ("failing", (), "custom-process"),
        ("ended", (), "SSO"),
        ("none", (), "profile (none) could not be found"),
        ("plain", ("--s3_endpoint_url", "no address"), "no address"),
    ],
)
def test_a_profile_that_gives_no_credentials_is_told_in_one_line(
    profile, flags, said, tmp_path, monkeypatch
):
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    (tmp_path / "config").write_text(PROFILES)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_PROFILE", profile)
    monkeypatch.setattr(reachable, "require", lambda *_: None)
    object_stores.use_beam_flags(flags)
    try:
        with pytest.raises(ConfigError, match=f"s3://bucket/t: S3 cannot.*{re.escape(said)}") as e:
            object_stores.rust_options("s3://bucket/t")
    finally:
        object_stores.use_beam_flags([])
    assert "\n" not in str(e.value)


@pytest.fixture(params=["variable", "gcloud", "home"])
def google_file(request, tmp_path, monkeypatch):
    """Return a file of Google credentials that is found in one of three ways."""
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG", "STORAGE_EMULATOR_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / "application_default_credentials.json"
    if request.param == "variable":
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    elif request.param == "gcloud":
        monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    else:
        path = tmp_path / ".config/gcloud" / path.name
        path.parent.mkdir(parents=True)
    return path


@pytest.mark.parametrize(
    ("uri", "variable", "address"),
    [
        ("gs://bucket/a", "STORAGE_EMULATOR_HOST", "localhost:port"),
        ("gs://bucket/a", "STORAGE_EMULATOR_HOST", "http://localhost:99999"),
        ("az://bucket/a", "AZURE_STORAGE_ENDPOINT", "http://[::1"),
    ],
)
def test_an_address_that_is_none_is_named(uri, variable, address, monkeypatch):
    monkeypatch.delenv("AZURE_STORAGE_CONNECTION_STRING", raising=False)
    monkeypatch.setenv(variable, address)
    object_stores.use_beam_flags([])
    with pytest.raises(ConfigError, match=re.escape(f" at {address}: not an address of a server")):
        files.exists(uri)


@pytest.mark.parametrize("text", [None, "", "[1]", '{"type": "service_account"}'])
def test_a_file_of_google_credentials_that_cannot_be_used_is_named(text, tmp_path, monkeypatch):
    path = tmp_path
    if text is not None:
        path = tmp_path / "key.json"
        path.write_text(text)
    monkeypatch.delenv("STORAGE_EMULATOR_HOST", raising=False)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    monkeypatch.setattr(reachable, "require", lambda *_: None)
    object_stores.use_beam_flags([])
    said = f"gs://bucket/a: GOOGLE_APPLICATION_CREDENTIALS: {path}: is no file of Google"
    with pytest.raises(ConfigError, match=said) as caught:
        files.exists("gs://bucket/a")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["service_account", "authorized_user"])
def test_deltalake_gets_the_file_of_a_key(kind, google_file):
    google_file.write_text(json.dumps({"type": kind}))
    actual = gcs.GcsStore(None, anonymous=False).rust_options()
    assert actual == {"google_application_credentials": str(google_file)}
    assert gcs.GcsStore(None, anonymous=True).rust_options() == {"google_skip_signature": "true"}


def test_requests_are_anonymous_if_beams_flag_says_so_or_at_an_emulator(google_file, monkeypatch):
    given = {"client_id": "a", "client_secret": "b", "refresh_token": "c"}
    google_file.write_text(json.dumps({"type": "authorized_user", **given}))
    monkeypatch.setattr(reachable, "require", lambda *_: None)
    monkeypatch.setattr("google.auth._cloud_sdk.get_project_id", lambda: None)  # runs gcloud
    named = {"google_application_credentials": str(google_file)}
    anonymous = {"google_skip_signature": "true"}
    for flags, expected in ([], named), (["--no_auth"], anonymous):
        object_stores.use_beam_flags(flags)
        assert object_stores.rust_options("gs://bucket/table") == expected
    object_stores.use_beam_flags([])
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "localhost:1")
    is_named = "GOOGLE_APPLICATION_CREDENTIALS" in os.environ
    credentials = object_stores.store_of("gs://bucket/a")._client._credentials
    assert isinstance(credentials, AnonymousCredentials) is not is_named
    object_stores.use_beam_flags([])


def test_deltalake_finds_the_credentials_of_the_machine_by_itself(tmp_path, monkeypatch):
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "STORAGE_EMULATOR_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    assert gcs.GcsStore(None, anonymous=False).rust_options() == {}


@pytest.mark.parametrize("kind", ["external_account", "impersonated_service_account"])
def test_credentials_that_deltalake_does_not_know_are_refused(kind, google_file):
    google_file.write_text(json.dumps({"type": kind}))
    with pytest.raises(ConfigError, match=f"credentials of type {kind}"):
        gcs.GcsStore(None, anonymous=False).rust_options()
    google_file.write_text('{"type": "authorized_user"}')
    with pytest.raises(ConfigError, match="impersonated accounts"):
        gcs.GcsStore(None, anonymous=False, impersonated="a@b").rust_options()
