"""Jobs and commands whose files are in object stores write the same bytes as on a disk."""

import hashlib
import io
import json
import os
import signal
import time

import pyarrow.parquet as pq
import pytest

from tests.cluster.conftest import ready
from tests.makers import corpora, runs, stores

COMMON = ("--source_lang", "en", "--target_lang", "de")
HERE = ("--workers", "1")
"""For a run in the test's own process, which no worker process is to be a fork of."""

LARGE = ("--shard_pairs", "100", "--unit_rows", "150")
JOBS = {
    "augment": ("augment", *LARGE, "--variants", "2"),
    "filter": ("filter", *LARGE, "--select_words", "2000"),
}

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings(stores.OPEN_AT_THE_END)]


@pytest.fixture(scope="module", params=sorted(stores.KINDS))
def store(request):
    with stores.running(request.param) as store:
        yield store
    stores.let_go()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Write a corpus; return its directory."""
    directory = tmp_path_factory.mktemp("corpus")
    corpora.write_corpus(directory, 400)
    return directory


def inputs(directory):
    """Return the flags that name the corpus, on a disk or in a store."""
    return (
        *("--source_input", f"{directory}/corpus.en"),
        *("--target_input", f"{directory}/corpus.de"),
    )


@pytest.fixture(scope="module")
def on_disk(corpus, tmp_path_factory):
    """Return a function that gives the files of a job's run on a disk, by name."""
    result = {}

    def finish(job):
        if job not in result:
            output = tmp_path_factory.mktemp(job) / "out"
            runs.run_well_here(*JOBS[job], *COMMON, *inputs(corpus), "--output", output, *HERE)
            result[job] = runs.tree_digests(output)
        return result[job]

    return finish


def digests_in(store, prefix):
    """Return the SHA-256 of every file of a run in a store but ``_run.json``, by name."""
    objects = store.objects(f"{prefix}/")
    return {
        name.removeprefix(f"{prefix}/"): hashlib.sha256(data).hexdigest()
        for name, data in sorted(objects.items())
        if not name.endswith("/_run.json")
    }


def uri(store, name):
    return f"{store.scheme}://{stores.BUCKET}/{name}"


def put_corpus(store, directory, prefix="in"):
    for name in ("en", "de"):
        store.put(f"{prefix}/corpus.{name}", (directory / f"corpus.{name}").read_bytes())


@pytest.mark.parametrize(
    ("store", "job"), [("gs", "filter"), ("s3", "augment")], indirect=["store"]
)
def test_a_run_into_a_store_writes_the_bytes_of_a_disk(store, job, corpus, on_disk):
    arguments = (*JOBS[job], *COMMON, *inputs(corpus))
    runs.run_well(*arguments, "--output", uri(store, job), "--workers", "2")
    assert digests_in(store, job) == on_disk(job)


@pytest.mark.flink
def test_another_engine_writes_them(store, corpus, on_disk):
    engine = {"az": "prism", "gs": "prism", "s3": "flink"}[store.scheme]
    ready(engine)
    arguments = (*JOBS["augment"], *COMMON, *inputs(corpus))
    output = uri(store, f"augment_{engine}")
    runs.run_well(*arguments, "--output", output, "--engine", engine, "--workers", "2")
    assert digests_in(store, f"augment_{engine}") == on_disk("augment")


def without_places(data):
    """Return the rows of a shard without the names of their files."""
    table = pq.read_table(io.BytesIO(data))
    return table.drop_columns([name for name in ("file",) if name in table.column_names])


def test_a_run_all_in_a_store_writes_the_rows_of_a_disk(store, corpus, tmp_path):
    put_corpus(store, corpus)
    (tmp_path / "job.yaml").write_text(
        "source_lang: en\ntarget_lang: de\nshard_pairs: 100\n"
        f"source_input: {uri(store, 'in/corpus.en')}\ntarget_input: {uri(store, 'in/*.de')}\n"
    )
    store.put("job.yaml", (tmp_path / "job.yaml").read_bytes())
    store.put("dev.en", (" ".join(corpora.sentence(3)[0].split()) + "\n").encode())
    shared = ("--exclude", uri(store, "dev.en"), *HERE)
    model, out = uri(store, "whole/model"), uri(store, "whole/out")
    runs.run_well_here("fit", "--config", uri(store, "job.yaml"), *shared, "--output", model)
    runs.run_well_here(
        "augment", "--config", uri(store, "job.yaml"), *shared, "--model", model, "--output", out
    )
    local = ("augment", *COMMON, "--shard_pairs", "100", *inputs(corpus), *HERE)
    (tmp_path / "dev.en").write_bytes(store.objects("dev.en")["dev.en"])
    runs.run_well_here(*local, "--exclude", tmp_path / "dev.en", "--output", tmp_path / "out")
    actual = store.objects("whole/out/data/")
    shards = sorted((tmp_path / "out" / "data").glob("part-*"))
    assert [name.rpartition("/")[2] for name in actual] == [path.name for path in shards]
    for path, data in zip(shards, actual.values(), strict=True):
        assert without_places(data).equals(without_places(path.read_bytes()))
    manifest = json.loads(store.objects("whole/out/_manifest.json")["whole/out/_manifest.json"])
    assert manifest["rejected"]["excluded"] >= 1


def test_commands_read_a_run_in_a_store(store, corpus):
    arguments = (*JOBS["augment"], *COMMON, *inputs(corpus))
    run = uri(store, "commands")
    runs.run_well_here(*arguments, "--output", run, *HERE)
    assert "<a_" in runs.run_well_here("preview", run)
    runs.run_well_here("report", run, "--output", uri(store, "page.html"))
    assert b"<html" in store.objects("page.html")["page.html"]
    exported = uri(store, "exported")
    runs.run_well_here("export", run, "--format", "tsv", "--output", exported)
    assert store.objects("exported/")
    folder = uri(store, "folder")
    runs.run_well_here("export", run, "--format", "hf", "--output", folder)
    assert len(store.objects("folder/")) == 2  # rows and card
    status, _, errors = runs.run_here("preview", uri(store, "no_run"))
    assert status == 2
    assert "no_run" in errors
    assert "Traceback" not in errors


def test_a_run_killed_between_a_shard_and_its_receipt_is_finished_by_the_next(
    store, corpus, on_disk, monkeypatch
):
    arguments = (*JOBS["augment"], *COMMON, *inputs(corpus))
    put = []

    def hold_back(method, path, body):
        if method in ("PUT", "POST") and (b"_receipts/shard-" in path.encode() + body[:1_000]):
            put.append(path)
            return 30.0 if len(put) > 1 else None  # the second receipt does not arrive
        return None

    monkeypatch.setattr(store.door, "spoil", hold_back)
    output = uri(store, "killed")
    process = runs.start(*arguments, "--output", output, "--workers", "1")
    deadline = time.monotonic() + 120
    while len(put) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    runs.kill_group(process)
    process.communicate()
    assert len(put) == 2
    assert "killed/_manifest.json" not in store.objects("killed/")
    monkeypatch.setattr(store.door, "spoil", lambda *_: None)
    runs.run_well(*arguments, "--output", output, "--workers", "2")
    assert digests_in(store, "killed") == on_disk("augment")


@pytest.mark.parametrize("store", ["s3"], indirect=True)
def test_a_second_job_into_the_same_place_is_told(store, corpus):
    arguments = (*("align", *LARGE), *COMMON, *inputs(corpus))
    output = uri(store, "twice")
    runs.run_well(*arguments, "--output", output)
    status, _, errors = runs.run(*arguments, "--seed", "7", "--output", output)
    assert status == 2
    assert "already belongs to another run" in errors


@pytest.mark.parametrize("place", ["input", "output"])
def test_a_bucket_that_is_not_there_is_one_line_before_anything_is_read(store, place, corpus):
    absent = f"{store.scheme}://no-such-bucket/x"
    named = inputs(corpus) if place == "output" else ("--input", f"{absent}/a.tsv")
    output = absent if place == "output" else uri(store, "unused")
    status, _, errors = runs.run_here("align", *COMMON, *named, "--output", output)
    assert status == 2
    (line,) = errors.splitlines()
    assert "no-such-bucket" in line
