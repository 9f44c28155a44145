"""Leases on a place, here in a directory: who excludes whom, and when a killed holder's ends."""

import os
import time
from pathlib import Path

import pytest

from pairweave.transforms.storage import leases


@pytest.mark.parametrize(
    ("there", "wanted", "is_refused"),
    [(False, False, False), (False, True, True), (True, False, True), (True, True, True)],
)
def test_a_holder_alone_excludes_all_others(tmp_path, there, wanted, is_refused):
    with leases.held(str(tmp_path), alone=there):
        if is_refused:
            with pytest.raises(leases.HeldError), leases.held(str(tmp_path), alone=wanted):
                pass
        else:
            with leases.held(str(tmp_path), alone=wanted):
                assert len(list(tmp_path.iterdir())) == 2
        assert len(list(tmp_path.iterdir())) == 1
    assert not list(tmp_path.iterdir())


def test_the_lease_of_a_killed_holder_ends(tmp_path):
    left = tmp_path / "alone-killed.json"
    left.write_bytes(b"{}")
    with pytest.raises(leases.HeldError, match="alone-killed"), leases.held(str(tmp_path), alone=0):
        pass
    past = time.time() - leases.SECONDS + 60  # a holder may write it late
    os.utime(left, (past, past))
    with pytest.raises(leases.HeldError), leases.held(str(tmp_path), alone=False):
        pass
    past = time.time() - leases.SECONDS - 1
    os.utime(left, (past, past))
    with leases.held(str(tmp_path), alone=False):
        assert not left.exists()


def test_a_lease_that_was_not_written_for_half_of_its_time_stays_lapsed(tmp_path, monkeypatch):
    clock = [1_000.0]
    monkeypatch.setattr(leases.files, "size_and_time", lambda _: (1, clock[0]))
    with leases.held(str(tmp_path), alone=False) as lease:
        clock[0] += leases.SECONDS / 2
        assert lease.is_kept()
        clock[0] += leases.SECONDS / 2 + 1
        lease.renew()  # by the thread, before the holder asks
        assert not lease.is_kept()


def test_a_lease_that_another_has_deleted_is_lapsed(tmp_path, monkeypatch):
    with leases.held(str(tmp_path), alone=False) as lease:
        assert lease.is_kept()
        with monkeypatch.context() as patch:
            patch.setattr(leases, "_write", lambda own: Path(own).unlink())
            assert not lease.is_kept()
        assert not lease.is_kept()


def test_a_long_holder_writes_its_lease_again(tmp_path, monkeypatch):
    monkeypatch.setattr(leases, "BEAT_SECONDS", 0.01)
    with leases.held(str(tmp_path), alone=True):
        (own,) = tmp_path.iterdir()
        os.utime(own, (0, 0))
        deadline = time.monotonic() + 10
        while own.stat().st_mtime < 1 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert own.stat().st_mtime > 1
