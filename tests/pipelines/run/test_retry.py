"""A failed run is tried again; only where shards are independent are some of them set aside."""

import contextlib
import dataclasses
import threading
import types

import pytest

from pairweave.pipelines.engines import engines
from pairweave.pipelines.engines.dataflow.service import SentJob
from pairweave.pipelines.jobs import align, fit
from pairweave.pipelines.run import retry
from pairweave.pipelines.run.attempts.standstill import StandstillError
from pairweave.transforms.errors import ConfigError, FullError, SetAsideError, WorkerError
from pairweave.transforms.output import attempt_marks

SHARDS = 6


class SeenError(Exception):
    """Stops an attempt as soon as its engine is asked for."""


@pytest.fixture
def planned(tmp_path):
    """Return a function that plans a job in six shards and two units."""
    lines = "".join(f"a {number}\tb {number}\n" for number in range(SHARDS))
    (tmp_path / "a.tsv").write_text(lines)

    def plan(job=align.JOB, **options):
        given = {"input": (str(tmp_path / "a.tsv"),), "source_lang": "en", "target_lang": "de"}
        given |= {"output": str(tmp_path / "out"), "shard_pairs": 1, "unit_rows": 3}
        return job.prepare(job.options(**given | options))

    return plan


@pytest.mark.parametrize(("workers", "used"), [(4, 4), (6, 6), (50, 6)])
def test_no_more_workers_start_than_have_work(planned, monkeypatch, workers, used):
    asked = []

    @contextlib.contextmanager
    def beam_options(engine, workers, *_):
        asked.append((engine, workers))
        raise SeenError
        yield

    monkeypatch.setattr(engines, "beam_options", beam_options)
    run = planned(workers=workers, attempts=1, max_set_aside=0)
    with pytest.raises(WorkerError):
        retry.resume(run, (), lambda *_: lambda _pipeline: None)
    assert (run.shards, asked) == (SHARDS, [("local", used)])


class Failing:
    """Attempts in which shard 2 always fails, as `retry._attempt` makes them."""

    def __init__(self, run, monkeypatch):
        self.run, self.made, self.tried = run, set(), []
        monkeypatch.setattr(retry, "_attempt", self.attempt)
        monkeypatch.setattr(retry.receipts, "finished_shards", lambda *_, **__: {*self.made})

    def missing(self, run, shards):
        wanted = {*range(SHARDS)} - self.made
        return (run, wanted if shards is None else wanted & shards) if wanted else None

    def attempt(self, _run, graph, _extra):
        run, shards = graph
        self.tried.append(sorted(shards))
        for shard in sorted(shards):
            if run.attempt:
                place = {"output": run.options.output, "shards": SHARDS, "attempt": run.attempt}
                attempt_marks.begin(shard, **place)
            if shard == 2:
                raise WorkerError("shard 2 cannot be made")
            self.made.add(shard)
        return None, {}


def test_a_shard_that_always_fails_is_set_aside_and_all_others_are_made(planned, monkeypatch):
    run = planned(attempts=2)
    failing = Failing(run, monkeypatch)
    with pytest.raises(SetAsideError, match="shard 2: shard 2 cannot be made"):
        retry.resume(run, (), failing.missing)
    assert failing.made == {0, 1, 3, 4, 5}


@pytest.mark.parametrize("given", [{"job": fit.JOB}, {"max_set_aside": 0}], ids=["fit", "none"])
def test_where_no_shard_can_be_left_out_the_last_attempt_is_the_end(planned, monkeypatch, given):
    """Of a fit, whose model is of all pairs; or by the options."""
    run = planned(attempts=3, **given)
    failing = Failing(run, monkeypatch)
    with pytest.raises(WorkerError, match=r"^shard 2 cannot be made$"):
        retry.resume(run, (), failing.missing)
    assert len(failing.tried) == 3
    assert failing.made == {0, 1}


@pytest.mark.parametrize("failures", [1, 2])
def test_a_full_disk_sets_no_shard_aside(planned, monkeypatch, failures):
    """On the last attempt, or while the shards that fail are looked for."""
    run = planned(attempts=1)
    failing = Failing(run, monkeypatch)

    def attempt(*words):
        if len(failing.tried) + 1 == failures:
            failing.tried.append([])
            raise FullError("a: No space left on device")
        return failing.attempt(*words)

    monkeypatch.setattr(retry, "_attempt", attempt)
    with pytest.raises(FullError, match="No space left on device"):
        retry.resume(run, (), failing.missing)
    assert len(failing.tried) == failures


def test_a_run_that_lacks_something_when_all_shards_are_made_has_failed(planned, monkeypatch):
    """Such as the receipt of a unit, without which nothing is committed."""
    run = planned(attempts=1)
    failing = Failing(run, monkeypatch)

    def missing(run, shards):
        failing.made |= {2} if shards else set()
        return failing.missing(run, shards) or (run, {*()})

    with pytest.raises(WorkerError, match=r"^shard 2 cannot be made$"):
        retry.resume(run, (), missing)
    assert failing.made == {*range(SHARDS)}


def test_an_error_of_the_user_is_not_tried_again(planned, monkeypatch):
    run = planned(attempts=3)
    tried = []

    def attempt(*_):
        tried.append(1)
        raise ConfigError("mend the file")

    monkeypatch.setattr(retry, "_attempt", attempt)
    with pytest.raises(ConfigError, match="mend the file"):
        retry.resume(run, (), lambda *_: lambda _pipeline: None)
    assert len(tried) == 1


def test_a_run_that_recovers_says_how_many_attempts_it_took(planned, monkeypatch):
    run = planned(attempts=3)
    failures = [WorkerError("once"), WorkerError("twice")]

    def attempt(*_):
        if failures:
            raise failures.pop(0)
        return None, {"Align": 1.5}

    monkeypatch.setattr(retry, "_attempt", attempt)
    ended = retry.resume(run, (), lambda *_: lambda _pipeline: None)
    assert dataclasses.astuple(ended) == (3, None, {"Align": 1.5})


def test_a_finished_run_needs_no_attempt(planned):
    assert retry.resume(planned(), (), lambda *_: None) == retry.Outcome(0)


class Result:
    """What a runner returns, and what is asked of it."""

    def __init__(self, error=None):
        self.error, self.cancelled = error, threading.Event()

    def wait_until_finish(self):
        if self.error is not None:
            raise self.error

    def cancel(self):
        self.cancelled.set()
        raise RuntimeError("cannot be cancelled")


def test_an_attempt_that_stands_still_is_cancelled_and_another_failure_is_not():
    for error, cancelled in ((StandstillError("still"), True), (RuntimeError("failed"), False)):
        result = Result(error)
        with pytest.raises(type(error)):
            retry._finish(types.SimpleNamespace(run=lambda result=result: result))
        assert result.cancelled.is_set() is cancelled
    result = Result()
    assert retry._finish(types.SimpleNamespace(run=lambda: result)) is result


def elsewhere(run, **options):
    """Return a run as it would be planned with other options, for which a cloud would be asked."""
    return dataclasses.replace(run, options=run.options.model_copy(update=options))


@pytest.mark.parametrize(
    ("engine", "extra", "given", "seconds"),
    [
        ("local", (), None, 3600.0),
        ("local", (), 2.5, 150.0),
        ("local", (), 0, None),
        ("flink", ("--flink_master=host:8081",), None, None),
        ("flink", ("--flink_master=host:8081",), 1.0, 60.0),
        ("dataflow", (), None, None),
    ],
)
def test_the_limit_of_a_standstill_is_an_hour_where_the_workers_can_be_watched(
    planned, engine, extra, given, seconds
):
    run = elsewhere(planned(), engine=engine, standstill_minutes=given)
    assert retry._standstill(run, extra)._seconds == seconds


@pytest.mark.parametrize("wait", [False, True])
def test_a_job_on_dataflow_is_waited_for_only_if_that_is_wanted(planned, monkeypatch, wait):
    result = Result()
    sent = SentJob("a-job", "a-project", "europe-west4")
    monkeypatch.setattr(retry.service, "let_beam_know_errors", lambda: None)
    monkeypatch.setattr(retry.service, "plain_errors", lambda _: contextlib.nullcontext())
    monkeypatch.setattr(retry.service, "sent_job", lambda _: sent)
    waited = []
    result.wait_until_finish = lambda: waited.append(True)
    run = elsewhere(planned(), engine="dataflow", wait=wait)
    pipeline = types.SimpleNamespace(run=lambda: result)
    assert retry._send(pipeline, run, run.options.output) == (None if wait else sent)
    assert waited == [True] * wait


def test_a_job_on_dataflow_goes_on_when_the_command_that_waits_is_stopped(
    planned, monkeypatch, caplog
):
    monkeypatch.setattr(retry.service, "let_beam_know_errors", lambda: None)
    monkeypatch.setattr(retry.service, "plain_errors", lambda _: contextlib.nullcontext())
    monkeypatch.setattr(retry.service, "sent_job", lambda _: SentJob("a-job", "p", "r"))
    run = elsewhere(planned(), engine="dataflow")
    pipeline = types.SimpleNamespace(run=lambda: Result(StandstillError("still")))
    with pytest.raises(StandstillError):
        retry._send(pipeline, run, run.options.output)
    assert caplog.messages[-1] == "job a-job goes on without this command"
