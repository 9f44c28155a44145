"""Tables of ``refresh`` in object stores: the rows of a disk, one commit a night, nothing left.

Commands run in processes of their own: deltalake keeps a process from answering requests.
"""

import io
import json
import os
import re
import signal
import threading
import time
import urllib.parse

import pyarrow.parquet as pq
import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from tests.makers import corpora, nightly, runs, stores

pytestmark = pytest.mark.slow

LOG = re.compile(r"_delta_log/\d{20}\.json$")
TEXT = corpora.sentence(3)[0]
NAMES = ("tagged", "provenance", "rejects", "files")
NEXT = ("--takedown", "down.txt")


@pytest.fixture(scope="module", params=sorted(stores.KINDS))
def store(request):
    with stores.running(request.param) as store:
        yield store


def first_files(directory):
    nightly.write_news(directory, "a", range(40))
    nightly.write_help(directory, "one", range(20, 50))
    nightly.write_config(directory)


def second_files(directory):
    nightly.write_news(directory, "b", range(100, 110))
    nightly.write_help(directory, "one", range(25, 55), ["\tohne Quelle"])
    (directory / "down.txt").write_text(f"{TEXT}\n")


@pytest.fixture(scope="module")
def first(store, tmp_path_factory):
    """Return a directory with corpora, and the objects of a table of their first night."""
    directory = tmp_path_factory.mktemp("first")
    first_files(directory)
    many(directory, night(place(store, "first")), night(place(store, "first")))
    return directory, store.objects("first/")


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory):
    """Return a table on a disk after the second night."""
    directory = tmp_path_factory.mktemp("disk")
    first_files(directory)
    nightly.good_night(directory)
    second_files(directory)
    nightly.good_night(directory, *NEXT)
    return directory / "table"


@pytest.fixture
def second(store, first, request):
    """Return the directory with the files of the second night, and a table that lacks it."""
    directory, objects = first
    prefix = re.sub("[^a-z0-9]+", "-", request.node.name)
    for name, data in objects.items():
        store.put(f"{prefix}/{name.removeprefix('first/')}", data)
    second_files(directory)
    return directory, prefix


def place(store, prefix):
    return f"{store.scheme}://{stores.BUCKET}/{prefix}"


def night(table, *words):
    return ["refresh", "--config", "nightly.yaml", "--output", table, *words]


def many(directory, *commands, statuses=None):
    """Run commands one after another, with these exit statuses; return what each prints."""
    printed = []
    for words, expected in zip(commands, statuses or [0] * len(commands), strict=True):
        status, out, errors = runs.run(*words, cwd=directory)
        assert status == expected, out + errors
        printed.append(out + errors)
    return printed


def fetched(store, prefix, directory):
    """Return a copy of a table on a disk."""
    for name, data in store.objects(f"{prefix}/").items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return directory / prefix


def state(table):
    rows = {name: nightly.rows(table, name, left_out=()) for name in NAMES}
    return rows, nightly.versions(table)


def nights(store, prefix):
    return [name.rpartition("/")[2] for name in sorted(store.objects(f"{prefix}/_refresh/nights/"))]


def test_the_first_night_is_one_version_and_one_without_a_change_is_none(store, first):
    _, objects = first
    assert nights(store, "first") == ["00000001.json"]
    assert len([name for name in objects if LOG.search(name)]) == len(NAMES)
    assert not [name for name in objects if "/_runs/" in name or "/leases/" in name]


def test_a_night_with_a_takedown_gives_the_rows_of_a_disk_and_vacuum_leaves_no_text(
    store, second, on_disk, tmp_path
):
    directory, prefix = second
    table = place(store, prefix)
    planned, *_ = many(directory, night(table, "--plan_only"), night(table, *NEXT))
    assert "1 new" in planned
    assert state(fetched(store, prefix, tmp_path / "second")) == state(on_disk)
    _, out, _, _, shown, _ = many(
        directory,
        ["refresh", "compact", table],
        ["refresh", "vacuum", table, "--retention", "0"],
        ["refresh", "verify", table],
        ["refresh", "status", table],
        ["refresh", "history", table],
        ["refresh", "export", table, "--output", f"{table}-export"],
    )
    assert "deleted" in out
    assert "night 3" in shown
    left = fetched(store, prefix, tmp_path / "third")
    assert nightly.rows(left, left_out=()) == nightly.rows(on_disk, left_out=())
    assert not [name for name, data in store.objects(f"{prefix}/").items() if has_text(name, data)]
    shards = store.objects(f"{prefix}-export/").values()
    assert sum(pq.read_table(io.BytesIO(data)).num_rows for data in shards) == len(
        nightly.rows(left)
    )


def has_text(name, data):
    if not name.endswith(".parquet") or "_delta_log" in name:
        return TEXT.encode() in data
    return TEXT in str(pq.read_table(io.BytesIO(data)).to_pydict())


@pytest.mark.usefixtures("first")
def test_a_commit_creates_its_entry_in_the_log_only_if_there_is_none(store):
    puts = [
        headers
        for (method, path), headers in zip(store.door.requests, store.door.headers, strict=True)
        if method == "PUT" and LOG.search(urllib.parse.unquote(path))
    ]
    assert puts
    at_most_once = ("If-None-Match", "*")
    generation = ("x-goog-if-generation-match", "0")
    conditions = {"az": at_most_once, "gs": generation, "s3": at_most_once}
    name, value = conditions[store.scheme]
    assert {headers[name] for headers in puts} == {value}


HELD = {
    "az": "tagged/_delta_log/00000000000000000001",
    "gs": "_refresh/nights/00000002",
    "s3": "tagged/_delta_log/00000000000000000001",
}
"""Where a night is killed: as it puts its record, or the log of a table."""


def test_a_night_killed_at_its_commit_is_committed_once(
    store, second, on_disk, tmp_path, monkeypatch
):
    directory, prefix = second
    held = HELD[store.scheme]
    waiting, is_killed = [], threading.Event()

    def hold_back(method, path, body):
        if method in ("PUT", "POST") and names(held, path, body):
            waiting.append(path)
            is_killed.wait(runs.SECONDS)
            return "drop"
        return None

    monkeypatch.setattr(store.door, "spoil", hold_back)
    process = runs.start(*night(place(store, prefix), *NEXT), cwd=directory)
    deadline = time.monotonic() + 120
    while not waiting and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    runs.kill_group(process)
    process.communicate()
    monkeypatch.setattr(store.door, "spoil", lambda *_: None)
    is_killed.set()
    assert waiting
    table = place(store, prefix)
    vacuum = ["refresh", "vacuum", table, "--retention", "0"]
    _, refused = many(directory, night(table, *NEXT), vacuum, statuses=[0, 1])
    assert "if it was killed" in refused  # its lease has not ended
    assert nights(store, prefix) == ["00000001.json", "00000002.json"]
    assert state(fetched(store, prefix, tmp_path)) == state(on_disk)


def names(wanted, path, body):
    """Tell whether a request writes an object whose name has a part."""
    return wanted in urllib.parse.unquote(path) or wanted.encode() in body[:1_000]


@pytest.mark.parametrize("store", ["s3"], indirect=True)
def test_of_two_nights_at_once_one_wins_and_the_other_is_told(
    store, second, on_disk, tmp_path, monkeypatch
):
    directory, prefix = second
    table = place(store, prefix)
    held = []

    def hold_back_the_first(method, path, body):
        is_record = method in ("PUT", "POST") and names("_refresh/nights/00000002", path, body)
        if is_record and not held:
            held.append(path)
            while "00000002.json" not in nights(store, prefix):
                time.sleep(0.1)

    monkeypatch.setattr(store.door, "spoil", hold_back_the_first)
    both = [runs.start(*night(table, *NEXT), cwd=directory) for _ in range(2)]
    done = [(process.communicate(timeout=runs.SECONDS), process.returncode) for process in both]
    monkeypatch.setattr(store.door, "spoil", lambda *_: None)
    assert held
    assert sorted(status for _, status in done) == [0, 1]
    (loser,) = [errors for (_, errors), status in done if status]
    assert "another night was committed by another refresh" in loser
    (again,) = many(directory, night(table))
    assert "nothing has changed since night 2" in again
    assert state(fetched(store, prefix, tmp_path)) == state(on_disk)


@pytest.mark.parametrize("store", ["gs"], indirect=True)
def test_another_configuration_is_refused_and_migrates_in_one_version(store, second):
    directory, prefix = second
    table = place(store, prefix)
    nightly.write_config(directory, more="max_tokens: 20\n", name="other.yaml")
    other = ["refresh", "--config", "other.yaml", "--output", table]
    refused, planned, done, checked = many(
        directory,
        other,
        [*other, "--migrate", "--plan_only"],
        [*other, "--migrate"],
        ["refresh", "verify", table],
        statuses=[2, 0, 0, 0],
    )
    assert "max_tokens" in refused
    assert "would make all rows anew" in planned
    assert "tagged version 1" in done
    assert "2 nights checked" in checked


@pytest.mark.parametrize("store", ["s3"], indirect=True)
def test_input_a_fitted_model_and_a_job_of_a_scheduler_can_all_be_in_the_store(store, tmp_path):
    table = place(store, "fitted")
    head = nightly.HEAD.replace("augment", "align").replace("mix: 0\n", "")
    of = f'corpora:\n- {{corpus: help, input: "{place(store, "help")}/*.tsv"}}\n'
    nightly.write_config(tmp_path, head=head, of=of)
    for number, name in enumerate(("one", "two")):
        nightly.write_help(tmp_path, name, range(60 * number, 60 * number + 60))
    store.put("help/one.tsv", (tmp_path / "help/one.tsv").read_bytes())
    many(tmp_path, night(table, "--launches", place(store, "jobs.json")))
    (launch,) = json.loads(store.objects("jobs.json")["jobs.json"])
    job = [launch["job"], "--config", launch["config"], "--output", launch["output"]]
    _, committed = many(tmp_path, job, night(table))
    assert "committed night 1: files version 0, links version 0" in committed
    store.put("help/two.tsv", (tmp_path / "help/two.tsv").read_bytes())
    second, shown, checked = many(
        tmp_path, night(table), ["refresh", "status", table], ["refresh", "verify", table]
    )
    assert "read 60 pairs: 60 new" in second
    assert "120 pairs of 2 inputs" in shown
    assert "model of en-de: _models/en-de/hmm-" in shown
    assert "2 nights checked" in checked
