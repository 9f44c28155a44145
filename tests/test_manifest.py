import hashlib
import json

import pyarrow as pa
import pytest

from tests.rows import batch, row
from transforms import files, receipt_files, run_files, schemas, write
from transforms.claim import claim
from transforms.commit import commit_run
from transforms.errors import ConfigError, WorkerError
from transforms.shards import merge_rows


def plan(**changes):
    base = {
        "job": "augment",
        "version": "1",
        "signature": "s",
        "configuration": {"seed": 1},
        "corpora": [
            {"name": "c", "source_lang": "en", "target_lang": "de", "licence": None},
        ],
        "inputs": [],
        "units": [{"index": 0, "file": "f", "line": 1, "rows": 3}],
        "notices": [],
        "rows": 3,
        "shards": 1,
        "models": [],
    }
    return {**base, **changes}


@pytest.fixture
def written(tmp_path):
    """A run with one shard of three rows, not yet committed."""
    output = str(tmp_path / "out")
    document = plan()
    claim(output, document)
    digest = run_files.plan_digest(document)
    rows = [row("a", "b", line=1), row("a", "b", line=2), row("c", "d", line=3)]
    kept, rejected = merge_rows([pa.Table.from_batches([batch(*rows)])])
    data = kept.select(["id", "source"])
    config = write.WriteConfig(output, 1, digest, "s")
    write.write_shard(0, kept, rejected, data, {"plain rows": 2}, config)
    receipt_files.write_unit_receipt(output, digest, 0, 3)
    return output


def test_a_directory_belongs_to_one_plan(tmp_path):
    output = str(tmp_path)
    claim(output, plan())
    claim(output, plan())
    with pytest.raises(ConfigError, match=r"configuration.seed was 1, is now 2"):
        claim(output, plan(configuration={"seed": 2}))


def test_the_manifest_counts_and_names_every_file(written):
    made = commit_run(written, {"symbols.txt": b"<a_0>\n"})
    assert made["rows"] == {"read": 3, "kept": 2, "rejected": 1}
    assert made["rejected"] == {"duplicate": 1}
    assert made["counts"] == {"plain rows": 2}
    names = [entry["name"] for entry in made["files"]]
    part = "part-00000-of-00001.parquet"
    assert names == ["README.md", part, f"rejects/{part}", "report.html", "symbols.txt"]
    for entry in made["files"]:
        data = files.read_bytes(files.join(written, entry["name"]))
        assert (len(data), hashlib.sha256(data).hexdigest()) == (entry["bytes"], entry["sha256"])
    assert json.loads(files.read_bytes(files.join(written, "_manifest.json"))) == made


def test_a_changed_shard_is_found_and_made_again(written):
    digest = run_files.plan_digest(plan())
    assert receipt_files.finished_shards(written, digest, 1) == {0}
    path = files.join(written, write.shard_name(0, 1))
    files.write_bytes(path, files.read_bytes(path)[:-1] + b"x")
    assert receipt_files.finished_shards(written, digest, 1) == frozenset()
    with pytest.raises(WorkerError, match="part-00000-of-00001"):
        commit_run(written, {})


def test_a_missing_shard_is_not_committed(written):
    files.delete(files.join(written, write.shard_receipt_name(0, 1)))
    with pytest.raises(WorkerError, match="no usable receipt"):
        commit_run(written, {})
    assert not files.exists(files.join(written, "_manifest.json"))


@pytest.mark.parametrize("rows", [2, 4])
def test_a_lost_or_added_row_stops_the_commit(written, rows):
    receipt_files.write_unit_receipt(written, run_files.plan_digest(plan()), 0, rows)
    with pytest.raises(WorkerError, match=rf"3 rows planned, {rows} read, 3 kept or rejected"):
        commit_run(written, {})


def test_receipts_of_another_plan_count_for_nothing(written):
    assert receipt_files.finished_shards(written, "0" * 64, 1) == frozenset()
    assert receipt_files.unread_units(written, "0" * 64, 1) == {0}
    assert receipt_files.unread_units(written, run_files.plan_digest(plan()), 1) == frozenset()


def test_a_run_that_keeps_nothing_fails_unless_allowed(tmp_path):
    for allowed in (False, True):
        output = str(tmp_path / str(allowed))
        document = plan(
            rows=1,
            units=[{"index": 0, "file": "f", "line": 1, "rows": 1}],
        )
        claim(output, document)
        digest = run_files.plan_digest(document)
        rows = batch(row("a", "b", reason="too_long"))
        kept, rejected = merge_rows([pa.Table.from_batches([rows])])
        config = write.WriteConfig(output, 1, digest, "s")
        write.write_shard(0, kept, rejected, kept.select(["id"]), {}, config)
        receipt_files.write_unit_receipt(output, digest, 0, 1)
        if allowed:
            assert commit_run(output, {}, allow_empty=True)["rows"]["kept"] == 0
        else:
            with pytest.raises(ConfigError, match=r"no pair of 1 was kept \(too_long 1\)"):
                commit_run(output, {})


def test_the_same_table_gives_the_same_bytes_in_any_chunks():
    whole = pa.table({"id": ["a", "b", "c"]})
    parts = pa.concat_tables([whole.slice(0, 1), whole.slice(1)])
    assert write.encode_parquet(whole, "s") == write.encode_parquet(parts, "s")


def test_a_table_of_the_wrong_shape_is_refused_by_name():
    with pytest.raises(WorkerError, match="column corpus is missing"):
        schemas.require(pa.table({"id": ["a"]}), schemas.PAIRS)
