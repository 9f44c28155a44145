"""The chain of a table: records, seals, Delta's logs and all that they name, and who is refused."""

import json
import shutil

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from deltalake import DeltaTable

from pairweave.pipelines.refresh import inner_runs
from pairweave.pipelines.refresh.chain import (
    hashed_reads,
    inner_notes,
    kept_models,
    live_files,
    log_seals,
    records,
    tables,
)
from pairweave.pipelines.refresh.upkeep import chain_problems, verify
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.storage import hashed_files
from tests.makers import corpora, nightly, runs

OF_HELP = 'corpora:\n- {corpus: help, input: "help/*.tsv"}\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a directory with the table of two nights."""
    directory = tmp_path_factory.mktemp("chain")
    nightly.write_help(directory, "one", range(20), ["\tohne Quelle"])
    nightly.write_config(directory, of=OF_HELP)
    nightly.good_night(directory)
    nightly.write_help(directory, "two", range(30, 35))
    nightly.good_night(directory)
    return directory


@pytest.fixture
def directory(made, tmp_path):
    """Return a copy of it, whose files have their times."""
    copied = tmp_path / "copy"
    shutil.copytree(made, copied)
    return copied


def stored(table, night=2):
    """Return the JSON of a record."""
    return json.loads((table / "_refresh/nights" / records.name_of(night)).read_text())


def store(table, found, name="00000002.json"):
    """Write the JSON of a record with a checksum that fits it."""
    found = {key: value for key, value in found.items() if key != "checksum"}
    found["checksum"] = hashed_reads.digest_of(records.to_json(found))
    (table / "_refresh/nights" / name).write_bytes(records.to_json(found))


def leaves(value, place=()):
    """Yield the places of all values in some JSON, lists and objects among them."""
    if place and place[:2] != ("settings", "options"):
        yield place
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in parts:
        if isinstance(part, dict | list):
            yield from leaves(part, (*place, key))
        elif place[:2] != ("settings", "options"):
            yield (*place, key)


def with_value(found, place, value):
    """Return JSON with another value at a place."""
    changed = json.loads(json.dumps(found))
    part = changed
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return changed


@pytest.mark.parametrize("wrong", [["a"], {"a": 1}, 1.5, "a", True, None, -1])
def test_a_value_of_another_type_in_a_record_is_refused_by_file_and_field(made, tmp_path, wrong):
    table = tmp_path / "table"
    (table / "_refresh/nights").mkdir(parents=True)
    actual = stored(made / "table")
    may_be_null = {"accepted", "tombstones", "licence", "sealed", "gives_more"}
    may_be_text = {"operation", "role", "name", "stamp", "corpus", "source_lang", "target_lang"}
    may_be_text |= {"licence", "reading", "key", "gate", "accepted", "release"}
    refused = 0
    for place in leaves(actual):
        last = place[-1] if isinstance(place[-1], str) else place[-2]
        before = json.loads(json.dumps(actual))
        for key in place:
            before = before[key]
        is_number = isinstance(before, float | int) and not isinstance(before, bool)
        if place == ("checksum",) or type(before) is type(wrong) is not str:
            continue
        if (wrong is None and last in may_be_null) or (wrong == "a" and last in may_be_text):
            continue
        if is_number and isinstance(wrong, float | int) and wrong is not True:
            continue  # counts and shares are told apart below
        if place[:1] == ("settings",) and wrong == "a":
            continue
        store(table, with_value(actual, place, wrong))
        with pytest.raises(ConfigError, match=r"nights/00000002\.json: ") as caught:
            records.read(str(table), 2)
        assert "\n" not in str(caught.value), place
        refused += 1
    assert refused > 60


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("metrics", "table", "pairs"), "40", r"metrics\.table\.pairs: expected a whole number"),
        (("metrics", "table", "pairs"), 1.5, r"metrics\.table\.pairs: expected a whole number"),
        (
            ("metrics", "new", "read"),
            -1,
            r"metrics\.new\.read: expected 0 or more",
        ),
        (("versions", "other"), 1, "expected versions and tables of files, provenance, rejects"),
        (("job",), "translate", "expected job to be one of augment"),
        (("tables", "tagged", "add", 0, "path"), "../../x.parquet", r"tables\.tagged\.add\[0\]"),
        (("tables", "tagged", "add", 0, "partition"), {}, "in the directories of their partition"),
        (("tables", "tagged", "add", 0, "stats"), "no", r"add\[0\]\.stats: expected Delta's"),
        (("tombstones",), "../x", r"tombstones: expected"),
        (("models",), {"en-de": "/etc"}, r"models\.en-de: expected"),
        (("live",), {}, "in live the digest of each table"),
        (("previous",), None, "previous, the SHA-256 of the record before"),
        (("when",), "yesterday", "when: expected"),
        (("more",), 1, "more: is unknown to this version of pairweave"),
        (("format",), 1, "has format 1, and this version of pairweave reads format 2"),
        (("format",), 3, "has format 3, and this version of pairweave reads format 2"),
        (("night",), 9, "night: expected 2, as its name says, got 9"),
    ],
)
def test_a_record_that_cannot_be_is_refused_before_anything_is_written(
    directory, place, value, message
):
    table = directory / "table"
    store(table, with_value(stored(table), place, value))
    for name in ("tagged", "provenance", "files"):
        (table / name / "_delta_log/00000000000000000001.json").unlink()
    (table / "_refresh/seals/00000002.json").unlink()
    before = runs.tree_digests(table)
    status, _, errors = nightly.night(directory)
    assert status == 2
    with pytest.raises(ConfigError, match=message):
        records.read(str(table), 2)
    assert "00000002.json: " in errors
    assert errors.count("\n") == 1
    assert runs.tree_digests(table) == before


@pytest.mark.parametrize("data", [b"{", b"[1]"])
def test_a_record_that_is_no_json_object_is_refused_by_its_path_and_with_advice(data):
    with pytest.raises(ConfigError, match=r"^t/00000001\.json: .* Restore it from a backup: "):
        records.parse("t/00000001.json", data, 1)


def test_a_record_with_a_file_whose_partition_lacks_a_column_is_refused(made, tmp_path):
    actual = stored(made / "table")
    (entry,) = actual["tables"]["provenance"]["add"]
    partition = {"target_lang": entry["partition"]["target_lang"]}
    path = entry["path"].replace("source_lang=en", "source_lang=None")
    place = ("tables", "provenance", "add", 0)
    actual = with_value(actual, place, {**entry, "partition": partition, "path": path})
    (tmp_path / "_refresh/nights").mkdir(parents=True)
    store(tmp_path, actual)
    with pytest.raises(ConfigError, match=r"tables\.provenance: .* directories of their partition"):
        records.read(str(tmp_path), 2)


def test_a_record_that_follows_another_version_is_refused_before_any_table_changes(directory):
    table = directory / "table"
    actual = stored(table)
    actual["versions"]["tagged"] = 5
    store(table, actual)
    (table / "_refresh/seals/00000002.json").unlink()
    for name in ("tagged", "provenance", "files"):
        (table / name / "_delta_log/00000000000000000001.json").unlink()
    before = runs.tree_digests(table)
    status, _, errors = nightly.night(directory)
    assert status == 2
    assert "table/tagged is at version 0, and the record of night 2 follows version 4" in errors
    assert runs.tree_digests(table) == before


def test_the_history_of_a_table_is_told_as_json_too(made):
    words = ("refresh", "history", "table", "--format", "json")
    nights = json.loads(runs.run_well_here(*words, cwd=made))
    assert [night["night"] for night in nights] == [1, 2]
    assert [night["metrics"]["table"]["pairs"] for night in nights] == [20, 25]
    assert json.loads(runs.run_well_here(*words, "--last", 1, cwd=made)) == nights[1:]


def test_no_record_is_created_that_no_night_could_read(tmp_path):
    with pytest.raises(ConfigError, match="job to be one of"):
        records.create(str(tmp_path), nightly.record(job="none"))
    assert not list(tmp_path.iterdir())


def test_an_earlier_record_or_seal_with_a_checksum_of_its_own_is_refused(directory):
    table = directory / "table"
    actual = stored(table, 1)
    store(table, {**actual, "when": "2020-01-01T00:00:00Z"}, "00000001.json")
    last = records.existing(str(table))
    with pytest.raises(ConfigError, match=r"00000001\.json: is not the record that the next night"):
        list(records.back_from(str(table), last))
    status, _, errors = runs.run_here("refresh", "verify", "table", cwd=directory)
    assert (status, "00000001.json: is not the record" in errors) == (1, True)
    store(table, actual, "00000001.json")
    seal = log_seals.read(str(table), 1)
    other = seal.model_copy(update={"logs": {}})
    (table / "_refresh/seals/00000001.json").write_bytes(other.to_json())
    status, _, errors = runs.run_here("refresh", "verify", "table", cwd=directory)
    assert (status, "00000001.json: is not the seal that night 2 followed" in errors) == (1, True)


def test_verify_reads_on_past_a_damaged_record(directory):
    for night in (1, 2):
        (directory / f"table/_refresh/nights/0000000{night}.json").write_text("{")
    nights, problems = chain_problems.read_chain(str(directory / "table"))
    assert nights == []
    assert ["00000002.json: " in problems[0], "00000001.json: " in problems[1]] == [True, True]


def test_verify_names_a_damaged_file_of_a_model(tmp_path):
    packed = hashed_files.with_hashes({"weights": b"12345"}, {"aligner": "hmm"})
    hashed_files.write(str(tmp_path / "run/models/hmm"), packed)
    place = kept_models.keep(str(tmp_path), str(tmp_path / "run"), ("en", "de"))
    about = hashed_reads.digest_of(packed["about.json"])
    state = {f"{place}/about.json": about}
    assert records.create(str(tmp_path), nightly.record(models={"en-de": place}, state=state))
    seals_apart = chain_problems.read_chain(str(tmp_path))[1]
    (tmp_path / place / "weights").write_bytes(b"12346")
    (more,) = [
        each for each in chain_problems.read_chain(str(tmp_path))[1] if each not in seals_apart
    ]
    assert f"{place}/weights: " in more


def test_the_takedowns_of_a_table_that_lacks_an_earlier_record_go_into_a_new_one(directory):
    (directory / "list.txt").write_text(f"{corpora.sentence(3)[0]}\n")
    runs.run_well_here("refresh", "takedown", "table", "list.txt", cwd=directory)
    (directory / "table/_refresh/nights/00000001.json").unlink()
    status, _, errors = nightly.night(directory)
    assert (status, "00000001.json: is missing, and later nights follow it" in errors) == (2, True)
    nightly.good_night(directory, "--tombstones_of", "table", table="new")
    assert corpora.sentence(3)[0] not in nightly.sources(directory / "new")
    assert len(nightly.ids(directory / "new")) == 24


def test_a_last_record_that_its_seal_was_not_made_for_is_refused(directory):
    table = directory / "table"
    store(table, {**stored(table), "accepted": "by nobody"})
    with pytest.raises(ConfigError, match=r"nights/00000002\.json: its content is not what"):
        log_seals.last_night(str(table))


def test_a_night_that_was_stopped_before_its_seal_is_sealed_by_the_next_command(directory):
    table = directory / "table"
    seal = table / "_refresh/seals/00000002.json"
    whole = seal.read_bytes()
    seal.unlink()
    assert "night 2" in runs.run_well_here("refresh", "status", "table", cwd=directory)
    assert not seal.exists()
    assert "nothing has changed" in nightly.good_night(directory)
    assert seal.read_bytes() == whole


@pytest.mark.parametrize("words", [("takedown", "table", "list.txt"), ("compact", "table")])
def test_a_night_that_was_stopped_before_all_tables_had_it_is_finished_first(directory, words):
    table = directory / "table"
    (table / "_refresh/seals/00000002.json").unlink()
    (table / "provenance/_delta_log/00000000000000000001.json").unlink()
    (directory / "list.txt").write_text(f"{corpora.sentence(3)[0]}\n")
    whole = nightly.sources(table)
    runs.run_well_here("refresh", *words, cwd=directory)
    assert DeltaTable(str(table / "provenance")).version() == 2
    gone = {corpora.sentence(3)[0]} if words[0] == "takedown" else set()
    assert nightly.sources(table) == whole - gone
    runs.run_well_here("refresh", "verify", "table", cwd=directory)


def test_a_night_without_its_seal_refuses_another_seal_of_the_night_before(directory):
    table = directory / "table"
    (table / "_refresh/seals/00000002.json").unlink()
    other = log_seals.read(str(table), 1).model_copy(update={"logs": {}})
    (table / "_refresh/seals/00000001.json").write_bytes(other.to_json())
    status, _, errors = nightly.night(directory)
    said = "00000001.json: is not the seal that night 2 followed"
    assert (status, said in errors) == (2, True), errors


def test_a_log_that_differs_from_the_records_is_refused_even_without_a_seal(directory):
    table = directory / "table"
    (table / "_refresh/seals/00000002.json").unlink()
    log = table / "provenance/_delta_log/00000000000000000001.json"
    whole = log.read_text()
    (size,) = [e["bytes"] for e in stored(table)["tables"]["provenance"]["add"]]
    changes = {f'"size":{size}': f'"size":{size + 1}', '\\"night\\":2': '\\"night\\":1'}
    changes |= {'"add":{"path":"source_lang=en': '"add":{"path":"source_lang=fr'}
    for old, new in changes.items():
        assert old in whole
        log.write_text(whole.replace(old, new))
        status, _, errors = nightly.night(directory)
        assert (status, "table/provenance/_delta_log: " in errors) == (2, True), errors
        assert not (table / "_refresh/seals/00000002.json").exists()


def test_an_older_version_is_read_by_the_seal_of_its_night(directory):
    table = directory / "table"
    words = ("refresh", "export", "table", "--night", "1", "--output", "out")
    runs.run_well_here(*words, cwd=directory)
    assert len(runs.rows_of(directory / "out")) == 20
    log = table / "tagged/_delta_log/00000000000000000000.json"
    log.write_text(log.read_text().replace('"path":"', '"path":"x/'))
    shutil.rmtree(directory / "out")
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert (status, str(log.relative_to(directory)) in errors) == (2, True)


def test_a_checkpoint_of_a_log_is_sealed_and_says_what_the_records_say(directory):
    table = directory / "table"
    DeltaTable(str(table / "tagged")).create_checkpoint()
    nightly.write_help(directory, "three", range(40, 43))
    nightly.good_night(directory)
    last = records.latest(str(table))
    sealed = {name.partition("/_delta_log/")[2] for name in log_seals.read(str(table), 3).logs}
    (checkpoint,) = (table / "tagged/_delta_log").glob("*.checkpoint.parquet")
    assert checkpoint.name in sealed
    actual = tables.at_version(str(table), "tagged", last.versions["tagged"])
    assert live_files.digest_of(actual) == last.live["tagged"]
    runs.run_well_here("refresh", "verify", "table", cwd=directory)
    checkpoint.write_bytes(checkpoint.read_bytes()[:-1])
    status, _, errors = runs.run_here("refresh", "status", "table", cwd=directory)
    assert (status, checkpoint.name in errors) == (2, True)


def test_a_model_of_the_table_is_compared_with_the_record_before_it_is_used(tmp_path):
    packed = hashed_files.with_hashes({"weights": b"12345"}, {"aligner": "hmm"})
    hashed_files.write(str(tmp_path / "run/models/hmm"), packed)
    place = kept_models.keep(str(tmp_path), str(tmp_path / "run"), ("en", "de"))
    about = hashed_reads.digest_of(packed["about.json"])
    record = nightly.record(models={"en-de": place}, state={f"{place}/about.json": about})
    kept_models.require_whole(str(tmp_path), record)
    for name in ("weights", "about.json"):
        path = tmp_path / place / name
        whole = path.read_bytes()
        for damaged in (b"x" + whole[1:], whole[:-1], b"", None):
            path.unlink()
            if damaged is not None:
                path.write_bytes(damaged)
            with pytest.raises(ConfigError, match=f"{place}/{name}: "):
                kept_models.require_whole(str(tmp_path), record)
            path.write_bytes(whole)


def note(**changes):
    """Return the note of an inner run."""
    settings = {"job": "augment", "release": "0", "options": {}}
    hashes = {"known": hashed_reads.digest_of(b"k"), "taken_down": hashed_reads.digest_of(b"t")}
    made = {"settings": settings, "languages": ["en", "de"], "model": None, **hashes}
    return inner_notes.Note(**{**made, "files": [["a", "a.tsv"]], "order": ["a"], **changes})


@pytest.mark.parametrize("name", ["about.json", "known.ids", "taken_down.jsonl"])
@pytest.mark.parametrize("how", ["changed", "emptied"])
def test_what_a_run_of_a_night_was_given_is_compared_when_it_is_started_and_taken(
    tmp_path, name, how
):
    table = str(tmp_path)
    place = inner_notes.write(table, note(), b"k", b"t")
    assert [actual for actual, _ in inner_notes.read_all(table)] == [place]
    inner_notes.require_inputs(place, inner_notes.read(place))
    path = tmp_path / "_runs" / note().name / name
    path.write_bytes(b"" if how == "emptied" else path.read_bytes().replace(b"k", b"x") + b" ")
    with pytest.raises(ConfigError, match=rf"{name}: .*Delete {place} and run the same command"):
        inner_notes.write(table, note(), b"k", b"t")
    with pytest.raises(ConfigError, match=f"{name}: "):
        inner_notes.require_inputs(place, inner_notes.read(place))


def test_a_run_whose_rows_are_committed_leaves_no_directory(tmp_path):
    place = inner_notes.write(str(tmp_path), note(), b"k", b"t")
    inner_runs.delete(inner_runs.InnerRun(place, ("a",)))
    assert not list((tmp_path / "_runs").iterdir())


def test_no_night_takes_a_run_that_is_partly_deleted(tmp_path, monkeypatch):
    place = inner_notes.write(str(tmp_path), note(), b"k", b"t")
    # The process is killed before the directory is gone.
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)
    inner_runs.delete(inner_runs.InnerRun(place, ("a",)))
    assert (tmp_path / "_runs" / note().name / "known.ids").exists()
    assert not list(inner_notes.read_all(str(tmp_path)))


def test_a_run_is_of_one_pair_of_languages():
    for languages in (["en"], ["en", "de", "fr"]):
        with pytest.raises(ValueError, match="languages"):
            note(languages=languages)


def test_a_note_of_another_form_is_refused(tmp_path):
    (tmp_path / "_runs/0").mkdir(parents=True)
    for text in ('{"keys": ["a"], "settings": {}}', "[1]"):
        (tmp_path / "_runs/0/about.json").write_text(text)
        with pytest.raises(ConfigError, match=r"_runs/0/about\.json: .*\. Delete .*_runs/0 and"):
            list(inner_notes.read_all(str(tmp_path)))


@pytest.mark.parametrize("name", ["known.ids", "taken_down.jsonl", "run/data/*.parquet"])
def test_a_run_that_was_damaged_before_its_rows_are_taken_is_not_committed(
    directory, monkeypatch, name
):
    start = inner_runs._start
    damaged = []

    def damaging(inner, request, extra):
        start(inner, request, extra)
        damaged.extend(sorted((directory / inner.directory).glob(name))[:1])
        damaged[0].write_bytes(b"x" + damaged[0].read_bytes()[1:])

    nightly.write_help(directory, "three", range(40, 43))
    before = runs.tree_digests(directory / "table")
    with monkeypatch.context() as patch:
        patch.setattr(inner_runs, "_start", damaging)
        status, _, errors = nightly.night(directory)
    assert (status, f"{damaged[0].name}: is missing or differs" in errors) == (2, True), errors
    after = runs.tree_digests(directory / "table")
    assert {key: value for key, value in after.items() if not key.startswith("_runs/")} == before
    place = next((directory / "table/_runs").glob("*/about.json")).parent
    assert f"Delete table/_runs/{place.name} and run the same command again" in errors
    shutil.rmtree(place)
    assert "3 new" in nightly.good_night(directory)


def test_a_shard_of_an_inner_run_is_compared_with_its_manifest(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/part.parquet").write_bytes(b"another")
    manifest = {"files": [{"name": "data/part.parquet", "sha256": "0" * 64}]}
    run = FinishedRun(str(tmp_path), manifest)
    for name in ("data/part.parquet", "data/none.parquet"):
        with pytest.raises(ConfigError, match=f"{name}: is missing or differs"):
            inner_notes.read_shard(run, name)


def reads_of(monkeypatch, table):
    """Return the list of the log files that are read from now on."""
    result, read = [], hashed_reads.files.read_bytes

    def noting(path):
        if "/_delta_log/" in path:
            result.append(path.removeprefix(f"{table}/"))
        return read(path)

    monkeypatch.setattr(hashed_reads.files, "read_bytes", noting)
    return result


def test_a_file_of_a_log_is_read_once_however_many_nights_are_verified(directory, monkeypatch):
    nightly.write_help(directory, "three", range(40, 43))
    nightly.good_night(directory)
    table = directory / "table"
    sealed = [*(log_seals.read(str(table), night).logs for night in (1, 2, 3))]
    assert len(sealed[0]) < len(sealed[1]) < len(sealed[2])
    read = reads_of(monkeypatch, table)
    assert verify.verify(str(table)).problems == []
    assert sorted(read) == sorted(sealed[2])


def test_each_table_is_compared_with_the_versions_and_files_of_the_records(made, monkeypatch):
    def told(table, name, last, *expected):
        assert (table, last.night) == (str(made / "table"), 2)
        return [f"{name}: {sum(map(len, expected))} files"]

    for name in ("_version_problems", "_log_problems"):
        monkeypatch.setattr(verify, name, told)
    found = [told.partition(":") for told in verify.verify(str(made / "table")).problems]
    assert [name for name, *_ in found] == [
        name for name in ("files", "provenance", "rejects", "tagged") for _ in range(2)
    ]
    assert [count for *_, count in found[::2]] == [" 0 files"] * 4
    assert " 0 files" not in [count for *_, count in found[1::2]]


@pytest.mark.parametrize("damage", ["gone", "changed"])
def test_a_damaged_file_of_a_log_is_read_once_and_named(directory, monkeypatch, damage):
    table = directory / "table"
    name = "tagged/_delta_log/00000000000000000000.json"
    if damage == "gone":
        (table / name).unlink()
    else:
        (table / name).write_bytes((table / name).read_bytes() + b"\n")
    read = reads_of(monkeypatch, table)
    (problem,) = verify.verify(str(table)).problems
    assert problem.startswith(f"{table / name}: {'is missing' if damage == 'gone' else 'its '}")
    assert read.count(name) == 1


def test_files_of_a_store_are_read_once_by_several_threads(monkeypatch):
    held, read = {"s3://b/one": b"1", "s3://b/two": b"2"}, []

    def reading(path):
        read.append(path)
        if path not in held:
            raise FileNotFoundError(path)
        return held[path]

    monkeypatch.setattr(hashed_reads.files, "read_bytes", reading)
    expected = {path: hashed_reads.digest_of(data) for path, data in held.items()}
    known = {}
    hashed_reads.require_all(expected, known)
    with pytest.raises(hashed_reads.GoneError, match=r"^s3://b/three: is missing"):
        hashed_reads.require_all({**expected, "s3://b/three": "0" * 64}, known)
    with pytest.raises(ConfigError, match=r"^s3://b/one: its content differs"):
        hashed_reads.require_all({**expected, "s3://b/one": "0" * 64}, known)
    assert sorted(read) == ["s3://b/one", "s3://b/three", "s3://b/two"]
