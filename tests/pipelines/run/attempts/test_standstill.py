"""Attempts that do not move."""

import signal
import threading
import time

import pytest

from pairweave.pipelines.run.attempts import standstill
from pairweave.pipelines.run.attempts.standstill import Standstill, StandstillError

LIMIT = 600.0


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests set, processes without work, and the signals that are sent."""

    class Machine:
        now = 0.0
        used = 0.0
        sent = 0

    machine = Machine()

    def send(_thread, _number):
        machine.sent += 1

    monkeypatch.setattr(standstill.time, "monotonic", lambda: machine.now)
    monkeypatch.setattr(standstill, "cpu_seconds", lambda _: machine.used)
    monkeypatch.setattr(standstill.signal, "pthread_kill", send)
    return machine


def watch(seconds=LIMIT):
    return Standstill(seconds, "engine x stands still", list)


def test_an_attempt_that_does_not_move_ends_with_what_was_waited_for(clock):
    watched = watch()
    with watched.ending():
        watched.check(3, "")
        clock.now = LIMIT - 1
        watched.check(3, "")
        assert not clock.sent
        clock.now = LIMIT
        watched.check(3, "3 of 4 units read, 0 of 2 shards written")
        assert clock.sent == 1
    assert watched.message == (
        "engine x stands still: no unit was read, no shard was written and no process of the run "
        "worked for 10 min (3 of 4 units read, 0 of 2 shards written); a worker may not have "
        "started, or a connection may be stuck. --standstill_minutes is the limit"
    )


def test_each_finished_unit_begins_the_time_anew(clock):
    watched = watch()
    with watched.ending():
        for finished in range(10):
            clock.now += LIMIT - 1
            watched.check(finished, "")
    assert watched.message is None


def test_a_single_finished_shard_is_a_move(clock):
    watched = watch()
    with watched.ending():
        watched.check(7, "")
        clock.now = LIMIT - 1
        watched.check(8, "")
        clock.now = 2 * LIMIT - 2
        watched.check(8, "")
        assert watched.message is None
        clock.now = 2 * LIMIT - 1
        watched.check(8, "")
    assert watched.message is not None


@pytest.mark.parametrize(("limit", "step"), [(LIMIT, 60.0), (10.0, 5.0)])
def test_processes_that_work_move_it_too(clock, limit, step):
    watched = watch(limit)
    with watched.ending():
        for _ in range(100):
            clock.now += step
            clock.used += step * standstill.BUSY_SHARE
            watched.check(0, "")
        assert watched.message is None
        for _ in range(11):
            clock.now += step
            clock.used += step * standstill.BUSY_SHARE / 2  # as a Java process does that waits
            watched.check(0, "")
    assert watched.message is not None


def test_the_main_thread_is_told_again_until_it_has_left(clock):
    watched = watch()
    with watched.ending():
        for clock.now in (0.0, LIMIT, LIMIT + 10, LIMIT + 31, LIMIT + 62):
            watched.check(0, "")
    assert clock.sent == 3


def test_without_a_limit_or_outside_of_its_block_nothing_ends(clock):
    unlimited, left = watch(None), watch()
    with unlimited.ending():
        clock.now = 10 * LIMIT
        unlimited.check(0, "")
    left.check(0, "")
    clock.now = 20 * LIMIT
    left.check(0, "")
    assert (unlimited.message, left.message, clock.sent) == (None, None, 0)


def test_code_that_waits_is_interrupted_and_the_handler_is_put_back():
    before = signal.getsignal(signal.SIGUSR2)
    watched = Standstill(0.05, "engine x stands still", list)
    ended = threading.Event()

    def follow():
        while not ended.wait(0.02):
            watched.check(0, "")

    def wait():
        with watched.ending():
            try:
                threading.Event().wait(60)
            finally:
                ended.set()
                thread.join()

    thread = threading.Thread(target=follow)
    thread.start()
    with pytest.raises(StandstillError, match="engine x stands still"):
        wait()
    assert signal.getsignal(signal.SIGUSR2) is before


def test_an_error_that_a_runner_makes_of_it_is_replaced():
    watched = watch()

    def fail():
        with watched.ending():
            watched.message = "said"
            raise RuntimeError("Pipeline failed in state CANCELLED")

    with pytest.raises(StandstillError, match="said"):
        fail()


def test_the_work_of_processes_is_counted():
    pid = standstill.os.getpid()
    before, spent = standstill.cpu_seconds([pid]), time.process_time()
    while time.process_time() < spent + 0.2:
        sum(range(10_000))  # without a call of the system
    assert standstill.cpu_seconds([pid]) > before + 0.1
    assert standstill.cpu_seconds([1 << 30]) == 0
