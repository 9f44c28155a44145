"""A run that several workers check in parts: the same manifest, and the same faults found."""

from pathlib import Path

import apache_beam as beam
import pytest

from pairweave.pipelines.steps.steps import Commit
from pairweave.transforms.commit import checking
from pairweave.transforms.commit.checking import check_part, part_count
from pairweave.transforms.commit.commit import commit_run
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.output import run_files
from pairweave.transforms.output.receipt_sums import add_sums
from tests.makers import finished_runs


@pytest.fixture
def run(tmp_path):
    """A run with several shards, and its manifest."""
    output = str(tmp_path / "out")
    return output, finished_runs.write_run(output)


def committed(output):
    names = ("_manifest.json", "README.md", "report.html")
    return [Path(output, name).read_bytes() for name in names]


def test_parts_give_the_manifest_of_the_whole(run):
    output, made = run
    before = committed(output)
    parts = made["shards"] + 2  # some are empty
    sums = add_sums([check_part(output, part, parts) for part in reversed(range(parts))])
    commit_run(output, {"symbols.txt": b"<a_0>\n"}, sums=sums)
    assert committed(output) == before


def test_the_graph_of_a_large_run_commits_the_same(run, monkeypatch):
    output, made = run
    before = committed(output)
    Path(output, run_files.MANIFEST).unlink()
    monkeypatch.setattr(checking, "PART_SHARDS", 1)
    plan = run_files.read_json(f"{output}/{run_files.PLAN}")
    config = run_files.WriteConfig(output, made["shards"], run_files.plan_digest(plan), "")
    with beam.Pipeline() as pipeline:
        names = [run_files.shard_receipt_name(0, made["shards"])]  # the others are of before
        receipts = pipeline | beam.Create(names)
        _ = receipts | Commit(config, {"symbols.txt": b"<a_0>\n"}, allow_empty=False)
    assert part_count(made["shards"]) > 1
    assert committed(output) == before


@pytest.mark.parametrize("directory", ["data", "rejects", "_receipts"])
def test_a_damaged_file_is_found_in_its_part(run, directory):
    output, made = run
    last = made["shards"] - 1
    path = sorted(Path(output, directory).glob("*-of-*"))[last]
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    check_part(output, 0, made["shards"])
    with pytest.raises(WorkerError, match=path.name):
        check_part(output, last, made["shards"])


def test_the_parts_of_a_run_grow_with_it_up_to_a_limit():
    assert [part_count(shards) for shards in (1, 256, 257, 15_259)] == [1, 1, 2, 60]
    assert part_count(10**6) == checking.MAX_PARTS
