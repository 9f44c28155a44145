"""No engine listens on anything that another user or machine can connect to."""

import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pairweave.pipelines.engines import fork_requests, private_network
from tests.cluster.conftest import ready
from tests.makers import corpora, runs, terminals
from tests.makers.listening import listeners


@pytest.fixture(scope="module")
def arguments(tmp_path_factory):
    directory = tmp_path_factory.mktemp("corpus")
    corpora.write_corpus(directory, 400)
    sides = ("--source_input", directory / "corpus.en", "--target_input", directory / "corpus.de")
    common = ("--source_lang", "en", "--target_lang", "de", "--unit_rows", 100)
    return ("augment", *common, *sides, "--shard_pairs", 50)


def mode_of(folder):
    """Return the mode of a folder; None if it is none, or there is none."""
    try:
        mode = folder.stat().st_mode
    except OSError:
        return None
    return stat.S_IMODE(mode) if stat.S_ISDIR(mode) else None


def watch(arguments, tmp_path, monkeypatch, *more):
    """Run the command; return its ports, its Unix sockets, and their folders' modes."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    process = runs.start(*arguments, "--output", tmp_path / "out", *more)
    ports, sockets, modes = set(), set(), set()

    def ended():
        time.sleep(0.2)  # looking at every process is work, too
        now_open = listeners(process.pid)
        for some, every in zip(now_open, (ports, sockets), strict=True):
            every |= some
        seen = {listener: mode_of(Path(listener.address).parent) for listener in now_open[1]}
        # A folder named by a file's number is another one once the socket is closed.
        still_open = listeners(process.pid)[1]
        modes.update(seen[each] for each in seen if each in still_open and seen[each] is not None)
        return process.poll() is not None

    assert terminals.until(ended, runs.SECONDS)
    _, errors = process.communicate()
    assert process.returncode == 0, errors[-3000:]
    assert list((tmp_path / "tmp").iterdir()) == []
    return ports, sockets, modes, errors


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_the_local_engine_opens_no_port(arguments, tmp_path, monkeypatch, workers):
    ports, sockets, modes, _ = watch(arguments, tmp_path, monkeypatch, "--workers", workers)
    assert ports == set()
    assert len(sockets) == 4
    assert modes <= {0o700}


@pytest.mark.slow
def test_sockets_work_in_a_temporary_directory_with_a_long_name(arguments, tmp_path, monkeypatch):
    deep = tmp_path / ("long" * 30)
    deep.mkdir()
    ports, sockets, _, _ = watch(arguments, deep, monkeypatch, "--workers", 2)
    assert ports == set()
    assert len(sockets) == 4
    assert all(listener.address.startswith("/proc/") for listener in sockets)


@pytest.mark.flink
@pytest.mark.parametrize("engine", private_network.ENGINES)
def test_no_port_of_another_engine_can_be_reached(engine, arguments, tmp_path, monkeypatch):
    ready(engine)
    more = ("--engine", engine, "--workers", 2)
    deep = tmp_path / ("long" * 30)
    deep.mkdir()
    ports, sockets, modes, errors = watch(arguments, deep, monkeypatch, *more)
    assert ports  # they are there
    assert {listener for listener in ports if listener.reachable} == set()
    assert {Path(listener.address).name for listener in sockets} == {fork_requests.SOCKET}
    assert modes == {0o700}
    assert "SECURITY.md" not in errors


@pytest.mark.flink
def test_a_run_that_may_need_the_network_says_what_is_open(arguments, tmp_path, monkeypatch):
    ready("prism")
    more = ("--engine", "prism", "--temp_location", str(tmp_path))
    ports, _, _, errors = watch(arguments, tmp_path, monkeypatch, *more)
    assert any(listener.reachable for listener in ports)
    assert errors.count("SECURITY.md") == 1
    # Only Prism's own: our worker pool and Beam's are not among them.
    assert {listener.program for listener in ports} == {"prism"}


PROGRAM = """
enter()
assert entered()
with socket.create_server(("localhost", 0)) as server:
    print(server.getsockname()[1], os.getuid(), flush=True)
    socket.create_connection(server.getsockname()).close()
    input()
"""


@pytest.mark.parametrize("user", [None, 65534])
def test_a_network_of_ones_own_is_out_of_reach_and_keeps_the_user(user):
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if user is not None and (os.getuid() or python is None):
        pytest.skip("only root can become another user, who needs a Python that all can run")
    source = Path(private_network.__file__).read_text(encoding="utf-8")
    with subprocess.Popen(
        [sys.executable if user is None else python, "-c", source + PROGRAM],
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        user=user,
    ) as process:
        line = process.stdout.readline()
        if not line:
            pytest.skip(f"no network of its own here: {process.communicate()[1][-200:]}")
        port, uid = map(int, line.split())
        assert uid == (os.getuid() if user is None else user)
        ports, _ = listeners(process.pid)
        assert [listener.reachable for listener in ports] == [False]
        assert [int(listener.address.rpartition(":")[2], 16) for listener in ports] == [port]
        process.communicate("\n")
