"""Scripts through which a runner starts workers."""

import json
import subprocess
import sys
import tempfile

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
