"""What keeps a refreshed table whole: its lock, checks before a record, and files that changed."""

import contextlib
import dataclasses
import json
import os
import time
from types import SimpleNamespace
from unittest import mock

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from pairweave.pipelines.job_options.pair_options import AugmentOptions
from pairweave.pipelines.refresh import inner_runs, night_config
from pairweave.pipelines.refresh.chain import kept_models, records, table_lock, table_place, tables
from pairweave.pipelines.refresh.inner_runs import InnerRun
from pairweave.pipelines.refresh.night import Night, ReadyNight, commit
from pairweave.pipelines.refresh.upkeep import quiet_night, vacuum
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.option_places import with_places
from pairweave.transforms.storage import beam_store, files, leases, object_stores
from tests.makers import corpora, nightly, runs

NIGHT = nightly.record()


def with_tables(night, when, **changes):
    """Return the record of a night that changes some tables."""
    versions = dict.fromkeys(changes, night - 1)
    return dataclasses.replace(NIGHT, night=night, when=when, tables=changes, versions=versions)


def test_a_night_and_a_vacuum_exclude_each_other_but_not_two_nights(tmp_path):
    records.create(str(tmp_path), NIGHT)
    with table_lock.held(str(tmp_path), alone=False), table_lock.held(str(tmp_path), alone=False):
        with pytest.raises(
            WorkerError, match="a refresh or its compact, verify or export uses files of it now"
        ):
            vacuum.vacuum(str(tmp_path), 0, dry=False)
        assert vacuum.vacuum(str(tmp_path), 0, dry=True) == []
    assert vacuum.vacuum(str(tmp_path), 0, dry=False) == []
    with (
        table_lock.held(str(tmp_path), alone=True),
        pytest.raises(WorkerError, match="its vacuum deletes files of it now"),
        table_lock.held(str(tmp_path), alone=False),
    ):
        pytest.fail("both were let in")


def test_a_record_whose_file_is_gone_or_whose_table_is_missing_is_not_created(tmp_path):
    added = {"add": [{"path": "part-1.parquet"}], "remove": []}
    record = with_tables(1, NIGHT.when, files=added)
    with pytest.raises(WorkerError, match=r"part-1\.parquet was deleted while night 1 was made"):
        tables.check(str(tmp_path), record)
    (tmp_path / "files").mkdir()
    (tmp_path / "files/part-1.parquet").write_bytes(b"")
    tables.check(str(tmp_path), record)
    with pytest.raises(WorkerError, match="is at version -1, and night 2 expected 0"):
        tables.check(str(tmp_path), with_tables(2, NIGHT.when, files=added))


def test_files_that_a_migration_replaced_are_removed_at_its_time():
    def change(path, **more):
        return {"add": [{"path": path}], "remove": [], **more}

    nights = [
        with_tables(night, f"2026-01-0{night}T00:00:00Z", tagged=change(path, schema="00"))
        for night, path in enumerate("ab", 1)
    ]
    expected = {("tagged", "a"): vacuum._seconds("2026-01-02T00:00:00Z")}
    assert vacuum._removal_times(nights) == expected


@pytest.mark.parametrize("fitted", ["hmm", "fast_align", None])
def test_a_run_with_other_files_is_used_again_only_if_it_fitted_no_model(tmp_path, fitted):
    inner = InnerRun(str(tmp_path), ("bad", "good"))
    if fitted:
        (tmp_path / f"run/models/{fitted}").mkdir(parents=True)
        (tmp_path / f"run/models/{fitted}/about.json").write_text("{}")
    assert inner_runs._reads(inner, SimpleNamespace(keys=("good",))) is (fitted is None)
    assert inner_runs._reads(inner, SimpleNamespace(keys=("good", "bad")))


def test_a_run_that_read_another_content_than_the_ledger_has_is_refused(tmp_path):
    inner = InnerRun(str(tmp_path / "inner"), ("key",))
    entry = SimpleNamespace(files=[SimpleNamespace(sha256="old")])
    request = SimpleNamespace(keys=("key",), inputs=SimpleNamespace(entries={"key": entry}))
    read = [{"role": "pairs", "name": "a.tsv", "sha256": "old"}]
    inner_runs._check_contents(inner, read, ["key"], request)
    read = [{**read[0], "sha256": "new"}]
    with pytest.raises(WorkerError, match=r"a\.tsv: changed while the night was made"):
        inner_runs._check_contents(inner, read, ["key"], request)


def test_the_model_of_a_trained_program_is_kept_for_the_next_night(tmp_path):
    from pairweave.transforms.storage import hashed_files

    inner = InnerRun(str(tmp_path / "inner"), ())
    packed = hashed_files.with_hashes({"weights": b"1"}, {"aligner": "external"})
    hashed_files.write(str(tmp_path / "inner/run/models/fast_align"), packed)
    place = kept_models.keep(str(tmp_path), inner.run, ("en", "de"))
    assert place.startswith("_models/en-de/fast_align-")
    assert kept_models.option_of(place) == "model"
    assert hashed_files.read(str(tmp_path / place)) == dict(sorted(packed.items()))


def digested(name, value):
    return with_places(AugmentOptions, {name: value}, night_config.digest_at)[name]


def test_a_score_model_counts_by_its_content(tmp_path):
    (tmp_path / "about.json").write_text(json.dumps({}))
    before = digested("filter", {"score_model": str(tmp_path)})
    (tmp_path / "about.json").write_text(json.dumps({"a": 1}))
    assert digested("filter", {"score_model": str(tmp_path)}) != before


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"aligner": "encoder", "model": "owner/name"}, "give its commit, revision:"),
        ({"aligner": "encoder", "model": "owner/name", "revision": "main"}, "give its commit"),
        ({"aligner": "encoder", "model": "owner/name", "revision": "0" * 40}, None),
        ({"aligner": "hmm", "model": "gs://bucket/model"}, "give a copy of it on a disk"),
        ({"translator": "transformers:owner/name"}, "give its commit, translator_revision:"),
    ],
)
def test_a_model_that_may_change_unseen_is_refused(given, message):
    options = AugmentOptions.model_construct(output=".", **given)
    if message is None:
        night_config._check_models(options)
        return
    with pytest.raises(ConfigError, match=message):
        night_config._check_models(options)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            "hmm:gs://bucket/model",
            "second_aligner: hmm:gs://bucket/model: gs://bucket/model may ch",
        ),
        ("encoder:owner/name:layer=8", "owner/name may change between nights without a trace"),
        ("encoder:{there}:layer=8", None),
        ("hmm:{there}", None),
        (None, None),
    ],
)
def test_a_second_aligner_that_may_change_unseen_is_refused(tmp_path, value, message):
    options = AugmentOptions.model_construct(
        output=".", second_aligner=value and value.format(there=tmp_path)
    )
    if message is None:
        night_config._check_models(options)
        return
    with pytest.raises(ConfigError, match=message):
        night_config._check_models(options)


def test_models_and_programs_of_a_second_aligner_count_by_their_content(tmp_path):
    def made():
        value = f"simalign:{tmp_path}/model:path={tmp_path}/program:layer=8"
        return digested("second_aligner", value)

    (tmp_path / "model").mkdir()
    (tmp_path / "model/weights").write_text("1")
    (tmp_path / "program").write_text("1")
    before = made()
    assert before.endswith(":layer=8")
    assert str(tmp_path) not in before
    (tmp_path / "program").write_text("2")
    after = made()
    assert after.split(":")[1] == before.split(":")[1]
    assert after != before
    (tmp_path / "model/weights").write_text("2")
    assert made().split(":")[1] != before.split(":")[1]


def test_a_glossary_in_a_store_counts_by_its_content(monkeypatch):
    import io

    held = {"gs://bucket/terms.tsv": b"one"}

    def opened(path):
        if path not in held:
            raise FileNotFoundError(path)
        return io.BytesIO(held[path])

    monkeypatch.setattr(night_config.files, "open_read", opened)
    before = digested("glossary", "gs://bucket/terms.tsv")
    held["gs://bucket/terms.tsv"] = b"two"
    assert digested("glossary", "gs://bucket/terms.tsv") != before
    with pytest.raises(ConfigError, match="gs://bucket/none: cannot be read"):
        digested("glossary", "gs://bucket/none")


def test_jobs_of_a_night_that_a_scheduler_starts_are_committed_by_the_next_command(
    tmp_path, monkeypatch
):
    nightly.write_help(tmp_path, "one", range(20))
    nightly.write_config(tmp_path, of='corpora:\n- {corpus: help, input: "help/*.tsv"}\n')
    expected = nightly.good_night(tmp_path, table="at_once")
    assert "committed night 1" in expected
    monkeypatch.setattr(inner_runs, "_start", lambda *_: pytest.fail("a job was started"))
    out = nightly.good_night(tmp_path, "--launches", "jobs.json")
    assert out == "1 job to start: jobs.json\n"
    (launch,) = json.loads((tmp_path / "jobs.json").read_text())
    job, config, output = (launch[name] for name in ("job", "config", "output"))
    runs.run_well_here(job, "--config", config, "--output", output, cwd=tmp_path)
    nightly.good_night(tmp_path, "--launches", "jobs.json")
    assert json.loads((tmp_path / "jobs.json").read_text()) == []
    nightly.good_night(tmp_path)
    assert nightly.rows(tmp_path / "table") == nightly.rows(tmp_path / "at_once")
    out = nightly.good_night(tmp_path, "--launches", "jobs.json")
    assert out == "0 jobs to start: jobs.json\n"


def launched(directory):
    """Prepare the jobs of a night, and run them as a scheduler does."""
    nightly.good_night(directory, "--launches", "jobs.json")
    for launch in json.loads((directory / "jobs.json").read_text()):
        job, config, output = (launch[name] for name in ("job", "config", "output"))
        runs.run_well_here(job, "--config", config, "--output", output, cwd=directory)


def test_a_night_of_prepared_jobs_starts_none_and_leaves_late_files_for_the_next(
    tmp_path, monkeypatch
):
    nightly.write_help(tmp_path, "one", range(20))
    nightly.write_config(tmp_path, of='corpora:\n- {corpus: help, input: "help/*.tsv"}\n')
    monkeypatch.setattr(inner_runs, "_start", lambda *_: pytest.fail("a job was started"))
    only = ("--prepared_only",)

    def refused(*words):
        status, _, errors = nightly.night(tmp_path, *only, *words)
        assert status == 1
        assert "a job is still to be started" in errors
        assert errors.count("\n") == 1

    refused()
    with monkeypatch.context() as patch:  # nor where a run turns out not to fit later
        patch.setattr(Night, "late", lambda _night: set())
        refused()
    nightly.good_night(tmp_path, "--launches", "jobs.json")
    refused()
    launched(tmp_path)
    nightly.write_help(tmp_path, "two", range(20, 30))
    out = nightly.good_night(tmp_path, *only)
    assert "left for the next night, came too late: help/two.tsv" in out
    assert "committed night 1" in out
    assert len(nightly.rows(tmp_path / "table")) == 20
    assert "nothing has changed since night 1" in nightly.good_night(tmp_path, *only)
    launched(tmp_path)
    (tmp_path / "down.txt").write_text(f"{corpora.sentence(25)[0]}\n")
    refused("--takedown", "down.txt")
    nightly.write_help(tmp_path, "one", range(15))
    refused()
    nightly.write_help(tmp_path, "one", range(20))
    assert "committed night 2" in nightly.good_night(tmp_path, *only)
    assert len(nightly.rows(tmp_path / "table")) == 30


def test_vacuum_deletes_no_files_of_a_job_that_was_prepared_to_run_elsewhere(tmp_path):
    table = str(tmp_path)
    records.create(table, NIGHT)
    run = tmp_path / "_runs/0123"
    run.mkdir(parents=True)
    for name in ("known.ids", "options.yaml"):
        (run / name).write_bytes(b"{}")
    assert vacuum.vacuum(table, 1, dry=False) == []
    expected = ["_runs/0123/known.ids", "_runs/0123/options.yaml"]
    assert vacuum.vacuum(table, 0, dry=True) == expected
    with pytest.raises(WorkerError, match=r"_runs/0123/run: .* delete .*/_runs/0123/options\.yaml"):
        vacuum.vacuum(table, 0, dry=False)
    past = time.time() - vacuum.LAUNCHED_SECONDS - 1
    os.utime(run / "options.yaml", (past, past))
    assert vacuum.vacuum(table, 0, dry=False) == expected


@pytest.mark.parametrize("way", ["finished", "deleted"])
def test_vacuum_deletes_what_a_prepared_job_leaves(way, tmp_path):
    records.create(str(tmp_path), NIGHT)
    run = tmp_path / "_runs/0123"
    (run / "run").mkdir(parents=True)
    (run / "known.ids").write_bytes(b"{}")
    if way == "finished":
        (run / "options.yaml").write_bytes(b"{}")
        (run / "run/_manifest.json").write_bytes(b"{}")
    assert vacuum.vacuum(str(tmp_path), 0, dry=False)
    assert not run.exists()


def test_a_record_whose_creation_was_answered_twice_is_ones_own(tmp_path, monkeypatch):
    table = str(tmp_path)
    create = files.create

    def repeated(path, data):
        create(path, data)
        return create(path, data)  # the answer to the first request was lost

    monkeypatch.setattr(files, "create", repeated)
    assert records.create(table, NIGHT)
    assert not records.create(table, dataclasses.replace(NIGHT, when="2026-01-01T00:00:01Z"))


def test_a_store_that_cannot_commit_is_refused(monkeypatch):
    monkeypatch.setattr(object_stores, "store_of", lambda _: beam_store.BeamStore())
    with pytest.raises(
        ConfigError, match="hdfs://host/table: Delta tables can be on a disk, or at gs"
    ):
        table_place.require_place("hdfs://host/table")


@pytest.mark.parametrize(
    "name", ["h#1", "q?x", "p%20q", "a\tb", "a//b", "/a", "a//", "a/./b", "a/../b", "..", "a/."]
)
@pytest.mark.parametrize("command", ["night", "status", "vacuum"])
def test_a_name_that_deltalake_takes_for_another_place_is_refused(
    name, command, tmp_path, monkeypatch
):
    monkeypatch.setattr(object_stores, "store_of", lambda _: pytest.fail("the store was asked"))
    nightly.write_config(tmp_path)
    words = ["--config", "nightly.yaml", "--output"] if command == "night" else [command]
    status, _, errors = runs.run_here("refresh", *words, f"s3://bucket/{name}", cwd=tmp_path)
    assert status == 2
    assert "expected a table's name without '#'" in errors
    assert errors.count("\n") == 1


def test_a_night_whose_lease_was_lost_creates_no_record(tmp_path, monkeypatch):
    table = str(tmp_path)
    kept = [True]
    lease = SimpleNamespace(is_kept=lambda: kept[0])
    monkeypatch.setitem(table_lock._leases, table, lease)
    commit(table, ReadyNight(NIGHT, [], {}, []))
    kept[0] = False
    later = nightly.record(2)
    text = "was not written for over 5 minutes.*nothing was committed; run the same command again"
    with pytest.raises(WorkerError, match=text):
        commit(table, ReadyNight(later, [], {}, []))
    with pytest.raises(WorkerError, match=text):
        quiet_night.commit_quietly(table, NIGHT, "compact", {}, {}, None)
    assert records.numbers(table) == [1]


def test_a_lease_of_a_table_is_known_while_it_is_held(monkeypatch):
    lease = SimpleNamespace(is_kept=lambda: False)
    monkeypatch.setattr(leases, "held", lambda *_, **__: contextlib.nullcontext(lease))
    with table_lock.held("s3://bucket/t", alone=False), pytest.raises(WorkerError, match="lease"):
        table_lock.require_kept("s3://bucket/t")
    table_lock.require_kept("s3://bucket/t")


def test_a_night_whose_files_are_gone_is_made_again_without_its_record(tmp_path, monkeypatch):
    nightly.write_help(tmp_path, "one", range(20))
    nightly.write_config(tmp_path, of='corpora:\n- {corpus: help, input: "help/*.tsv"}\n')
    nightly.good_night(tmp_path)
    nightly.write_help(tmp_path, "two", range(20, 30))

    def lose(table, record):
        for name, change in record.tables.items():
            for entry in change["add"]:
                (tmp_path / table / name / entry["path"]).unlink()
        return create(table, record)

    create = records.create
    with monkeypatch.context() as patch:
        patch.setattr(records, "create", lose)
        assert nightly.night(tmp_path)[0] == 1
    status, _, errors = nightly.night(tmp_path)
    assert status == 1
    assert "cannot be committed" in errors
    assert "is not there any more; was it deleted?" in errors
    (tmp_path / "table/_refresh/nights/00000002.json").unlink()
    nightly.good_night(tmp_path)
    assert len(nightly.rows(tmp_path / "table")) == 30
    assert runs.run_well_here("refresh", "verify", "table", cwd=tmp_path)


@pytest.mark.parametrize("knows", [True, False])
def test_a_store_that_writes_over_what_it_should_only_create_is_refused(knows, monkeypatch):
    held = {}

    def put_absent(path, data):
        is_new = path not in held
        if is_new or not knows:
            held[path] = data
        return is_new or not knows

    store = SimpleNamespace(put_absent=put_absent, delete=held.pop)
    monkeypatch.setattr(object_stores, "store_of", lambda _: store)
    if knows:
        records.require_creation("s3://bucket/table")
    else:
        with pytest.raises(ConfigError, match=r"s3://bucket/table: .* \(If-None-Match\)"):
            records.require_creation("s3://bucket/table")
    assert not held


def test_the_first_night_in_a_store_asks_whether_it_can_be_committed(tmp_path, monkeypatch):
    asked = []

    def refuse(table):
        asked.append(table)
        raise ConfigError("cannot")

    monkeypatch.setattr(records, "require_creation", refuse)
    nightly.write_help(tmp_path, "one", range(5))
    nightly.write_config(tmp_path, of='corpora:\n- {corpus: help, input: "help/*.tsv"}\n')
    nightly.good_night(tmp_path, "--plan_only")
    assert nightly.night(tmp_path)[0] == 2
    assert asked == ["table"]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("403 Forbidden", ConfigError),
        ("401 Unauthorized", ConfigError),
        ("The operation lacked the necessary privileges to complete for path a", ConfigError),
        ("503 Slow Down", WorkerError),
    ],
)
@pytest.mark.parametrize(
    ("call", "act"),
    [
        ("is_deltatable", lambda: tables.open_table("place", "tagged")),
        ("get_add_actions", lambda: tables.at_version("place", "tagged", 0)),
        ("transaction_version", lambda: tables._is_applied("place", "tagged", 1)),
    ],
)
def test_what_deltalake_raises_is_told_in_one_line(said, kind, call, act, monkeypatch):
    def fail(*_, **__):
        raise OSError(
            f"Generic S3 error\n   \x1b[31m↳\x1b[0m Error\n    \x1b[31m↳\x1b[0m {said}\n\n"
        )

    opened = SimpleNamespace(get_add_actions=fail, transaction_version=fail)
    table = mock.Mock(return_value=opened, is_deltatable=lambda *_: True)
    setattr(table if call == "is_deltatable" else opened, call, fail)
    monkeypatch.setattr("deltalake.DeltaTable", table)
    with pytest.raises(kind) as raised:
        act()
    expected = f"place/tagged: deltalake cannot use this table: Generic S3 error Error {said}"
    assert str(raised.value).endswith(expected)


def test_a_commit_that_fails_is_told_in_one_line_unless_another_process_has_done_it(monkeypatch):
    def fail(*_):
        raise OSError("Transaction failed\n   \x1b[31m↳\x1b[0m Version 3 exists")

    monkeypatch.setattr(tables, "_write_transaction", fail)
    monkeypatch.setattr(tables, "_is_applied", lambda *_: False)
    text = "t/tagged: night 1 cannot be committed: Transaction failed Version 3 exists"
    with pytest.raises(WorkerError, match=text):
        tables._commit("t", "tagged", NIGHT)
    monkeypatch.setattr(tables, "_is_applied", lambda *_: True)
    tables._commit("t", "tagged", NIGHT)


@pytest.mark.parametrize("name", ["", "tables", "tables/", "a b/ä/c.d", "..a/b.."])
def test_a_plain_name_and_a_whole_bucket_are_places_for_a_table(name, monkeypatch):
    store = SimpleNamespace(rust_options=dict, list=lambda *_, **__: iter(()))
    monkeypatch.setattr(object_stores, "store_of", lambda _: store)
    table_place.require_place(f"s3://bucket/{name}")


def test_a_path_that_deltalake_would_decode_is_refused_before_anything_is_written(
    tmp_path, monkeypatch
):
    below = tmp_path / "100%ab"
    below.mkdir()
    monkeypatch.chdir(below)
    with pytest.raises(ConfigError, match=r"table: expected a path without .*/100%ab/table"):
        table_place.require_place("table")
    table_place.require_place(str(tmp_path / "100% ü#?" / "table"))


def test_subcommands_take_options_of_beam_for_the_store(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(object_stores, "use_beam_flags", given.append)
    words = ("status", "none", "--s3_endpoint_url", "http://localhost:1")
    status, _, errors = runs.run_here("refresh", *words, cwd=tmp_path)
    assert (status, given) == (2, [["--s3_endpoint_url", "http://localhost:1"]])
    assert "there is no table here" in errors


def test_a_table_in_a_store_that_may_only_be_read_needs_no_lease(monkeypatch):
    def refuse(*_):
        raise PermissionError("read-only")

    monkeypatch.setattr(files, "write_bytes", refuse)
    monkeypatch.setattr(files, "delete", lambda _: None)
    with table_lock.reading("s3://bucket/table"):
        pass
    with pytest.raises(PermissionError), table_lock.held("s3://bucket/table", alone=False):
        pass
