"""Processes forked on request report how they ended, and none outlives its parent."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pairweave.pipelines.engines.local import forks
from tests.makers import runs

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="processes are forked on Linux only"
)


def program(body: str) -> str:
    """Return a program that has a fork server; its forks do what ``act`` does."""
    return f"""
import os, signal, sys, time
from pairweave.pipelines.engines.local import forks
from pairweave.pipelines.engines.local import worker

def act(arguments):
    word = arguments[0]
    if word == "end":
        return 3
    if word == "exit":
        sys.exit(4)
    if word == "fail":
        raise ValueError("no such luck")
    if word == "die":
        os.kill(os.getpid(), signal.SIGTERM)
    if word == "say":
        print("something")
        return 5
    if word == "write":
        text = f"{{os.environ['WORD']}}, {{os.environ.get('GONE')}}"
        os.write(int(arguments[1].removeprefix("--file=")), text.encode())
        return 0
    if word == "late":
        time.sleep(1)
    worker._end_with_parent(0.05)
    time.sleep(60)

os.environ["GONE"] = "here"
server = forks.ForkServer(act)
{body}
"""


def run(body: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", program(body)],
        cwd=runs.ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_fork_tells_how_it_ended():
    body = """
print([server.start([word], []).wait(20) for word in ("end", "exit", "fail", "die")])
fork = server.start(["sleep"], [])
print(fork.poll(), end=" ")
fork.kill()
print(fork.wait(20), fork.poll())
server.close()
"""
    done = run(body)
    assert done.stdout.splitlines() == ["[3, 4, 1, -15]", "None -9 -9"]
    assert done.stderr.count("ValueError: no such luck") == 1


def test_a_fork_has_the_files_and_the_environment_of_the_moment(tmp_path):
    body = f"""
os.environ["WORD"] = "later"
del os.environ["GONE"]
file = os.open({str(tmp_path / "file")!r}, os.O_RDWR | os.O_CREAT)
print(server.start(["write"], [file]).wait(20))
"""
    assert run(body).stdout == "0\n"
    assert (tmp_path / "file").read_text(encoding="utf-8") == "later, None"


def test_what_was_frozen_before_stays_so_and_nothing_else():
    body = """
import gc
counts = [gc.get_freeze_count()]
gc.freeze()
frozen = gc.get_freeze_count()
forks.ForkServer(act).close()
counts.append(gc.get_freeze_count() >= frozen)
print(counts)
"""
    assert run(body).stdout == "[0, True]\n"


def test_a_fork_runs_nothing_that_waits_for_its_parents_end():
    body = """
import atexit
atexit.register(lambda: print("parent's end"))
server.start(["end"], []).wait(20)
"""
    # Registered after the fork, and once more before it: only the parent runs either.
    before = "import atexit\natexit.register(lambda: print('parent'))\n"
    done = subprocess.run(
        [sys.executable, "-c", before + program(body)],
        cwd=runs.ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert sorted(done.stdout.splitlines()) == ["parent", "parent's end"]


def test_a_fork_whose_output_nobody_reads_ends_all_the_same():
    """It must not go on as the program that was forked."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-c", program("os.write(2, b'%d;' % server.start(['say'], []).wait(20))")],
        cwd=runs.ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(writer)
    assert done.stderr == b"5;"


def test_a_fork_that_has_ended_may_be_killed():
    gone = subprocess.Popen(["true"])
    gone.wait()
    forks.Fork(gone.pid).kill()


def test_nothing_outlives_a_killed_parent():
    body = """
print(server.pid, server.start(["sleep"], []).pid, flush=True)
time.sleep(60)
"""
    parent = subprocess.Popen(
        [sys.executable, "-c", program(body)],
        cwd=runs.ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    with parent:
        pids = [int(word) for word in parent.stdout.readline().split()]
        assert len(pids) == 2
        assert all(map(alive, pids))
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 20
    while any(map(alive, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_fork_whose_parent_is_gone_before_it_looks_ends_too():
    body = """
fork = server.start(["late"], [])
os.kill(server.pid, signal.SIGKILL)
print(fork.pid)
"""
    number = int(run(body).stdout)
    deadline = time.monotonic() + 20
    while alive(number):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_server_that_is_gone_forks_nothing():
    body = """
fork = server.start(["sleep"], [])
os.kill(server.pid, signal.SIGKILL)
print(fork.wait(20), server.start(["end"], []))
"""
    assert run(body).stdout == "-9 None\n"


def test_no_process_is_forked_but_a_program_of_ours(monkeypatch):
    monkeypatch.setattr(forks, "_server", None)
    forks.prepare(lambda _: 0)
    assert forks.start(["end"], []) is None

    monkeypatch.setattr(forks, "_allowed", True)
    other = threading.Event()
    thread = threading.Thread(target=other.wait)
    thread.start()
    try:
        forks.prepare(lambda _: 0)
    finally:
        other.set()
        thread.join()
    assert forks.start(["end"], []) is None


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
