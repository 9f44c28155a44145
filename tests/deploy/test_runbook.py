"""The runbook, failure by failure: bring it about, read the message, type the commands."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from pairweave.pipelines.refresh.chain import records
from pairweave.pipelines.steps import steps
from tests.makers import corpora, nightly, runs

RUNBOOK = Path(__file__).parents[2] / "deploy" / "RUNBOOK.md"
NIGHT = ("refresh", "--config", "nightly.yaml", "--output", "tables")


def sections():
    """Return the text of each section, by its heading."""
    parts = re.split(r"^## (.*)$", RUNBOOK.read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def commands(heading):
    """Return the words of each command of a section."""
    blocks = re.findall(r"```sh\n(.*?)```", sections()[heading], re.S)
    result = [shlex.split(line) for block in blocks for line in block.splitlines()]
    assert all(words[0] == "pairweave" for words in result)
    return [words[1:] for words in result]


def type_all(heading, directory):
    """Type the commands of a section, which must succeed; return what each prints."""
    return [runs.run_well_here(*words, cwd=directory) for words in commands(heading)]


def fails(directory, status, said, heading, words=NIGHT):
    """Check that a command fails with a message that the section of its failure quotes."""
    result, out, errors = runs.run_here(*words, cwd=directory)
    assert result == status, errors[-3000:]
    assert said in out + errors
    assert said in sections()[heading]


def check_whole(directory, table="tables"):
    """Check that a table is whole and has the rows that its files give at once."""
    runs.run_well_here("refresh", "verify", table, cwd=directory)
    nightly.good_night(directory, table="at_once")
    for name in ("tagged", "provenance", "rejects"):
        assert nightly.rows(directory / table, name) == nightly.rows(directory / "at_once", name)


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    directory = tmp_path_factory.mktemp("runbook")
    nightly.write_news(directory, "a", range(30))
    nightly.write_help(directory, "one", range(25, 40))
    nightly.write_help(directory, "two", range(40, 45))
    nightly.write_config(directory, more="gates: {max_rejected: 0.5, max_removed: 0.3}\n")
    nightly.good_night(directory, table="tables")
    return directory


@pytest.fixture
def directory(first, tmp_path):
    copied = tmp_path / "copy"
    shutil.copytree(first, copied)
    return copied


def test_the_first_look_says_how_it_is(directory):
    text = RUNBOOK.read_text().partition("\n## ")[0]
    lines = re.search(r"```sh\n(.*?)```", text, re.S)[1].splitlines()
    status, history = (runs.run_well_here(*shlex.split(line)[1:], cwd=directory) for line in lines)
    assert "45 pairs of 3 inputs" in status
    assert "+45 -0 = 45 pairs" in history


KILLED = """
import os, signal, sys
from pairweave.pipelines import cli
from pairweave.pipelines.refresh.chain import {module}
{module}.{name} = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
cli.main(sys.argv[1:])
"""


@pytest.mark.slow
@pytest.mark.parametrize(("module", "name"), [("records", "create"), ("tables", "apply")])
def test_a_killed_night(directory, module, name):
    nightly.write_help(directory, "three", range(50, 60))
    code = KILLED.format(module=module, name=name)
    environment = {**os.environ, "PYTHONPATH": str(runs.ROOT)}
    words = [sys.executable, "-c", code, *NIGHT]
    done = subprocess.run(words, cwd=directory, env=environment, check=False)
    assert done.returncode == -9
    (out,) = type_all("Run it again", directory)
    assert "nothing has changed since night 2" in out or "committed night 2" in out
    assert nightly.versions(directory / "tables")["tagged"] == 1
    check_whole(directory)


def test_a_shard_that_always_fails(directory, monkeypatch):
    nightly.write_help(directory, "three", range(50, 200))
    write_shard = steps.write_shard

    def fail_for_one(output, config):
        if output.shard.number == 1:
            raise ValueError("at shard 1")
        return write_shard(output, config)

    with monkeypatch.context() as patch:
        patch.setattr(steps, "write_shard", fail_for_one)
        status, _, errors = runs.run_here(*NIGHT, cwd=directory)
    assert status == 3
    assert "failed on every attempt and were set aside" in errors
    assert "at shard 1" in errors
    assert "| 3 | shards failed on every attempt and were set aside" in RUNBOOK.read_text()
    assert nightly.versions(directory / "tables")["tagged"] == 0
    assert "committed night 2" in type_all("Run it again", directory)[0]
    check_whole(directory)


@pytest.mark.slow
def test_two_nights_at_once(directory, monkeypatch):
    nightly.write_help(directory, "three", range(50, 60))
    create = records.create

    def late(table, record):
        monkeypatch.setattr(records, "create", create)
        nightly.write_help(directory, "four", range(55, 65))
        nightly.good_night(directory, table="tables")
        return create(table, record)

    monkeypatch.setattr(records, "create", late)
    fails(directory, 1, "another night was committed", "Run it again")
    assert "nothing has changed" in type_all("Run it again", directory)[0]
    check_whole(directory)


def test_a_disk_that_is_not_mounted(directory):
    (directory / "help").rename(directory / "away")
    heading = "A pattern matches nothing"
    fails(directory, 2, "no file has this name or matches this pattern", heading)
    (directory / "away").rename(directory / "help")
    (out,) = type_all(heading, directory)
    assert "input files: 3 unchanged, 0 new, 0 changed, 0 moved, 0 gone" in out


def test_a_bad_delivery(directory):
    bad = [f"one {n}\tein sehr viel zu langer Satz auf der anderen Seite {n}" for n in range(9)]
    nightly.write_help(directory, "three", range(3), bad)
    status, _, errors = runs.run_here(*NIGHT, cwd=directory)
    assert status == 4
    assert "max_rejected: 0.75, limit 0.5" in errors
    assert "help line" in errors
    type_all("A gate failed", directory)
    history = runs.run_well_here("refresh", "history", "tables", cwd=directory)
    assert "accepted max_rejected: agreed with the supplier" in history
    runs.run_well_here("refresh", "verify", "tables", cwd=directory)


def test_a_withdrawn_file(directory):
    (directory / "help/two.tsv").unlink()
    assert "removed 5 pairs; the table has 40" in runs.run_well_here(*NIGHT, cwd=directory)
    nightly.write_news(directory, "a", range(5))
    fails(directory, 4, "max_removed", "A gate failed")
    type_all("A gate failed", directory)
    assert len(nightly.ids(directory / "tables")) == 20
    check_whole(directory)


def test_another_configuration(directory):
    heading = "The rows are made in another way"
    nightly.write_config(directory, more="max_tokens: 30\n")
    fails(directory, 2, "the rows of tables are made in another way", heading)
    plan, _ = type_all(heading, directory)
    assert "max_tokens was the default, is now 30" in plan
    assert "50 pairs to read" in plan
    check_whole(directory)


@pytest.mark.slow
def test_an_aligner_that_the_corpora_have_outgrown(tmp_path):
    heading = "The corpora have outgrown the aligner"
    head = nightly.HEAD.replace("augment", "align").replace("mix: 0\n", "")
    nightly.write_news(tmp_path, "a", range(60))
    nightly.write_help(tmp_path, "one", range(60, 70))
    nightly.write_config(tmp_path, head=head)
    nightly.good_night(tmp_path, table="tables")
    nightly.write_help(tmp_path, "one", range(60, 140))
    nightly.good_night(tmp_path, table="tables")
    plan, _ = type_all(heading, tmp_path)
    assert "fitted anew: --refit asks for it" in plan
    assert "the night would make all rows anew: 140 pairs to read" in plan
    nightly.write_config(tmp_path, head=head, more="refit_growth: 1.2\n")
    nightly.write_help(tmp_path, "two", range(140, 200))
    nightly.good_night(tmp_path, table="tables")
    out = nightly.good_night(tmp_path, table="tables")
    assert "models are fitted anew, and all rows made with them" in out
    assert "models are fitted anew, and all rows made with them" in sections()[heading]
    history = runs.run_well_here("refresh", "history", "tables", cwd=tmp_path)
    assert [line.split()[3].rstrip(":") for line in history.splitlines()] == [
        *("refresh", "refresh", "refit", "refresh", "refit")
    ]
    last = records.latest(str(tmp_path / "tables")).models["en-de"]
    weights = next(
        path for path in sorted((tmp_path / "tables" / last).iterdir()) if path.name != "about.json"
    )
    weights.write_bytes(weights.read_bytes()[:-1])
    nightly.write_help(tmp_path, "three", range(200, 210))
    heading = "A file of a table is damaged"
    fails(tmp_path, 2, "its content differs from what was written", heading)
    assert "a night with `--refit`" in sections()[heading]
    assert "committed night 6" in runs.run_well_here(*NIGHT, "--refit", cwd=tmp_path)


def test_a_text_to_be_removed_while_a_night_is_made(directory):
    from pairweave.pipelines.refresh.chain import table_lock

    heading = "Somebody wants a text removed"
    source, target = corpora.sentence(3)
    (directory / "takedown.txt").write_text(f"{source}\n")
    takedown, vacuum = commands(heading)
    with table_lock.held(str(directory / "tables"), alone=False):
        runs.run_well_here(*takedown, cwd=directory)
        status, _, errors = runs.run_here(*vacuum, cwd=directory)
    assert status == 1
    assert "run the same command again when that has ended" in errors
    type_all(heading, directory)
    assert source not in nightly.sources(directory / "tables")
    held = [path for path in (directory / "tables").rglob("*.parquet") if path.is_file()]
    assert not any(word in text for word in (source, target) for text in shown(held))
    assert "nothing has changed" in runs.run_well_here(*NIGHT, cwd=directory)


def shown(paths):
    import pyarrow.parquet as pq

    return [repr(pq.read_table(path, partitioning=None).to_pylist()) for path in paths]


def test_another_program_wrote_to_a_table(directory):
    from deltalake import DeltaTable

    heading = "Another program has written to a table"
    (directory / "takedown.txt").write_text(f"{corpora.sentence(3)[0]}\n")
    type_all("Somebody wants a text removed", directory)
    DeltaTable(str(directory / "tables/tagged")).delete("kind = 'plain'")
    nightly.write_help(directory, "three", range(50, 60))
    fails(directory, 2, "another program has written to it", heading)
    type_all(heading, directory)
    assert len(nightly.ids(directory / "tables-new")) == 54
    assert corpora.sentence(3)[0] not in nightly.sources(directory / "tables-new")


def test_a_damaged_file(directory):
    heading = "Is a table damaged?"
    (verify,) = commands(heading)
    path = next((directory / "tables/tagged").rglob("part-*.parquet"))
    whole = path.read_bytes()
    path.write_bytes(whole[:-9] + b"x" + whole[-8:])
    status, _, errors = runs.run_here(*verify, cwd=directory)
    assert status == 1
    assert f"tagged/{path.relative_to(directory / 'tables/tagged')}: its content differs" in errors
    path.write_bytes(whole)
    type_all(heading, directory)
    type_all("Another program has written to a table", directory)
    assert nightly.rows(directory / "tables-new") == nightly.rows(directory / "tables")


def test_a_file_that_a_night_reads_is_damaged(directory):
    heading = "A file of a table is damaged"
    backup = directory / "backup"
    shutil.copytree(directory / "tables", backup)
    damaged = next((directory / "tables/provenance").rglob("part-*.parquet"))
    damaged.write_bytes(damaged.read_bytes()[:-1])
    (directory / "help/two.tsv").unlink()
    fails(directory, 2, "its content differs from what was written", heading)
    shutil.copytree(backup, directory / "tables", dirs_exist_ok=True)
    type_all(heading, directory)
    seal = directory / "tables/_refresh/seals/00000001.json"
    seal.write_text(re.sub('"record": "....', '"record": "0000', seal.read_text()))
    fails(directory, 2, "does not fit its checksum", heading)
    seal.unlink()
    assert "committed night 2" in runs.run_well_here(*NIGHT, cwd=directory)
    check_whole(directory)


@pytest.mark.slow
def test_many_small_files(directory):
    for number in range(3):
        nightly.write_help(directory, f"more{number}", range(60 + number, 61 + number))
        runs.run_well_here(*NIGHT, cwd=directory)
    before = nightly.rows(directory / "tables", left_out=())
    compacted, *_ = type_all("Disk space and many small files", directory)
    assert re.search(r"\d+ files became \d+", compacted)
    assert nightly.rows(directory / "tables", left_out=()) == before
    check_whole(directory)


def test_every_section_of_the_runbook_is_tried():
    tried = set(re.findall(r'"([A-Z][^"]+)"', Path(__file__).read_text()))
    assert {name for name, text in sections().items() if "```sh" in text} <= tried
