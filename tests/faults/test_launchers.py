"""Launchers that are killed or started twice, and a disk that is really full."""

import dataclasses
import os
import shlex
import subprocess

import pytest

from tests.cluster.conftest import ready
from tests.faults import matrix
from tests.faults.matrix import FLAGS, KILLED, ONE, PRISM, TWO, Cell
from tests.makers import runs

KILLS = [
    Cell("launcher killed between shards", ONE, FLAGS[ONE], statuses=(KILLED, 0)),
    Cell("launcher killed between shards", TWO, FLAGS[TWO], statuses=(KILLED, 0)),
]
KILL_ON_PRISM = Cell("launcher killed as it reads", PRISM, FLAGS[PRISM], statuses=(KILLED, 0))
SAME = Cell("two launchers, same command", TWO, FLAGS[TWO], statuses=(0, 0), together=True)
SAME_ON_PRISM = dataclasses.replace(SAME, engine=PRISM, flags=FLAGS[PRISM])
OTHER = dataclasses.replace(
    SAME, fault="two launchers, different commands", statuses=(0, 2), says="already belongs to"
)
FULL = Cell("disk full (64 KiB)", TWO, FLAGS[TWO], statuses=(2, 0), says="No space left on device")
CELLS = [*KILLS, KILL_ON_PRISM, SAME, SAME_ON_PRISM, OTHER, FULL]

pytestmark = pytest.mark.slow


def kill_and_repeat(cell, golden, directory, pattern, record):
    output = directory / "out"
    words = (*golden.arguments, "--output", output, *cell.flags)
    assert runs.kill_when(pattern, output, *words)
    matrix.check_files(output, golden, committed=False)
    status, errors = matrix.end(cell, words, directory)
    assert status == 0, errors[-3000:]
    matrix.check_files(output, golden, committed=True)
    record(cell, cell.statuses)


@pytest.mark.parametrize("cell", KILLS, ids=lambda cell: cell.id)
def test_a_killed_launcher_is_repeated(cell, golden, tmp_path, record):
    kill_and_repeat(cell, golden, tmp_path, "_receipts/shard-*.json", record)


@pytest.mark.flink
def test_a_killed_launcher_of_prism_is_repeated(golden, tmp_path, record):
    ready("prism")
    kill_and_repeat(KILL_ON_PRISM, golden, tmp_path, "_receipts/unit-*.json", record)


def both(cell, golden, output, *others):
    """Start two commands at once; return their exit statuses and errors, the best first."""
    words = (*golden.arguments, "--output", output, *cell.flags)
    processes = [runs.start(*words), runs.start(*words, *others)]
    errors = [process.communicate(timeout=runs.SECONDS)[1] for process in processes]
    return sorted(zip([process.returncode for process in processes], errors, strict=True))


@pytest.mark.parametrize("cell", [SAME, SAME_ON_PRISM], ids=lambda cell: cell.id)
def test_two_launchers_of_one_command_write_one_run(cell, golden, tmp_path, record):
    if cell.engine == PRISM:
        ready("prism")
    ends = both(cell, golden, tmp_path / "out")
    matrix.check_files(tmp_path / "out", golden, committed=True)
    record(cell, [status for status, _ in ends])


def test_of_two_launchers_of_different_commands_one_is_told(golden, tmp_path, record):
    output = tmp_path / "out"
    ends = both(OTHER, golden, output, "--seed", "2")
    assert OTHER.says in ends[1][1], ends[1][1][-2000:]
    expected = golden.digests
    if runs.tree_digests(output)["_plan.json"] != expected["_plan.json"]:
        runs.run_well_here(*golden.arguments, "--output", tmp_path / "two", "--seed", "2")
        expected = runs.tree_digests(tmp_path / "two")
    assert runs.tree_digests(output) == expected
    record(OTHER, [status for status, _ in ends])


FILL = """
mount -t tmpfs -o size=64k tmpfs {output} || exit 77
{command} ; echo $? > {directory}/first
cp -r {output} {directory}/half
mount -o remount,size=64m {output}
{command} ; echo $? > {directory}/again
cp -r {output} {directory}/whole
"""


def test_a_full_disk_costs_the_attempt_and_nothing_else(golden, tmp_path, record):
    output = tmp_path / "out"
    output.mkdir()
    words = [*runs.COMMAND, *golden.arguments, "--output", str(output), *FULL.flags]
    script = FILL.format(output=output, directory=tmp_path, command=shlex.join(words))
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script],
        env={**os.environ, "PYTHONPATH": str(runs.ROOT)},
        capture_output=True,
        text=True,
        timeout=runs.SECONDS,
        check=False,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"no file system can be mounted here: {done.stderr[-200:]}")
    assert FULL.says in done.stderr
    assert "Traceback" not in done.stderr
    matrix.check_files(tmp_path / "half", golden, committed=False)
    assert not list((tmp_path / "half").rglob(".tmp-*"))
    matrix.check_files(tmp_path / "whole", golden, committed=True)
    record(FULL, [int((tmp_path / name).read_text()) for name in ("first", "again")])
