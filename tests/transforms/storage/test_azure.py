"""What Azure has that other stores have not: accounts, connection strings, directories."""

import io
import os

import pytest

pytest.importorskip("azure.storage.blob", reason="needs the extra `azure`")

from azure.core import exceptions
from azure.storage.blob import ContentSettings

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage import azure, files, object_stores, reachable
from tests.makers import stores

ENDPOINT = "https://corpora.blob.core.windows.net"
ELSEWHERE = "AccountName=corpora;AccountKey=a2V5;EndpointSuffix=core.chinacloudapi.cn"


@pytest.fixture(scope="module")
def emulator():
    with stores.running("az") as store:
        yield store


@pytest.fixture
def store(emulator, monkeypatch):
    object_stores.use_beam_flags([])
    monkeypatch.setattr(emulator.door, "spoil", lambda *_: None)
    emulator.door.requests.clear()
    yield emulator
    object_stores.use_beam_flags([])


@pytest.fixture
def plain(monkeypatch):
    """Leave nothing of Azure in the environment, and reach every address."""
    for name in [name for name in os.environ if name.startswith("AZURE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setattr(reachable, "require", lambda *_: None)
    object_stores.use_beam_flags([])
    yield monkeypatch
    object_stores.use_beam_flags([])


def opened(account, **key):
    secure = "true" if account["azure_storage_endpoint"].startswith("http://") else "false"
    return {**account, "allow_http": secure, **key}


AT_HOME = {"azure_storage_account_name": "corpora", "azure_storage_endpoint": ENDPOINT}
CHINA = {**AT_HOME, "azure_storage_endpoint": "https://corpora.blob.core.chinacloudapi.cn"}
PRIVATE = {**AT_HOME, "azure_storage_endpoint": "http://10.0.0.1/corpora"}


@pytest.mark.parametrize(
    ("variables", "flags", "expected"),
    [
        (
            {"AZURE_STORAGE_ACCOUNT": "corpora", "AZURE_STORAGE_KEY": "a2V5"},
            (),
            opened(AT_HOME, azure_storage_account_key="a2V5"),
        ),
        (
            {"AZURE_STORAGE_ACCOUNT_NAME": "corpora", "AZURE_STORAGE_SAS_TOKEN": "?sv=1&sig=x"},
            (),
            opened(AT_HOME, azure_storage_sas_key="sv=1&sig=x"),
        ),
        (
            {"AZURE_STORAGE_CONNECTION_STRING": ELSEWHERE, "AZURE_STORAGE_SAS_TOKEN": "of another"},
            (),
            opened(CHINA, azure_storage_account_key="a2V5"),
        ),
        (
            {"AZURE_STORAGE_CONNECTION_STRING": "AccountName=other;AccountKey=eA=="},
            ("--azure_connection_string", ELSEWHERE),
            opened(CHINA, azure_storage_account_key="a2V5"),
        ),
        (
            {"AZURE_STORAGE_KEY": "a2V5"},
            ("--blob_service_endpoint", f"{ENDPOINT}/"),
            opened(AT_HOME, azure_storage_account_key="a2V5"),
        ),
        (
            {
                "AZURE_STORAGE_ACCOUNT": "corpora",
                "AZURE_STORAGE_KEY": "a2V5",
                "AZURE_STORAGE_ENDPOINT": "http://10.0.0.1/corpora",
            },
            (),
            opened(PRIVATE, azure_storage_account_key="a2V5"),
        ),
    ],
)
def test_account_and_credentials_are_those_of_the_flags_or_else_of_the_environment(
    plain, variables, flags, expected
):
    for name, value in variables.items():
        plain.setenv(name, value)
    object_stores.use_beam_flags(flags)
    assert object_stores.rust_options("az://container/table") == expected


def test_an_identity_gives_tables_its_token(plain):
    class Identity:
        def __init__(self, **given):
            self.given = given

        def get_token(self, scope):
            assert scope == "https://storage.azure.com/.default"
            return type("Token", (), {"token": f"token of {self.given}"})

    plain.setattr(azure, "DefaultAzureCredential", Identity)
    plain.setenv("AZURE_STORAGE_ACCOUNT", "corpora")
    actual = object_stores.rust_options("az://container/table")
    assert actual == opened(AT_HOME, azure_storage_token="token of {}")
    object_stores.use_beam_flags(["--azure_managed_identity_client_id", "id"])
    actual = object_stores.rust_options("az://container/table")
    chosen = "token of {'managed_identity_client_id': 'id'}"
    assert actual == opened(AT_HOME, azure_storage_token=chosen)


def test_an_identity_without_credentials_is_told_before_a_run(plain):
    class Identity:
        def get_token(self, *_, **__):
            raise exceptions.ClientAuthenticationError("nobody is signed in\nand more lines")

        get_token_info = get_token

    plain.setattr(azure, "DefaultAzureCredential", Identity)
    plain.setenv("AZURE_STORAGE_ACCOUNT", "corpora")
    for check in (files.check_store, object_stores.rust_options):
        said = (
            r"^az://container/in: no Azure credentials were found: set AZURE_.*nobody is signed in"
        )
        with pytest.raises(ConfigError, match=said) as refused:
            check("az://container/in")
        assert "more lines" not in str(refused.value)


def test_a_store_without_an_account_is_told(plain):
    plain.setenv("AZURE_STORAGE_KEY", "a2V5")
    with pytest.raises(ConfigError, match="az://container/in: no storage account is known"):
        files.exists("az://container/in")


@pytest.mark.parametrize("key", ["d3Jvbmc=", "no base64"])
def test_a_wrong_key_is_told_at_once(store, key, monkeypatch):
    name = "AZURE_STORAGE_CONNECTION_STRING"
    monkeypatch.setenv(name, store.environment[name].replace(store.key, key))
    with pytest.raises(PermissionError, match="az://bucket/a"):
        files.read_bytes("az://bucket/a")
    assert len(store.door.requests) <= 1


def test_directories_of_a_hierarchical_namespace_are_no_objects(store):
    store.put("tree/below/a", b"a")
    store._client.upload_blob("tree/below", b"", metadata={"hdi_isfolder": "true"})
    store.put("tree/b", b"b")
    assert files.list_below("az://bucket/tree") == ["b", "below/a"]
    assert files.list_names("az://bucket/tree") == ["b"]
    assert not files.exists("az://bucket/tree/below")
    assert files.match("az://bucket/tree/**") == ["az://bucket/tree/b", "az://bucket/tree/below/a"]


def test_bytes_are_as_they_are_stored_whatever_encoding_they_are_said_to_have(store):
    told = ContentSettings(content_encoding="gzip")
    store._client.upload_blob("told", b"not packed at all", content_settings=told)
    assert files.read_bytes("az://bucket/told") == b"not packed at all"


def test_a_large_object_appears_whole_though_a_block_is_sent_twice(store, monkeypatch):
    monkeypatch.setattr(azure, "PART_BYTES", 1000)
    object_stores.use_beam_flags([])
    faults = iter([503])
    data = bytes(range(256)) * 15

    def spoil(_method, path, _body):
        return next(faults, None) if "comp=block&" in f"{path}&" else None

    monkeypatch.setattr(store.door, "spoil", spoil)
    object_stores.store_of("az://bucket/large").put("az://bucket/large", io.BytesIO(data))
    assert next(faults, None) is None
    assert store.objects("large") == {"large": data}
    blocks = [path for _, path in store.door.requests if "comp=block&" in f"{path}&"]
    assert len(blocks) == 5


def test_a_listing_of_many_pages_is_whole(store):
    for number in range(7):
        store.put(f"pages/{number}", b"x")
    actual = object_stores.store_of("az://bucket/pages/")
    assert len(list(actual.list("az://bucket/pages/"))) == 7
    assert list(actual.list("az://bucket/pages/", most=2)) == [
        "az://bucket/pages/0",
        "az://bucket/pages/1",
    ]


def test_of_two_commits_of_a_delta_table_one_is_written(store):
    deltalake = pytest.importorskip("deltalake")
    import pyarrow as pa

    place = "az://bucket/table"
    options = object_stores.rust_options(place)
    rows = pa.table({"id": ["a", "b"]})
    deltalake.write_deltalake(place, rows, storage_options=options)
    first = "table/_delta_log/00000000000000000000.json"
    assert not files.create(f"az://bucket/{first}", b"another commit")
    with pytest.raises(Exception, match="exists"):
        deltalake.write_deltalake(place, rows, storage_options=options, mode="error")
    actual = deltalake.DeltaTable(place, storage_options=options).to_pyarrow_table()
    assert actual.to_pydict() == rows.to_pydict()
    assert first in store.objects("table/")


@pytest.mark.parametrize("name", ["a/../b", "./b", "a/./b", "../other/b", "a/.."])
def test_dots_between_slashes_are_refused_before_any_request(store, name):
    path = f"az://{stores.BUCKET}/{name}"
    for use in (files.exists, files.read_bytes, lambda path: files.write_bytes(path, b"x")):
        with pytest.raises(ConfigError, match=r"has \. or \.\. between its slashes"):
            use(path)
    assert not store.door.requests


@pytest.mark.usefixtures("store")
def test_dots_within_a_name_are_text():
    path = f"az://{stores.BUCKET}/a.b/..c/d.."
    files.write_bytes(path, b"x")
    assert files.read_bytes(path) == b"x"
