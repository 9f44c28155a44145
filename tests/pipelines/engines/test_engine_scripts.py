"""Scripts through which a runner starts workers."""

import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from pairweave.pipelines.engines import engine_scripts


def test_a_worker_that_another_process_starts_opens_the_file_that_workers_share(
    tmp_path, monkeypatch
):
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\ncat <&{engine_scripts.WORKER_FILE}; echo; echo "$@"\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with tempfile.TemporaryFile() as shared:
        shared.write(b"a table")
        shared.flush()
        _, config = engine_scripts.worker_processes(tmp_path, shared.fileno())
        command = json.loads(config.partition("=")[2])["command"]
        told = subprocess.run([command, "--id=1-1"], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines() == [
        "a table",
        f"-P -m pairweave.pipelines.engines.local.worker --file={engine_scripts.WORKER_FILE} "
        "--id=1-1",
    ]


def test_a_program_is_asked_to_end_and_others_are_not(tmp_path):
    scripts = [
        engine_scripts.write_launcher(tmp_path / name, "/bin/sleep", "600")
        for name in ("java", "prism")
    ]
    processes = [subprocess.Popen([script]) for script in scripts]
    try:
        note = str(engine_scripts._note(scripts[0])).encode()
        deadline = time.monotonic() + 60
        while note not in Path(f"/proc/{processes[0].pid}/cmdline").read_bytes():
            assert time.monotonic() < deadline  # the shell has not yet become the program
        engine_scripts.end(scripts[0])
        # By itself, or before it could take up the signal.
        assert processes[0].wait(60) in (128 + signal.SIGTERM, -signal.SIGTERM)
        assert processes[1].poll() is None
        assert engine_scripts.exit_of(scripts[0]) is None  # it did not end by itself
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_no_process_is_looked_at_where_no_program_was_started(tmp_path, monkeypatch):
    def search(_):
        raise AssertionError("all processes of the machine are looked at")

    monkeypatch.setattr(engine_scripts.descendants, "of", search)
    engine_scripts.end(tmp_path / "prism")
    engine_scripts.write_launcher(tmp_path / "prism", "/bin/sleep", "600")
    with pytest.raises(AssertionError, match="are looked at"):
        engine_scripts.end(tmp_path / "prism")
