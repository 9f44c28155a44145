"""Runs of the command line as a user starts them, and digests of what they write."""

import contextlib
import hashlib
import html
import importlib
import importlib.util
import io
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq

from pairweave.pipelines import cli
from tests.makers import forked_commands

ROOT = forked_commands.ROOT
COMMAND = [sys.executable, "-m", "pairweave.pipelines.cli"]
SECONDS = 600
NEURAL = ("torch", "transformers")
NEURAL_WORDS = {"ablate", "finetune", "--encoder"}
"""Words of commands that load `NEURAL`, for seconds."""


def start(*arguments, cwd=None):
    """Start the command in a session of its own, forked from a process that has imported it.

    Where imports matter (signals that come early, plugins, variables that are read once), use
    `start_anew`.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    neural = NEURAL if set(arguments) & NEURAL_WORDS and importlib.util.find_spec("torch") else ()
    server = forked_commands.server(*neural)
    if not server.can_start(environment):
        return start_anew(*arguments, cwd=cwd)
    return server.start(map(str, arguments), environment, cwd or ROOT)


def start_anew(*arguments, cwd=None, packages=()):
    """Start the command as a user does, perhaps with further folders of packages."""
    path = os.pathsep.join(map(str, (ROOT, *packages)))
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd or ROOT,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def run(*arguments, cwd=None, packages=()):
    """Run the command; return its exit status, output and errors."""
    if packages:
        process = start_anew(*arguments, cwd=cwd, packages=packages)
    else:
        process = start(*arguments, cwd=cwd)
    try:
        out, errors = process.communicate(timeout=SECONDS)
    finally:
        kill_group(process)
    return process.returncode, out, errors


def run_well(*arguments, cwd=None, packages=()):
    """Run the command and expect success without a traceback; return its output."""
    status, out, errors = run(*arguments, cwd=cwd, packages=packages)
    assert status == 0, errors[-4000:]
    assert "Traceback" not in errors, errors[-4000:]
    return out


def digest_of(arguments, output, *more):
    """Run the command, expect success, and return the digest of what it writes."""
    run_well(*arguments, "--output", output, *more)
    return tree_digest(output)


def kill_when(pattern, output, *arguments, count=1):
    """Start the command and kill all its processes once files match a pattern.

    Returns:
        Whether it was killed before it ended by itself.
    """
    process = start(*arguments)
    deadline = time.monotonic() + SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if len(list(Path(output).glob(pattern))) >= count:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            killed = True
            break
        time.sleep(0.005)
    else:
        killed = False
    kill_group(process)
    process.communicate()
    return killed


def kill_group(process):
    """Kill whatever is left of the command's process group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def tree_digests(output):
    """Return the SHA-256 of every file of a run but ``_run.json``, by relative name."""
    output = Path(output)
    return {
        str(path.relative_to(output)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(output.rglob("*"))
        if path.is_file() and path.name != "_run.json"
    }


def tree_digest(output):
    """Return one SHA-256 over the names and digests of a run's files."""
    lines = "".join(f"{digest}  {name}\n" for name, digest in tree_digests(output).items())
    return hashlib.sha256(lines.encode()).hexdigest()


def kill_a_worker_when(process, pattern, output):
    """Kill one worker process of a running command once a file matches a pattern."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if any(Path(output).glob(pattern)):
            # Launcher, overseer, worker; a Beam worker is a fork of the process forked for that.
            workers = [process.pid]
            for _ in range(4):
                workers = [pid for parent in workers for pid in children(parent)]
            if workers:
                os.kill(workers[0], signal.SIGKILL)
                return
        time.sleep(0.005)


def children(pid):
    """Return the processes that a process has started."""
    command = ["pgrep", "-P", str(pid)]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return [int(word) for word in listed.split()]


def run_here(*arguments, cwd=None):
    """Run the command in this process; return its exit status, output and errors."""
    if "apache_beam" in sys.modules:
        importlib.import_module("tests.makers.quick_graphs").install()
    # Some commands write bytes, to the buffer of the output.
    out, errors = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n"), io.StringIO()
    with (
        contextlib.chdir(cwd or ROOT),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(errors),
    ):
        status = cli.main([str(word) for word in arguments])
    out.flush()
    return status, out.buffer.getvalue().decode(), errors.getvalue()


def run_well_here(*arguments, cwd=None):
    """Run the command in this process and expect success; return its output."""
    status, out, errors = run_here(*arguments, cwd=cwd)
    assert status == 0, errors[-4000:]
    return out


def rows_of(output, pattern="data/part-*.parquet"):
    """Return the rows of a run's shards, or of other files of it, in order."""
    return [row for path in sorted(output.glob(pattern)) for row in pq.read_table(path).to_pylist()]


def text_of_page(path):
    """Return an HTML page without its tags."""
    return html.unescape(re.sub(r"<[^>]+>", "", path.read_text(encoding="utf-8")))
