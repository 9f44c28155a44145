"""`gc` removes what nothing needs, and nothing else."""

import itertools
import json
import os
import time
from pathlib import Path

import pytest

from pairweave.models.external.external_programs import PROGRAMS, SETTINGS
from pairweave.models.hmm import hmm_files, hmm_reference, phrase_table, word_order
from pairweave.models.similarity import idf
from pairweave.pipelines.cli import main
from pairweave.transforms.commit import leftovers
from pairweave.transforms.output import attempt_marks, run_files
from pairweave.transforms.storage import disk_files, hashed_files
from tests.makers import finished_runs, stores

DAY = 86_400.0
PLAN = finished_runs.plan(models=["models/hmm"])
SHARDS = [
    f"{place}/{run_files.shard_name(shard, 2)}" for place in ("data", "rejects") for shard in (0, 1)
]
NEEDED = [*SHARDS, "_receipts/unit-00000.json", "_receipts/shard-00000-of-00002.json"]
NEEDED += [
    "models/hmm/about.json",
    "models/hmm/thesis.txt",
    "README.md",
    "_run.json",
    "notes.txt",
    "data/notes.txt",
]
MINE = {"notes.txt", "data/notes.txt", "models/hmm/thesis.txt"}
DEAD = f"{disk_files.PREFIX}0123.99.1-ab-part-00000-of-00002.parquet"
GONE = {
    f"data/{DEAD}": "temporary file",
    f"models/hmm/{DEAD}": "temporary file",
    DEAD: "temporary file",
    "_receipts/begun-00001-of-00002-a1.json": "mark of an attempt",
    "data/part-00002-of-00003.parquet": "shard that nothing names",
    "rejects/part-00007-of-00009.parquet": "shard that nothing names",
    "_receipts/shard-00000-of-00003.json": "receipt of no part of the plan",
    "_receipts/unit-00009.json": "receipt of no part of the plan",
}
FINISHED = {
    "_scored/part-0.bin": "scored shard of a finished run",
    "models/hmm/phrases.arrow": "file of a model that nothing names",
}


@pytest.fixture
def output(tmp_path):
    """A run without a manifest, and everything that can be left in its directory."""
    directory = tmp_path / "run"
    for name in (*NEEDED, *GONE, *FINISHED):
        put(directory / name, b"x")
    put(directory / "_plan.json", json.dumps(PLAN).encode())
    age(directory, 3 * DAY)
    return directory


def put(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def age(directory, seconds):
    for path in directory.rglob("*"):
        os.utime(path, (time.time() - seconds,) * 2)


def commit(output):
    named = [*SHARDS, "models/hmm/about.json", "README.md"]
    put(
        output / "_manifest.json",
        json.dumps(finished_runs.manifest(named)).encode(),
    )


def tree(directory):
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}


def test_a_run_that_can_be_continued_keeps_all_that_its_plan_names(output, capsys):
    assert main(["gc", str(output)]) == 0
    assert tree(output) == {*NEEDED, *FINISHED, "_plan.json"}
    shown = capsys.readouterr().out
    for name, kind in GONE.items():
        assert f"  {name}: {kind}, 1 byte, 72 hours old" in shown
    assert f"removed {len(GONE)} files of {len(GONE)} bytes" in shown


def test_a_finished_run_keeps_what_its_manifest_names(output):
    commit(output)
    assert main(["gc", str(output)]) == 0
    assert tree(output) == {*NEEDED, "_plan.json", "_manifest.json"}
    assert not (output / "_scored").exists()


def test_a_dry_run_lists_and_removes_nothing(output, capsys):
    before = tree(output)
    assert main(["gc", str(output), "--dry_run"]) == 0
    assert tree(output) == before
    assert f"would remove {len(GONE)} files" in capsys.readouterr().out


@pytest.mark.parametrize("seconds", [3_600.0, -30 * DAY], ids=["new", "the clock went back"])
def test_what_is_not_old_enough_stays(output, seconds):
    before = tree(output)
    age(output, seconds)
    assert main(["gc", str(output), "--unfinished"]) == 0
    assert tree(output) == before
    assert main(["gc", str(output), "--grace_hours", "0.5"]) == 0
    assert (tree(output) == before) is (seconds < 0)


def test_the_file_that_a_living_process_writes_stays(output):
    living = output / "data" / disk_files.name_for("part-00000-of-00002.parquet")
    put(living, b"half")
    assert main(["gc", str(output), "--grace_hours", "0"]) == 0
    assert living.exists()


def test_an_unfinished_run_goes_only_if_asked_and_only_if_all_of_it_is_old(output):
    put(output / SHARDS[0], b"just written")
    assert main(["gc", str(output), "--unfinished"]) == 0
    assert {*SHARDS, "_plan.json"} <= tree(output)
    age(output, 3 * DAY)
    assert main(["gc", str(output), "--unfinished"]) == 0
    assert tree(output) == MINE


def test_an_unfinished_run_takes_its_intermediate_models_and_beads_with_it(output):
    stale = ["models/hmm-1/about.json", "models/hmm-half-0/lexicon.arrow"]
    stale += ["models/hmm-half-1/model.json", "_receipts/beads-00000.txt"]
    for name in stale:
        put(output / name, b"x")
    age(output, 3 * DAY)
    assert main(["gc", str(output)]) == 0
    assert set(stale) <= tree(output)
    assert main(["gc", str(output), "--unfinished"]) == 0
    assert tree(output) == MINE
    assert not (output / "models" / "hmm-1").exists()


SIGNS = {
    "a mark of this launch": "_receipts/begun-run-ab.json",
    "a mark of a shard": "_receipts/begun-00000-of-00002-ab.json",
    "a model of an iteration": "models/hmm-1/lexicon.arrow",
    "anything else": "notes/of/mine.txt",
}


@pytest.mark.parametrize("name", SIGNS.values(), ids=SIGNS)
def test_any_new_file_below_an_unfinished_run_keeps_it(output, name):
    put(output / name, b"new")
    assert main(["gc", str(output), "--unfinished"]) == 0
    assert {*NEEDED, "_plan.json", name} <= tree(output)


def test_a_file_that_is_being_written_keeps_an_unfinished_run(output):
    put(output / "data" / disk_files.name_for("part-00000-of-00002.parquet"), b"half")
    age(output, 3 * DAY)
    assert main(["gc", str(output), "--unfinished"]) == 0
    assert {*NEEDED, "_plan.json"} <= tree(output)


def test_a_run_that_goes_on_after_it_was_listed_stays(output):
    actual = leftovers.find_leftovers(str(output), time.time(), DAY, unfinished=True)
    assert leftovers.UNFINISHED in {leftover.kind for leftover in actual}
    with attempt_marks.launched(str(output)):
        gone = leftovers.remove(str(output), actual, DAY)
        assert {leftover.name for leftover in gone} == set(GONE)
        assert {*NEEDED, "_plan.json"} <= tree(output)
    assert not list((output / "_receipts").glob("begun-*"))


OUTSIDE = ["../private", "models/../../private", "/private", "", "data", "models", "models/a/b", 7]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_plan_cannot_make_it_delete_files_that_no_run_writes(output, name, capsys):
    private = output.parent / "private"
    put(private / "thesis.txt", b"x")
    put(output / "_plan.json", json.dumps(PLAN | {"models": [name]}).encode())
    put(output / "_manifest.json", json.dumps(finished_runs.manifest([])).encode())
    age(output, 3 * DAY)
    age(private, 3 * DAY)
    before = tree(output.parent)
    assert main(["gc", str(output), "--grace_hours", "0"]) == 2
    assert tree(output.parent) == before
    said = f"lists {name!r}, which is not the directory of a model"
    said = said if isinstance(name, str) else "_plan.json: models[0]: expected text, found 7"
    assert said in capsys.readouterr().err


def test_a_link_to_a_directory_is_not_followed(output, tmp_path_factory, capsys):
    private = tmp_path_factory.mktemp("private")
    put(private / "lexicon.arrow", b"x")
    (output / "models" / "linked").symlink_to(private)
    commit(output)
    before = tree(output)
    assert main(["gc", str(output), "--grace_hours", "0"]) == 2
    assert "models/linked is a symbolic link" in capsys.readouterr().err
    assert (private / "lexicon.arrow").exists()
    assert tree(output) == before


def test_the_names_of_model_files_are_known():
    names = {hmm_files.HEADER, hmm_reference.SENTENCEPIECE, hashed_files.ABOUT}
    names |= {phrase_table.FILE, word_order.FILE, *hmm_files._TABLES}
    names |= set(idf.pack(idf.nothing_counted(3, "p"), {}))
    calls = itertools.chain.from_iterable(program.learn for program in PROGRAMS.values())
    names |= {SETTINGS, *itertools.chain.from_iterable(call.answers for call in calls)}
    assert [name for name in sorted(names) if not leftovers.MODEL_FILE.fullmatch(name)] == []


def test_a_finished_run_never_goes(output):
    commit(output)
    age(output, 300 * DAY)
    assert main(["gc", str(output), "--unfinished"]) == 0
    assert {*NEEDED, "_plan.json", "_manifest.json"} == tree(output)


def test_a_directory_without_a_plan_is_refused(tmp_path, capsys):
    put(tmp_path / "data" / "part-00000-of-00001.parquet", b"x")
    assert main(["gc", str(tmp_path)]) == 2
    assert "there is no run here: _plan.json is missing" in capsys.readouterr().err
    assert tree(tmp_path) == {"data/part-00000-of-00001.parquet"}


@pytest.mark.slow
@pytest.mark.parametrize("scheme", sorted(stores.KINDS))
def test_in_a_store_it_is_the_same(scheme, capsys):
    with stores.running(scheme) as store:
        names = [name for name in (*NEEDED, *GONE) if not Path(name).name.startswith(".tmp-")]
        for name in names:
            store.put(f"out/{name}", b"x")
        store.put("out/_plan.json", json.dumps(PLAN).encode())
        place = f"{scheme}://{stores.BUCKET}/out"
        assert main(["gc", place]) == 0
        assert set(store.objects("out/")) == {f"out/{name}" for name in (*names, "_plan.json")}
        assert main(["gc", place, "--grace_hours", "0"]) == 0
        assert "mark of an attempt" in capsys.readouterr().out
        left = {name.removeprefix("out/") for name in store.objects("out/")}
        assert left == {*NEEDED, "_plan.json"}
