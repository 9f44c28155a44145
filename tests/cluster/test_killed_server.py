"""An engine's own program is killed during a run, as the kernel does when memory runs out."""

import os
import signal
from pathlib import Path

import pytest

from pairweave.pipelines.process import descendants
from tests.cluster.conftest import ready
from tests.makers import corpora, runs, terminals

SERVERS = {"flink": ("java", "Flink's Java process"), "prism": ("prism", "Beam's prism program")}

pytestmark = pytest.mark.flink


@pytest.fixture(scope="module")
def arguments(tmp_path_factory):
    directory = tmp_path_factory.mktemp("corpus")
    corpora.write_corpus(directory, 300)
    sides = ("--source_input", directory / "corpus.en", "--target_input", directory / "corpus.de")
    common = ("--source_lang", "en", "--target_lang", "de", "--attempts", "1", "--unit_rows", "50")
    return ("augment", *common, *sides, "--shard_pairs", "30", "--workers", "2")


def named(name, pids):
    """Return those processes whose program has this name; others may have ended by now."""
    result = []
    for pid in pids:
        try:
            if Path(f"/proc/{pid}/comm").read_text().strip() == name:
                result.append(pid)
        except OSError:
            continue
    return result


@pytest.mark.parametrize("engine", sorted(SERVERS))
def test_a_run_whose_server_is_killed_says_so_in_a_line_and_leaves_nothing(
    engine, arguments, tmp_path, monkeypatch
):
    ready(engine)
    program, name = SERVERS[engine]
    temporary, output = tmp_path / "tmp", tmp_path / "out"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    process = runs.start(*arguments, "--output", output, "--engine", engine)
    try:
        assert terminals.until(lambda: any(output.glob("_receipts/unit-*.json")), runs.SECONDS)
        below = descendants.of(process.pid)
        (server,) = named(program, below)
        os.kill(server, signal.SIGKILL)
        _, errors = process.communicate(timeout=60)
    finally:
        runs.kill_group(process)
    assert process.returncode == 1, errors[-4000:]
    said = [line for line in errors.splitlines() if line.startswith("pairweave: ")]
    assert len(said) == 1
    assert said[0].startswith(f"pairweave: {name} was killed (SIGKILL) before the run was done; ")
    assert said[0].endswith("fewer --workers if there are several, or a smaller --shard_pairs")
    assert "Traceback" not in errors
    assert terminals.alive(below) == []
    assert list(temporary.iterdir()) == []
    monkeypatch.undo()
    runs.run_well(*arguments, "--output", output)
    whole = tmp_path / "whole"
    assert runs.tree_digest(output) == runs.digest_of(arguments, whole)
