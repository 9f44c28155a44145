"""What Linux says of a process."""

import os
import subprocess
import time
from pathlib import Path

from pairweave.transforms import process_stat


def test_a_process_has_started_until_it_has_ended_even_if_nobody_waits_for_it():
    assert process_stat.started(os.getpid()) == process_stat.started(os.getpid()) > 0
    process = subprocess.Popen(["sh", "-c", "exit 0"])
    while process_stat.started(process.pid) is not None:
        time.sleep(0.01)
    assert process_stat.words_of(process.pid)[0] == b"Z"
    process.wait()
    assert process_stat.started(process.pid) is None


def test_a_name_with_brackets_and_blanks_changes_nothing():
    words, own_name = process_stat.words_of(os.getpid()), Path("/proc/self/comm")
    before = own_name.read_text()
    try:
        own_name.write_text("a) R 1 (")
        assert process_stat.words_of(os.getpid())[:2] == words[:2]
    finally:
        own_name.write_text(before.rstrip())
