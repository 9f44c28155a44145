"""A directory is claimed by one process at a time, and no longer than that lives."""

import os
import signal

from pairweave.pipelines.ablation.claims import claimed


def test_a_second_claim_finds_the_directory_taken(tmp_path):
    with claimed(tmp_path / "unit") as first, claimed(tmp_path / "unit") as second:
        assert (first, second) == (True, False)
    with claimed(tmp_path / "unit") as again:
        assert again


def test_a_worker_that_was_forked_during_a_claim_does_not_keep_it(tmp_path):
    with claimed(tmp_path / "unit"):
        worker = os.fork()
        if worker == 0:
            signal.pause()
            os._exit(0)
    try:
        with claimed(tmp_path / "unit") as is_ours:
            assert is_ours
    finally:
        os.kill(worker, signal.SIGKILL)
        os.waitpid(worker, 0)
