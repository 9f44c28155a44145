import io
import logging
import re
import sys
import time
import types

import pytest

from pairweave.pipelines.process import verbosity
from pairweave.pipelines.run.attempts.progress import Progress
from pairweave.transforms import progress_marks
from pairweave.transforms.output.run_files import shard_receipt_name, unit_receipt_name
from pairweave.transforms.storage import files


def wait_for(caplog, ending, seconds=30.0):
    """Wait until the last line ends in this; on a busy machine that takes its time."""
    until = time.monotonic() + seconds
    while not (caplog.records and caplog.records[-1].getMessage().endswith(ending)):
        assert time.monotonic() < until, f"no line ends in {ending!r}"
        time.sleep(0.01)


def test_a_log_tells_units_shards_speed_and_time_left(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("pairweave.pipelines.run.attempts.progress.LOCAL_SECONDS", 0.01)
    monkeypatch.setattr("pairweave.pipelines.run.attempts.progress.LOG_SECONDS", 0.0)
    monkeypatch.setattr("pairweave.pipelines.run.attempts.progress.SPEED_SECONDS", 0.05)
    caplog.set_level(logging.INFO, logger="pairweave")
    output = str(tmp_path)
    model = files.join(output, "about.json")
    watched = []
    still = types.SimpleNamespace(check=lambda *words: watched.append(words))
    with Progress(output, units=2, shards=4, pairs=4000, model=model, standstill=still):
        wait_for(caplog, "reading")
        for unit in range(2):
            files.write_bytes(files.join(output, unit_receipt_name(unit)), b"{}")
        wait_for(caplog, "fitting the aligner")
        files.write_bytes(model, b"{}")
        wait_for(caplog, "shards 0 of 4")
        files.write_bytes(files.join(output, shard_receipt_name(0, 4)), b"{}")
        wait_for(caplog, "left")
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0] == "0 of 2 units read, shards 0 of 4, reading"
    assert "2 of 2 units read, shards 0 of 4, fitting the aligner" in lines
    assert "2 of 2 units read, shards 0 of 4" in lines
    assert lines[-1].startswith("2 of 2 units read, shards 1 of 4, ")
    assert lines[-1].endswith(" left")
    assert "pairs/s" in lines[-1]
    assert watched[0] == (0, "0 of 2 units read, 0 of 4 shards written")


def test_a_store_that_fails_ends_no_watch(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("pairweave.pipelines.run.attempts.progress.LOCAL_SECONDS", 0.01)
    monkeypatch.setattr("pairweave.pipelines.run.attempts.progress.LOG_SECONDS", 0.0)
    caplog.set_level(logging.INFO, logger="pairweave")
    output, watched = str(tmp_path), []
    still = types.SimpleNamespace(check=lambda *words: watched.append(words))
    model = files.join(output, "about.json")

    def fail(path):
        raise PermissionError(13, "S3 refuses", path)

    files.write_bytes(files.join(output, unit_receipt_name(0)), b"{}")
    with Progress(output, units=1, shards=4, pairs=4000, model=model, standstill=still):
        wait_for(caplog, "fitting the aligner")
        with monkeypatch.context() as patch:
            patch.setattr(files, "list_names", fail)
            patch.setattr(files, "exists", fail)
            before = len(watched)
            until = time.monotonic() + 30
            while len(watched) < before + 5:
                assert time.monotonic() < until
                time.sleep(0.01)
        files.write_bytes(model, b"{}")
        wait_for(caplog, "shards 0 of 4")


def write_shards(output, shards, of):
    for shard in range(shards):
        files.write_bytes(files.join(output, shard_receipt_name(shard, of)), b"{}")


def test_the_speed_is_that_of_the_whole_run(tmp_path, monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    output = str(tmp_path)
    progress = Progress(output, units=1, shards=10, pairs=1000)
    now = 104.0  # all shards of the shuffle come at once, seconds after the run began
    assert progress._state(1, 4) == "4 of 10, 100 pairs/s, 6 s left"


def test_at_the_end_no_time_is_left_and_none_is_told(tmp_path, monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    progress = Progress(str(tmp_path), units=1, shards=10, pairs=1000)
    now = 104.0
    assert progress._state(1, 10) == "10 of 10, 250 pairs/s"


def test_the_speed_is_counted_from_when_the_model_was_seen(tmp_path, monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    output = str(tmp_path)
    model = files.join(output, "about.json")
    progress = Progress(output, units=1, shards=10, pairs=1000, model=model)
    files.write_bytes(model, b"{}")
    now = 200.0
    assert progress._state(1, 4) == "4 of 10"  # how long these four took is not known
    now = 202.0
    assert progress._state(1, 6) == "6 of 10, 100 pairs/s, 4 s left"


def test_a_short_run_tells_no_speed(tmp_path, caplog):
    caplog.set_level(logging.INFO, logger="pairweave")
    output = str(tmp_path)
    with Progress(output, units=1, shards=2, pairs=100):
        files.write_bytes(files.join(output, unit_receipt_name(0)), b"{}")
        write_shards(output, 2, of=2)
    assert caplog.records[-1].getMessage() == "1 of 1 units read, shards 2 of 2"


def test_shards_of_an_earlier_attempt_do_not_count_as_speed(tmp_path, monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    output = str(tmp_path)
    write_shards(output, 4, of=10)
    progress = Progress(output, units=1, shards=10, pairs=1000)
    now = 110.0
    assert progress._state(1, 4) == "4 of 10"
    assert progress._state(1, 6) == "6 of 10, 20 pairs/s, 20 s left"


def test_a_log_says_nothing_twice(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("pairweave.pipelines.run.attempts.progress.LOCAL_SECONDS", 0.001)
    monkeypatch.setattr("pairweave.pipelines.run.attempts.progress.LOG_SECONDS", 0.0)
    caplog.set_level(logging.INFO, logger="pairweave")
    output = str(tmp_path)
    progress = Progress(output, units=1, shards=2, pairs=100)
    counted = []
    count = progress._count
    monkeypatch.setattr(progress, "_count", lambda: counted.append(count()) or counted[-1])
    with progress:
        wait_for(caplog, "0 of 2")
        looks = len(counted)
        while len(counted) < looks + 5:
            time.sleep(0.001)
        files.write_bytes(files.join(output, unit_receipt_name(0)), b"{}")
    lines = [record.getMessage() for record in caplog.records]
    assert lines == ["0 of 1 units read, shards 0 of 2", "1 of 1 units read, shards 0 of 2"]


def test_a_run_that_stands_still_is_told_once_in_a_while(tmp_path, monkeypatch, caplog):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    progress = Progress(str(tmp_path), units=1, shards=10, pairs=1000)
    for seconds, finished in ((1, 0), (899, 0), (1, 1), (899, 1), (1, 1), (899, 1), (1, 1)):
        now += seconds
        progress._warn_of_standstill(finished)
    (first, second) = [record.getMessage() for record in caplog.records]
    assert first == second
    assert first.startswith("no unit was read and no shard written for 15 min 00 s; ")


def test_aligned_pairs_move_the_bar_of_shards_that_are_not_written(tmp_path, monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    progress = Progress(str(tmp_path), units=1, shards=1, pairs=1000)
    assert progress._done(0, 0) == 0
    assert progress._aligned(0, 0) == ""
    now = 104.0
    assert progress._done(0, 400) == 0.4
    assert progress._aligned(0, 400) == ", 400 of 1,000 pairs aligned, the others in 6 s"
    assert progress._done(0, 1000) == 0.99  # they are not written
    assert progress._done(1, 1000) == 1
    assert progress._aligned(1, 1000) == ""  # the speed is told


def test_pairs_that_two_aligners_align_count_half_as_often(tmp_path):
    progress = Progress(str(tmp_path), units=1, shards=1, pairs=1000, alignments=2)
    assert progress._done(0, 400) == 0.2
    assert progress._aligned(0, 400) == ", 200 of 1,000 pairs aligned"


def test_aligned_pairs_of_a_continued_run_are_of_the_shards_that_were_missing(tmp_path):
    output = str(tmp_path)
    write_shards(output, 4, of=10)
    progress = Progress(output, units=1, shards=10, pairs=1000)
    assert progress._done(4, 150) == 5.5
    assert progress._aligned(4, 150) == ", 150 of 600 pairs aligned"


def test_a_terminal_shows_rounds_of_fitting_and_aligned_pairs(tmp_path, monkeypatch):
    monkeypatch.setattr("pairweave.pipelines.run.attempts.progress.LOCAL_SECONDS", 0.01)
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "100")
    scratch = tmp_path / "pairweave-run-1"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    progress_marks.aligned(9)  # of an earlier attempt
    output = str(tmp_path / "out")
    model = files.join(output, "about.json")

    def wait(words):
        until = time.monotonic() + 30
        while words not in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen.getvalue()):
            assert time.monotonic() < until, screen.getvalue()[-900:]
            time.sleep(0.01)

    with Progress(output, units=1, shards=1, pairs=300, model=model):
        files.write_bytes(files.join(output, unit_receipt_name(0)), b"{}")
        progress_marks.fitting(3, 6)
        wait("33% 2 of 6 of fitting the aligner")
        files.write_bytes(model, b"{}")
        progress_marks.aligned(120)
        wait(" 40% 0 of 1, 120 of 300 pairs aligned")


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize("chosen", [{"quiet": True}, {"log_format": "json"}])
def test_a_terminal_shows_no_bar_where_none_is_wanted(tmp_path, monkeypatch, chosen):
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(verbosity, "current", lambda: verbosity.Verbosity(**chosen))
    with Progress(str(tmp_path), units=1, shards=1, pairs=300):
        pass
    assert not screen.getvalue()


def test_a_terminal_shows_a_bar_for_units_and_one_for_shards(tmp_path, monkeypatch):
    monkeypatch.setattr("pairweave.pipelines.run.attempts.progress.LOCAL_SECONDS", 0.01)
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "100")
    output = str(tmp_path)
    watched = []
    standstill = types.SimpleNamespace(check=lambda *words: watched.append(words))
    with Progress(output, units=2, shards=3, pairs=300, standstill=standstill):
        for unit in range(2):
            files.write_bytes(files.join(output, unit_receipt_name(unit)), b"{}")
        write_shards(output, 2, 3)
        until = time.monotonic() + 30
        while not watched or watched[-1][0] != 4:
            assert time.monotonic() < until
            time.sleep(0.01)
    told = screen.getvalue()
    assert watched[-1] == (4, "2 of 2 units read, 2 of 3 shards written")
    assert "units" in told
    assert "2 of 2" in told
    assert "2 of 3" in told
    assert "67%" in told
