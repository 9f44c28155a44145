import copy
import hashlib
import json
import os
from pathlib import Path

import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.commit.claim import claim
from pairweave.transforms.commit.commit import commit_run
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.output import receipt_checks, receipts, run_files, write
from pairweave.transforms.output.document_notices import BandEdge, ExchangedSides
from pairweave.transforms.shards.merge import merge_rows
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.storage import disk_files, files
from tests.makers.rows import batch, row


def plan(**changes):
    """Make the plan of a run of three rows, with some fields changed."""
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
    config = run_files.WriteConfig(output, 1, digest, "s")
    shard = Shard(0, kept, rejected, data)
    write.write_shard(write.ShardOutput(shard, data, {"plain_rows": 2}), config)
    receipts.write_unit_receipt(output, digest, 0, 3)
    return output


def test_a_directory_belongs_to_one_plan(tmp_path):
    output = str(tmp_path)
    claim(output, plan())
    claim(output, plan())
    with pytest.raises(ConfigError, match=r"configuration.seed was 1, is now 2"):
        claim(output, plan(configuration={"seed": 2}))


@pytest.mark.parametrize("name", ["hmm", "hmm-1", "hmm-half-0"])
def test_models_that_no_plan_explains_are_never_taken_over(tmp_path, name):
    output = str(tmp_path)
    fitting = plan(models=["models/hmm"])
    about = f"models/{name}/about.json"
    files.write_bytes(files.join(output, about), b"{}")
    with pytest.raises(ConfigError, match=rf"already has {about}"):
        claim(output, fitting)
    claim(output, plan())  # it fits nothing, so it takes no model for its own
    files.delete(files.join(output, "_plan.json"))
    files.delete(files.join(output, about))
    claim(output, fitting)
    files.write_bytes(files.join(output, about), b"{}")
    claim(output, fitting)  # a resumed run finds its own


def test_the_manifest_counts_and_names_every_file(written):
    made = commit_run(written, {"symbols.txt": b"<a_0>\n"})
    assert made["rows"] == {"read": 3, "kept": 2, "rejected": 1}
    assert made["rejected"] == {"duplicate": 1}
    assert made["counts"] == {"plain_rows": 2}
    names = [entry["name"] for entry in made["files"]]
    part = "part-00000-of-00001.parquet"
    assert names == ["README.md", f"data/{part}", f"rejects/{part}", "report.html", "symbols.txt"]
    for entry in made["files"]:
        data = files.read_bytes(files.join(written, entry["name"]))
        assert (len(data), hashlib.sha256(data).hexdigest()) == (entry["bytes"], entry["sha256"])
    assert json.loads(files.read_bytes(files.join(written, "_manifest.json"))) == made


def test_a_shard_that_was_found_whole_is_not_read_again_but_needs_its_receipt(written, monkeypatch):
    digest = run_files.plan_digest(plan())
    checked = []
    monkeypatch.setattr(receipts, "check_file", lambda _, entry: checked.append(entry["name"]))
    whole = receipts.finished_shards(written, digest, 1)
    assert whole == {0}
    assert checked
    checked.clear()
    assert receipts.finished_shards(written, digest, 1, known=whole) == {0}
    assert not checked
    files.delete(files.join(written, run_files.shard_receipt_name(0, 1)))
    assert receipts.finished_shards(written, digest, 1, known=whole) == frozenset()


def test_the_manifest_says_where_an_alignment_touches_the_edge_of_its_band(written):
    digest = run_files.plan_digest(plan())
    receipts.write_unit_receipt(written, digest, 0, 3, edge=BandEdge(4, 2_900, 12))
    (notice,) = commit_run(written, {})["notices"]
    assert notice.startswith("f: the alignment touches the edge")
    assert "at 12 source sentences, from line 4 to line 2,900" in notice
    assert "[band_edge]" in notice


def test_the_manifest_says_which_documents_look_exchanged(written):
    digest = run_files.plan_digest(plan())
    receipts.write_unit_receipt(written, digest, 0, 3, exchanged=ExchangedSides(4, 2))
    (notice,) = commit_run(written, {})["notices"]
    assert notice.startswith("f: the sides of 2 documents look exchanged (from line 4)")
    assert notice.endswith("[exchanged_sides]")


def test_a_changed_shard_is_found_and_made_again(written):
    digest = run_files.plan_digest(plan())
    assert receipts.finished_shards(written, digest, 1) == {0}
    path = files.join(written, run_files.data_name(0, 1))
    files.write_bytes(path, files.read_bytes(path)[:-1] + b"x")
    assert receipts.finished_shards(written, digest, 1) == frozenset()
    with pytest.raises(WorkerError, match="part-00000-of-00001"):
        commit_run(written, {})


def test_a_missing_shard_is_not_committed(written):
    files.delete(files.join(written, run_files.shard_receipt_name(0, 1)))
    with pytest.raises(WorkerError, match="no usable receipt"):
        commit_run(written, {})
    assert not files.exists(files.join(written, "_manifest.json"))


@pytest.mark.parametrize("rows", [2, 4])
def test_a_lost_or_added_row_stops_the_commit(written, rows):
    receipts.write_unit_receipt(written, run_files.plan_digest(plan()), 0, rows)
    with pytest.raises(WorkerError, match=rf"3 rows planned, {rows} read, 3 kept or rejected"):
        commit_run(written, {})


def test_receipts_of_another_plan_count_for_nothing(written):
    assert receipts.finished_shards(written, "0" * 64, 1) == frozenset()
    assert receipts.unread_units(written, "0" * 64, 1) == {0}
    assert receipts.unread_units(written, run_files.plan_digest(plan()), 1) == frozenset()


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
        config = run_files.WriteConfig(output, 1, digest, "s")
        shard = Shard(0, kept, rejected, kept)
        write.write_shard(write.ShardOutput(shard, kept.select(["id"]), {}), config)
        receipts.write_unit_receipt(output, digest, 0, 1)
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


def test_a_commit_leaves_no_temporary_file_of_a_dead_writer(written):
    directories = [
        Path(written),
        *(Path(written, name) for name in ("data", "rejects", "_receipts")),
    ]
    for directory in directories:
        assert directory.is_dir()
        dead = directory / ".tmp-machine.1.1-0-part"  # nobody has written to it for long
        dead.write_bytes(b"half")
        os.utime(dead, (0, 0))
        (directory / "mine").write_bytes(b"whole")
    commit_run(written, {})
    assert not list(Path(written).rglob(".tmp-*"))
    assert len(list(Path(written).rglob("mine"))) == len(directories)


@pytest.mark.parametrize("directory", ["hmm", "hmm-1", "hmm-half-0", "idf"])
def test_a_commit_leaves_no_temporary_file_in_any_directory_of_a_model(written, directory):
    models = Path(written, "models", directory)
    models.mkdir(parents=True)
    dead = models / f"{disk_files.PREFIX}0123.99.1-ab-lexicon.arrow"
    alive = models / disk_files.name_for("lexicon.arrow")
    for path in (dead, alive, models / "about.json"):
        path.write_bytes(b"half")
    os.utime(dead, (0, 0))
    commit_run(written, {})
    assert sorted(path.name for path in models.iterdir()) == sorted([alive.name, "about.json"])


@pytest.mark.parametrize("number", [0, 1])
def test_a_receipt_whose_rows_of_a_file_are_wrong_is_not_believed(written, number):
    (path,) = Path(written, "_receipts").glob("shard-*")
    receipt = json.loads(path.read_bytes())
    receipt_checks.check_shard(receipt, receipt["plan"], 0, 1)
    wrong = copy.deepcopy(receipt)
    wrong["files"][number]["rows"] += 1
    if number == 1:
        with pytest.raises(WorkerError, match="do not add up"):
            receipt_checks.check_shard(wrong, receipt["plan"], 0, 1)
    for name in ("rows", "kept"):
        wrong = {**receipt, name: receipt[name] + 1}
        with pytest.raises(WorkerError, match="do not add up"):
            receipt_checks.check_shard(wrong, receipt["plan"], 0, 1)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("units", [[0, 2]], "units: counts of units are not lists"),
        ("units", [[0, 2, 1, 0]], "units: counts of units are not lists"),
        ("units", [[0, 2, -1]], "units: a count of a unit is negative"),
        ("units", [[0, 2, "1"]], "units: counts of units are not all whole"),
        ("units", {"0": [2, 1]}, "units: packed counts of units are damaged"),
        ("rejected", [{"rows": 1, "corpus": "c", "stage": "x"}], r"rejected\[0\].reason: is miss"),
        ("kept_by_corpus", {"c": "2"}, 'kept_by_corpus.c: expected a whole number, found "2"'),
        ("counts", [2], "counts: expected an object, found"),
        ("histograms", {"tags": {"c": [-1]}}, "histograms.tags.c.0.: expected 0 or more"),
        ("histograms", {"heat": {}}, "histograms: expected known histograms"),
        ("tag_shapes", {"tags 1": 1.5}, "tag_shapes.tags 1: expected a whole number"),
        ("rows", True, "rows: expected a whole number, found true"),
        ("unit_reasons", [[0, "duplicate"]], "unit_reasons: "),
        ("unit_reasons", [[0, "duplicate", "1"]], "unit_reasons: "),
        ("unit_reasons", [["0", "duplicate", 1]], "unit_reasons: "),
        ("unit_reasons", [[0, 1, 1]], "unit_reasons: "),
        ("model", 5, "model: expected text, found 5"),
        ("files", [], "files: expected at least 1 of them"),
    ],
)
def test_a_receipt_of_another_shape_is_not_believed(written, name, value, message):
    (path,) = Path(written, "_receipts").glob("shard-*")
    receipt = json.loads(path.read_bytes())
    assert receipt["unit_reasons"] == [[0, "duplicate", 1]]
    receipt_checks.check_shard(receipt, receipt["plan"], 0, 1)
    with pytest.raises(WorkerError, match=message):
        receipt_checks.check_shard({**receipt, name: value}, receipt["plan"], 0, 1)


@pytest.mark.parametrize("rows", [None, "3", -1, True])
def test_a_receipt_of_a_unit_says_how_many_rows_were_read(rows):
    good = {"plan": "p", "unit": 0, "rows": 3}
    receipt_checks.check_unit(good, "p", 0)
    with pytest.raises(WorkerError, match="rows: expected "):
        receipt_checks.check_unit({**good, "rows": rows}, "p", 0)
    with pytest.raises(WorkerError, match=r"characters\.en: expected a whole number"):
        receipt_checks.check_unit({**good, "characters": {"en": None}}, "p", 0)
    for edge in ([1, 2], [1, 2, "3"], 4):
        with pytest.raises(WorkerError, match=r"^band_edge"):
            receipt_checks.check_unit({**good, "band_edge": edge}, "p", 0)
    for sides in ([1], [1, "2"], 4):
        with pytest.raises(WorkerError, match=r"^exchanged_sides"):
            receipt_checks.check_unit({**good, "exchanged_sides": sides}, "p", 0)
