"""Ctrl-C and other signals stop a run at every stage within two seconds."""

import os
import signal
import time
from pathlib import Path

import pytest

from pairweave.pipelines.process import supervisor
from tests.cluster.conftest import ready
from tests.makers import corpora, runs, terminals

SECONDS = 2.0
STAGES = {
    "planning": ("pairweave.pipelines.run.job", "prepare"),
    "reading": ("pairweave.pipelines.steps.steps", "read_unit"),
    "pieces": ("pairweave.pipelines.jobs.screened_rows", "train_sentencepiece"),
    "fit": ("pairweave.pipelines.steps.hmm_fitting", "fit"),
    "aligning": ("pairweave.models.hmm.hmm", "HmmModel.align"),
    "writing": ("pairweave.pipelines.steps.steps", "write_shard"),
    "commit": ("pairweave.pipelines.steps.steps", "commit_run"),
}
WAYS = ("python", "call", "deaf", "threads")
REST = [
    ("planning", "python", 1),
    ("aligning", "deaf", 2),
    ("fit", "threads", 2),
    *((stage, WAYS[(place + 2) % 4], 1 + place % 2) for place, stage in enumerate(STAGES)),
]
GROUP = [
    (signal.SIGINT, "threads", 2, "writing"),
    (signal.SIGINT, "call", 1, "fit"),
    (signal.SIGTERM, "call", 2, "writing"),
    (signal.SIGTERM, "threads", 1, "fit"),
    (signal.SIGHUP, "threads", 2, "fit"),
]


@pytest.fixture(scope="module")
def arguments(tmp_path_factory):
    directory = tmp_path_factory.mktemp("corpus")
    corpora.write_corpus(directory, 400)
    sides = ("--source_input", directory / "corpus.en", "--target_input", directory / "corpus.de")
    return ("augment", "--source_lang", "en", "--target_lang", "de", *sides)


def held(arguments, tmp_path, stage, way, workers=1):
    more = ["--output", tmp_path / "out", "--workers", workers, "--unit_rows", 100]
    if workers > 1:
        more += ["--shard_pairs", 50]
    if stage == "pieces":
        more += ["--tokens", "sentencepiece", "--vocabulary", 300]
    mark = tmp_path / "mark"
    words = (*arguments, *more)
    terminal = terminals.held(*STAGES[stage], way, mark, words, tmp_path / "tmp")
    if not terminals.until(lambda: mark.exists() or terminal.process.poll() is not None):
        terminal.close()
    assert mark.exists(), terminal.shown[-2000:]
    return terminal


def check_stopped(terminal, pids, tmp_path, status=130, text="interrupted"):
    result, taken = terminal.wait()
    assert terminals.alive(pids) == []
    assert result == status, terminal.shown[-2000:]
    assert taken < SECONDS
    assert f"pairweave: {text}; run the same command again to continue" in terminal.shown
    assert "Traceback" not in terminal.shown
    assert "attempt" not in terminal.shown
    assert list((tmp_path / "tmp").iterdir()) == []
    assert len(set((tmp_path / "mark").read_text().split())) <= 2  # it was never begun again


def check_ctrl_c(arguments, tmp_path, stage, way, workers):
    with held(arguments, tmp_path, stage, way, workers) as terminal:
        pids = terminal.below()
        terminal.press()
        check_stopped(terminal, pids, tmp_path)
    # Workers of Flink are killed as they write; the commit of the next run removes what they left.
    assert not list(Path(tmp_path).glob("out/**/.tmp-*"))


@pytest.mark.slow
def test_ctrl_c_stops_a_run_within_two_seconds(arguments, tmp_path):
    check_ctrl_c(arguments, tmp_path, "fit", "call", 1)


@pytest.mark.slow
@pytest.mark.parametrize(("stage", "way", "workers"), REST)
def test_ctrl_c_stops_a_run_at_every_stage(arguments, tmp_path, stage, way, workers):
    check_ctrl_c(arguments, tmp_path, stage, way, workers)


@pytest.mark.slow
@pytest.mark.parametrize("stage", list(STAGES)[::2])
def test_a_second_ctrl_c_stops_a_run_at_once(arguments, tmp_path, stage):
    with held(arguments, tmp_path, stage, "call") as terminal:
        pids = terminal.below()
        since = time.monotonic()
        terminal.press()
        time.sleep(supervisor.TWICE_SECONDS + 0.1)
        terminal.press()
        check_stopped(terminal, pids, tmp_path)
        assert time.monotonic() - since < supervisor.ASKED_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize(("number", "way", "workers", "stage"), GROUP)
def test_a_signal_to_the_group_stops_it_too(arguments, tmp_path, number, way, workers, stage):
    text = "interrupted" if number == signal.SIGINT else f"ended by {number.name}"
    with held(arguments, tmp_path, stage, way, workers) as terminal:
        pids = terminal.below()
        os.killpg(terminal.process.pid, number)
        check_stopped(terminal, pids, tmp_path, 128 + number, text)


@pytest.mark.slow
def test_sigterm_stops_a_run_within_a_long_document(tmp_path):
    """A document of many sentences is aligned by kernels that run for minutes."""
    paragraph = [corpora.sentence(number) for number in range(500)]
    for side, name in enumerate(("en", "de")):
        lines = "".join(f"{texts[side]}\n" for texts in paragraph)
        (tmp_path / f"long.{name}").write_text(lines * 240)
    command = ["bitext", "--source_lang", "en", "--target_lang", "de", "--output", tmp_path / "out"]
    command += ["--source_input", tmp_path / "long.en", "--target_input", tmp_path / "long.de"]
    with terminals.Terminal([*runs.COMMAND, *command], tmp_path / "tmp") as terminal:
        said = "(120,000 sentences): pass 1 of 2, comparing lengths:"
        assert terminals.until(lambda: said in terminal.shown), terminal.shown[-2000:]
        pids = terminal.below()
        os.kill(terminal.process.pid, signal.SIGTERM)
        status, taken = terminal.wait()
        assert status == 143
        assert taken < SECONDS
        assert terminals.alive(pids) == []
        assert "ended by SIGTERM; run the same command again to continue" in terminal.shown


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_signal_to_any_one_process_stops_the_run(arguments, tmp_path, place):
    with held(arguments, tmp_path, "fit", "python") as terminal:
        pids = terminal.below()
        os.kill(pids[place], signal.SIGTERM)
        check_stopped(terminal, pids, tmp_path, 143, "ended by SIGTERM")


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 1, 2])
def test_nothing_is_left_of_a_run_one_of_whose_processes_is_killed(arguments, tmp_path, place):
    with held(arguments, tmp_path, "aligning", "call", 2) as terminal:
        pids = terminal.below()
        os.kill(pids[place], signal.SIGKILL)
        status, _ = terminal.wait()
        assert status == (-signal.SIGKILL if place == 0 else 137)
        assert terminals.until(lambda: not terminals.alive(pids), SECONDS)
        assert terminals.until(lambda: not list((tmp_path / "tmp").iterdir()), SECONDS)
        if place:
            assert "pairweave: killed (signal 9)" in terminal.shown


@pytest.mark.slow
def test_a_run_whose_group_is_killed_leaves_nothing(arguments, tmp_path):
    with held(arguments, tmp_path, "fit", "call") as terminal:
        pids = terminal.below()
        os.killpg(terminal.process.pid, signal.SIGKILL)
        assert terminals.until(lambda: not terminals.alive(pids), SECONDS)
        assert terminals.until(lambda: not list((tmp_path / "tmp").iterdir()), SECONDS)


@pytest.mark.slow
def test_what_is_left_when_all_were_killed_at_once_goes_with_the_next_run(arguments, tmp_path):
    with held(arguments, tmp_path, "planning", "python") as terminal:
        pids = terminal.below()
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in pids:
                os.kill(pid, number)
        assert terminals.until(lambda: not terminals.alive(pids))
    assert len(list((tmp_path / "tmp").iterdir())) == 1
    (tmp_path / "mark").unlink()
    with held(arguments, tmp_path, "planning", "python") as terminal:
        assert len(list((tmp_path / "tmp").iterdir())) == 1
        pids = terminal.below()
        terminal.press()
        check_stopped(terminal, pids, tmp_path)


def on_engine(arguments, tmp_path, engine, workers, seen):
    """Start a run of one of Beam's own runners; wait for a file that shows how far it is."""
    ready(engine)
    more = ("--unit_rows", 20, "--shard_pairs", 10, "--output", tmp_path / "out")
    command = [*runs.COMMAND, *arguments, *more, "--engine", engine, "--workers", workers]
    terminal = terminals.Terminal(command, tmp_path / "tmp")
    ended = terminal.process.poll
    reached = terminals.until(lambda: list(tmp_path.glob(seen)) or ended() is not None, 300)
    assert reached, terminal.shown[-2000:]
    assert ended() is None, terminal.shown[-2000:]
    return terminal


ENGINES = [("prism", 1), ("flink", 1), ("flink", 2)]
SEEN = ["tmp/*/pairweave-*/*", "out/_receipts/unit-*", "out/models/hmm/*"]
STOPPED = [
    *(("flink", 2, seen) for seen in SEEN),
    ("flink", 1, SEEN[1]),
    ("prism", 1, SEEN[0]),
    ("prism", 1, SEEN[2]),
]


@pytest.mark.flink
@pytest.mark.parametrize(("engine", "workers", "seen"), STOPPED)
def test_ctrl_c_stops_every_engine(arguments, tmp_path, engine, workers, seen):
    (tmp_path / "mark").touch()
    with on_engine(arguments, tmp_path, engine, workers, seen) as terminal:
        pids = terminal.below()
        terminal.press()
        check_stopped(terminal, pids, tmp_path)


@pytest.mark.flink
@pytest.mark.parametrize(("engine", "workers"), ENGINES)
def test_nothing_is_left_of_an_engine_whose_launcher_is_killed(
    arguments, tmp_path, engine, workers
):
    with on_engine(arguments, tmp_path, engine, workers, SEEN[1]) as terminal:
        pids = terminal.below()
        os.kill(terminal.process.pid, signal.SIGKILL)
        assert terminals.until(lambda: not terminals.alive(pids), SECONDS)
        assert terminals.until(lambda: not list((tmp_path / "tmp").iterdir()), SECONDS)
