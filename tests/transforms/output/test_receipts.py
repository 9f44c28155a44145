"""Receipts of shards and units: the marks that they end, and the checks that they pass."""

import functools
import json

import pyarrow as pa
import pydantic
import pytest

from pairweave.transforms import schemas
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.output import attempt_marks, receipts
from pairweave.transforms.output.documents.receipt_models import ShardReceipt
from pairweave.transforms.output.receipt_checks import check_shard, check_unit
from pairweave.transforms.output.receipts import write_shard_receipt
from pairweave.transforms.output.run_files import WriteConfig, data_name, file_entry, rejects_name
from pairweave.transforms.shards.shard import Shard
from tests.makers.rows import row

SHARD, SHARDS = 3, 7


def receipt_of(output, tag_shapes=None, **settings):
    """Write the receipt of a shard with one row kept and one rejected; return its contents."""
    kept, rejected = (
        pa.Table.from_pylist([each], schema=schemas.ROWS)
        for each in (row("a", "b"), row("c", "d", line=2, reason="too_long"))
    )
    files = [file_entry(name(SHARD, SHARDS), b"rows", rows=1) for name in (data_name, rejects_name)]
    config = WriteConfig(str(output), SHARDS, "plan", "signature", **settings)
    shard = Shard(SHARD, kept, rejected, kept)
    name = write_shard_receipt(config, shard, {}, files, {}, tag_shapes or {})
    return json.loads((output / name).read_bytes())


@pytest.mark.parametrize("attempts", [("a1", "b2"), ("b2", "a1")])
def test_a_written_shard_is_no_longer_marked_by_its_attempt_alone(tmp_path, attempts):
    for attempt in attempts:
        for shard in (SHARD, SHARD + 1):
            attempt_marks.begin(shard, output=str(tmp_path), shards=SHARDS, attempt=attempt)
    receipt_of(tmp_path, attempt="a1")
    assert attempt_marks.begun(str(tmp_path), "a1") == {SHARD + 1}
    assert attempt_marks.begun(str(tmp_path), "b2") == {SHARD, SHARD + 1}


def test_an_attempt_s_marks_are_forgotten_alone_and_all_marks_with_the_run(tmp_path):
    output = str(tmp_path)
    for attempt in ("a1", "b2"):
        attempt_marks.begin(SHARD, output=output, shards=SHARDS, attempt=attempt)
    with attempt_marks.launched(output):
        attempt_marks.forget(output, "a1")
        left = {path.name[: len("begun-run")] for path in (tmp_path / "_receipts").iterdir()}
        assert left == {"begun-run", "begun-000"}
        assert attempt_marks.begun(output, "a1") == set()
        assert attempt_marks.begun(output, "b2") == {SHARD}
        attempt_marks.forget(output)
        assert not list((tmp_path / "_receipts").iterdir())


def test_a_written_receipt_passes_its_check(tmp_path):
    check_shard(receipt_of(tmp_path), "plan", SHARD, SHARDS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda receipt: receipt.update(shard=4), "expected shard 3, found 4"),
        (lambda receipt: receipt["files"].reverse(), "files: expected .* with their rows"),
        (lambda receipt: receipt["files"].pop(), "files: expected .* with their rows"),
        (lambda receipt: receipt["files"][0].pop("rows"), "files: expected .* with their rows"),
        (lambda receipt: receipt["files"][1].update(rows=2), "its numbers do not add up"),
        (lambda receipt: receipt.update(kept=2), "its numbers do not add up"),
        (lambda receipt: receipt.update(rows=3), "its numbers do not add up"),
        (lambda receipt: receipt["kept_by_corpus"].update(c=2), "its numbers do not add up"),
        (lambda receipt: receipt.update(units=[[0, 2, 1]]), "its numbers do not add up"),
        (lambda receipt: receipt.update(units=[[0, 1, 2]]), "its numbers do not add up"),
        (lambda receipt: receipt.update(plan="other"), "belongs to another plan"),
        (
            lambda receipt: receipt.update(unit_reasons=[[0, 1, 1]]),
            "unit_reasons: expected the name",
        ),
    ],
)
def test_a_receipt_that_was_edited_is_refused(tmp_path, change, message):
    receipt = receipt_of(tmp_path)
    change(receipt)
    with pytest.raises(WorkerError, match=message):
        check_shard(receipt, "plan", SHARD, SHARDS)


def test_the_receipt_of_another_unit_is_refused():
    receipt = {"plan": "plan", "unit": 2, "rows": 5}
    check_unit(receipt, "plan", 2)
    with pytest.raises(WorkerError, match="expected unit 1, found 2"):
        check_unit(receipt, "plan", 1)


@pytest.mark.parametrize(
    ("unit", "fits"),
    [
        ({"rows": 5}, [5]),
        ({"rows": 5, "aligned": True}, [4, 5]),
        ({"rows": 5, "aligned": True, "unbounded": True}, [4, 5, 6]),
    ],
)
def test_a_unit_has_the_planned_rows_or_at_most_these_or_any(unit, fits):
    assert [rows for rows in (4, 5, 6) if receipts.is_as_planned(unit, rows)] == fits


def test_a_shard_is_finished_if_its_files_are_whole_or_were_so_before(tmp_path):
    receipt_of(tmp_path)
    paths = [tmp_path / name(SHARD, SHARDS) for name in (data_name, rejects_name)]
    for path in paths:
        path.parent.mkdir()
        path.write_bytes(b"rows")
    find = functools.partial(receipts.finished_shards, str(tmp_path), "plan", SHARDS)
    assert find() == {SHARD}
    for content in (b"rowz", b"row"):
        paths[0].write_bytes(content)
        assert find() == set()
        assert find(known=frozenset({SHARD})) == {SHARD}


def test_a_receipt_has_the_shapes_of_tags_if_any_were_drawn(tmp_path):
    assert "tag_shapes" not in receipt_of(tmp_path / "one")
    assert receipt_of(tmp_path / "other", {"open": 2})["tag_shapes"] == {"open": 2}


@pytest.mark.parametrize(
    "bars", [{"source_length": {"c": [1] * 9_999}}, {"unknown": {"c": [1]}}, {"ratio": {"c": [-1]}}]
)
def test_a_receipt_with_bars_that_no_histogram_has_is_refused(tmp_path, bars):
    fields = receipt_of(tmp_path)
    assert ShardReceipt.model_validate(fields).kept == 1
    with pytest.raises(pydantic.ValidationError, match="histograms"):
        ShardReceipt.model_validate({**fields, "histograms": bars})


def test_a_job_of_rejects_alone_has_no_file_of_rows(tmp_path):
    receipt = receipt_of(tmp_path)
    with pytest.raises(WorkerError, match=r"files: expected rejects/.* with their rows"):
        check_shard(receipt, "plan", SHARD, SHARDS, rejects_only=True)
    receipt["files"] = receipt["files"][1:]
    check_shard(receipt, "plan", SHARD, SHARDS, rejects_only=True)


def test_of_a_directory_that_no_run_has_claimed_every_unit_is_unread(tmp_path):
    assert receipts.unread_units(str(tmp_path / "none"), "plan", 3) == {0, 1, 2}
