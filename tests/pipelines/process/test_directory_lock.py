import errno
import fcntl
import os

import pytest

from pairweave.pipelines.process.directory_lock import alone_in
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
