"""Opening a finished run, and reading its shards one at a time."""

import re
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.errors import ConfigError, MachineError, WorkerError
from pairweave.transforms.output import run_files
from pairweave.transforms.output.finished_run import FinishedRun, run_of
from tests.makers import finished_runs

SECOND = "data/part-00001-of-00002.parquet"


def written(directory, **changes):
    """Write a run of `augment` with two shards of four rows each; return its directory."""
    output = str(directory / "run")
    finished_runs.write_run(output, **changes)
    return output


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a run that no test changes."""
    return FinishedRun.open(written(tmp_path_factory.mktemp("whole")))


@pytest.fixture
def run(whole, tmp_path):
    """Return a run whose files a test may change."""
    return FinishedRun.open(str(shutil.copytree(whole.directory, tmp_path / "run")))


def readers(run):
    """Return each way of reading all rows of a run."""
    return {
        "tables": lambda: [row for table in run.tables() for row in table.to_pylist()],
        "batches": lambda: [row for batch in run.batches() for row in batch.to_pylist()],
        "rows": lambda: list(run.rows()),
        "table": lambda: [row for name in run.names for row in run.table(name).to_pylist()],
    }


READERS = ("tables", "batches", "rows", "table")


def stored(run):
    """Return the rows of a run's files, as they are on disk."""
    paths = [Path(run.directory, name) for name in run.names]
    return [row for path in paths for row in pq.read_table(path).to_pylist()]


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_yields_all_rows_in_their_order(whole, reader):
    rows = readers(whole)[reader]()
    assert len(rows) == 8
    assert rows == stored(whole)


def test_chosen_columns_alone_are_read(whole):
    columns = ["id", "kind"]
    expected = [{name: row[name] for name in columns} for row in stored(whole)]
    assert list(whole.rows(columns)) == expected
    assert pa.concat_tables(whole.tables(columns)).to_pylist() == expected
    assert pa.Table.from_batches(whole.batches(columns)).to_pylist() == expected


def test_a_batch_has_rows_of_one_shard_and_at_most_as_many_as_asked_for(whole):
    assert [batch.num_rows for batch in whole.batches(batch_rows=3)] == [3, 1, 3, 1]
    assert [batch.num_rows for batch in whole.batches(names=[SECOND])] == [4]
    assert list(whole.rows(names=[SECOND])) == stored(whole)[4:]


def test_a_shard_is_read_only_when_its_rows_are_asked_for(run):
    Path(run.directory, SECOND).unlink()
    batches = run.batches()
    assert next(batches).num_rows == 4
    with pytest.raises(WorkerError, match=f"{SECOND}: cannot be read"):
        next(batches)
    assert next(iter(run.tables())).num_rows == 4


@pytest.mark.parametrize("reader", READERS)
def test_a_changed_shard_is_refused_by_its_hash(run, reader):
    path = Path(run.directory, SECOND)
    table = pq.read_table(path)
    pq.write_table(table.slice(1), path)
    said = (
        f"^{run.directory}/{SECOND}: expected sha256 [0-9a-f]{{64}}, found [0-9a-f]{{64}}; was it"
    )
    with pytest.raises(WorkerError, match=said):
        readers(run)[reader]()


@pytest.mark.parametrize("reader", READERS)
def test_a_missing_shard_is_named_and_is_no_fault_of_the_machine(run, reader):
    path = Path(run.directory, SECOND)
    path.unlink()
    with pytest.raises(WorkerError, match=f"^{path}: cannot be read: No such file") as caught:
        readers(run)[reader]()
    assert not isinstance(caught.value, MachineError)


@pytest.mark.parametrize("reader", READERS)
def test_without_a_check_what_is_no_parquet_is_still_named(run, reader):
    Path(run.directory, SECOND).write_bytes(b"PAR1")
    unchecked = FinishedRun.open(run.directory, checked=False)
    said = f"^{run.directory}/{SECOND}: cannot be read: .*[^.]; was it changed or moved\\? Restore"
    with pytest.raises(WorkerError, match=re.compile(said, re.DOTALL)):
        readers(unchecked)[reader]()


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"PAR1"), Path.unlink])
def test_a_first_shard_without_columns_is_named(run, damage):
    path = Path(run.directory, run.names[0])
    damage(path)
    with pytest.raises(WorkerError, match=f"^{path}: cannot be read: .*; was it changed or moved"):
        run.schema()


def test_without_a_check_a_changed_shard_is_read(run):
    path = Path(run.directory, SECOND)
    pq.write_table(pq.read_table(path).slice(1), path)
    unchecked = FinishedRun.open(run.directory, checked=False)
    assert [table.num_rows for table in unchecked.tables()] == [4, 3]


def test_a_file_that_is_not_listed_is_refused(whole):
    with pytest.raises(
        WorkerError, match=rf"^{whole.directory}/data/other: is not listed in _manifest\.json$"
    ):
        whole.table("data/other")


def test_rejects_are_read_and_checked_like_rows(run):
    name = run.rejects_name(0)
    assert run.table(name, ["reason"]).column_names == ["reason"]
    Path(run.directory, name).write_bytes(b"")
    with pytest.raises(WorkerError, match=f"{name}: expected sha256"):
        run.table(name)


def test_an_empty_run_has_columns_and_no_rows(tmp_path):
    def none(kept):
        return finished_runs.tagged_data(kept.slice(0, 0))

    run = FinishedRun.open(written(tmp_path, data=none))
    assert run.filled == []
    assert list(run.rows()) == []
    assert [table.num_rows for table in run.tables()] == [0, 0]
    assert sum(batch.num_rows for batch in run.batches()) == 0
    assert run.schema().names == schemas.TAGGED.names


def test_shards_without_rows_are_not_among_the_filled_ones(tmp_path):
    made = []

    def first(kept):
        made.append(kept)
        return finished_runs.tagged_data(kept if len(made) == 1 else kept.slice(0, 0))

    run = FinishedRun.open(written(tmp_path, data=first))
    assert run.filled == run.names[:1]


def test_what_the_manifest_says_of_a_run(whole):
    assert whole.job == "augment"
    assert whole.settings["seed"] == 1
    assert whole.names == [SECOND.replace("00001-of", "00000-of"), SECOND]
    sizes = [Path(whole.directory, name).stat().st_size for name in whole.names]
    assert whole.data_bytes == sum(sizes)
    assert whole.tags().fullmatch("<a_0>")
    assert not whole.tags().fullmatch("<b>")


def test_raw_tags_are_those_that_the_run_lists(tmp_path):
    settings = {"seed": 1, "representation": "raw"}
    run = FinishedRun.open(written(tmp_path, configuration=settings))
    assert run.tags().findall("a <a_0>b</a_0>") == ["<a_0>"]
    Path(run.directory, "symbols.txt").write_text("<b>\n")
    with pytest.raises(WorkerError, match=r"symbols\.txt: expected"):
        run.tags()


def test_links_of_a_shard_are_those_of_its_rows(tmp_path):
    counts = {"pairs": 4, "links": 4}
    output = written(tmp_path, data=finished_runs.aligned_data, counts=counts, job="align")
    run = FinishedRun.open(output)
    rows = run.links(1)
    assert rows.schema.equals(schemas.SYMMETRIZED)
    whole = run.table(SECOND).to_pylist()
    assert rows.column("id").to_pylist() == [row["id"] for row in whole]
    assert rows.column("links").to_pylist() == [row["links"] for row in whole]


def test_a_run_of_another_format_is_refused_where_its_counters_are_read(run):
    path = Path(run.directory, run_files.MANIFEST)
    manifest = {**run_files.read_json(str(path)), "format": 1_000}
    path.write_bytes(run_files.to_json(manifest))
    assert FinishedRun.open(run.directory).job == "augment"
    with pytest.raises(ConfigError, match=r"format: expected .*, found 1000: a later pairweave"):
        FinishedRun.open(run.directory, counts=True)


def test_a_manifest_that_lists_a_shard_without_its_hash_is_refused(run):
    path = Path(run.directory, run_files.MANIFEST)
    manifest = run_files.read_json(str(path))
    manifest["files"] = [entry for entry in manifest["files"] if entry["name"] != SECOND]
    path.write_bytes(run_files.to_json(manifest))
    with pytest.raises(ConfigError, match=f"does not list {SECOND} with its hash"):
        FinishedRun.open(run.directory)


def test_a_manifest_that_lists_a_file_elsewhere_is_refused(run):
    path = Path(run.directory, run_files.MANIFEST)
    manifest = run_files.read_json(str(path))
    manifest["files"].append({"name": "../other.parquet", "bytes": 1, "sha256": "0" * 64})
    path.write_bytes(run_files.to_json(manifest))
    with pytest.raises(ConfigError, match=r"lists '\.\./other\.parquet', which is not the name"):
        FinishedRun.open(run.directory)


def test_a_run_that_is_not_finished_is_named_as_such(run):
    Path(run.directory, run_files.PLAN).write_text("{}")
    Path(run.directory, run_files.MANIFEST).unlink()
    with pytest.raises(ConfigError, match=r"this run is not finished, it has no _manifest\.json"):
        FinishedRun.open(run.directory)


def test_no_run_contains_a_link_that_leads_to_itself(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    assert run_of(str(tmp_path / "loop" / "part")) is None
