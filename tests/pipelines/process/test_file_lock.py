import contextlib
import errno
import fcntl
import os
import signal

import pytest

from pairweave.pipelines.process.file_lock import alone_in, claimed, take
from pairweave.transforms.errors import ConfigError


def test_a_directory_is_held_by_one_until_it_is_let_go(tmp_path):
    with alone_in(tmp_path, "in use"):
        with pytest.raises(ConfigError, match=r": in use$"), alone_in(tmp_path, "in use"):
            pass
        assert list(tmp_path.iterdir()) == []
    with alone_in(tmp_path, "in use"):
        pass


def test_a_file_system_without_locks_is_named(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(ConfigError, match=r"cannot be locked: .*; give"), alone_in(tmp_path, "x"):
        pass


def test_a_file_is_shared_or_held_alone(tmp_path):
    paths = [tmp_path / "lock"] * 3
    with contextlib.ExitStack() as held:
        first, second, third = (held.enter_context(path.open("ab")).fileno() for path in paths)
        assert take(first, shared=True)
        assert take(second, shared=True)
        assert not take(third)
        os.close(os.dup(first))
        assert not take(third)
    with paths[0].open("ab") as file:
        assert take(file.fileno(), wait=True)


def test_a_second_claim_finds_the_directory_taken(tmp_path):
    with claimed(tmp_path, "move it") as first, claimed(tmp_path, "move it") as second:
        assert (first, second) == (True, False)
    with claimed(tmp_path, "move it") as again:
        assert again


def test_a_worker_that_was_forked_during_a_claim_does_not_keep_it(tmp_path):
    with claimed(tmp_path, "move it"):
        worker = os.fork()
        if worker == 0:
            signal.pause()
            os._exit(0)
    try:
        with claimed(tmp_path, "move it") as is_ours:
            assert is_ours
    finally:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
