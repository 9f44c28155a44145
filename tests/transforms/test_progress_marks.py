"""Marks of how far workers of this machine are."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.pipelines.steps.aligning import align_table
from pairweave.transforms import progress_marks
from pairweave.transforms.progress_marks import Marks
from pairweave.transforms.shards.shard import Shard
from tests.makers.hmm_corpora import plain_table


@pytest.fixture
def directory(tmp_path, monkeypatch):
    directory = tmp_path / "pairweave-run-1"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    return directory


def test_pairs_of_all_processes_add_up_and_the_last_round_counts(directory):
    assert progress_marks.read() == Marks(0, (0, 0))
    progress_marks.aligned(30)
    progress_marks.aligned(12)
    code = "from pairweave.transforms import progress_marks; progress_marks.aligned(100)"
    subprocess.run([sys.executable, "-c", code], check=True)
    progress_marks.fitting(1, 6)
    progress_marks.fitting(2, 6)
    assert progress_marks.read() == Marks(142, (2, 6))
    progress_marks.clear()
    assert progress_marks.read() == Marks(0, (0, 0))
    assert list(directory.iterdir()) == []


@pytest.mark.usefixtures("directory")
def test_a_block_marks_what_was_not_marked_within_it():
    with progress_marks.aligning(100):
        progress_marks.aligned(64)
        assert progress_marks.read().aligned == 64
    assert progress_marks.read().aligned == 100
    with progress_marks.aligning(100):
        progress_marks.aligned(120)
    assert progress_marks.read().aligned == 220


@pytest.mark.usefixtures("directory")
def test_two_threads_do_not_count_for_each_other():
    with progress_marks.aligning(100), ThreadPoolExecutor(1) as pool:
        pool.submit(progress_marks.aligned, 70).result()
    assert progress_marks.read().aligned == 170


def test_half_written_marks_do_no_harm(directory):
    (directory / "fitting").write_text("3")
    (directory / "aligned-1").write_text("7\n-")
    assert progress_marks.read() == Marks(0, (0, 0))


def test_a_directory_that_cannot_be_written_stops_nothing(directory):
    directory.rmdir()
    progress_marks.aligned(30)
    progress_marks.fitting(1, 6)
    progress_marks.clear()
    assert progress_marks.read() == Marks(0, (0, 0))


def test_the_rounds_of_a_fit_are_marked_from_the_first_to_one_more_than_the_last(monkeypatch):
    marked = []
    monkeypatch.setattr(progress_marks, "fitting", lambda *mark: marked.append(mark))
    fit(plain_table([("a b", "A B"), ("b a", "B A")]), HmmConfig())
    rounds = HmmConfig().model1_iterations + HmmConfig().hmm_iterations
    assert marked == [(begun, rounds) for begun in range(1, rounds + 2)]


@pytest.mark.usefixtures("directory")
def test_a_shard_marks_its_pairs_once_they_are_aligned():
    class Reference:
        digest = "a"

        def load(self):
            return self

        def align_or_reject(self, table):
            assert progress_marks.read().aligned == 0
            return table, {}

    table = plain_table([("a", "A"), ("b", "B")])
    align_table(Shard(0, table, table.slice(0, 0), table), Reference())
    assert progress_marks.read().aligned == 2


def test_outside_a_run_nothing_is_marked(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    progress_marks.aligned(30)
    progress_marks.fitting(1, 6)
    assert progress_marks.read() == Marks(0, (0, 0))
    assert list(tmp_path.iterdir()) == []
