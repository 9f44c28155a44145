"""The `local` engine: Beam's results, in less memory, on processes that leave nothing behind."""

import json
import os
import subprocess
import sys
import threading
import time
import types
from collections.abc import Iterable, Iterator
from pathlib import Path

import apache_beam as beam
import grpc
import pytest
from apache_beam.coders import coders
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.portability.api import beam_fn_api_pb2
from apache_beam.runners.portability.fn_api_runner import worker_handlers
from apache_beam.runners.portability.fn_api_runner.execution import GroupingBuffer
from apache_beam.runners.worker import data_plane
from apache_beam.testing.util import assert_that, equal_to
from apache_beam.transforms.core import Windowing
from apache_beam.transforms.userstate import ReadModifyWriteStateSpec
from apache_beam.transforms.window import FixedWindows, GlobalWindows, TimestampedValue
from apache_beam.utils.windowed_value import WindowedValue
from hypothesis import given
from hypothesis import strategies as st

from pairweave.pipelines.engines.local import (
    local_runner,
    local_sockets,
    process_handler,
    spilled_groups,
)
from pairweave.pipelines.engines.local.spilled_groups import SpilledGroups, pieces
from pairweave.transforms.errors import WorkerError
from tests.cluster import toy_shards

TOY = Path(toy_shards.__file__)
WINDOW = GlobalWindows().get_window_coder()
PAIR = coders.TupleCoder((coders.VarIntCoder(), coders.BytesCoder()))
GROUP = coders.TupleCoder((coders.VarIntCoder(), coders.IterableCoder(coders.BytesCoder())))
BEFORE = coders.WindowedValueCoder(PAIR, WINDOW)
AFTER = coders.WindowedValueCoder(GROUP, WINDOW)

elements = st.lists(st.tuples(st.integers(0, 5), st.binary(max_size=40)), max_size=20)


def encoded(values: list[tuple[int, bytes]]) -> bytes:
    window = GlobalWindows().assign(None)
    implementation = BEFORE.get_impl()
    return b"".join(
        implementation.encode_nested(WindowedValue(value, 0, window)) for value in values
    )


def decoded(groups: Iterable[bytes]) -> dict[int, list[bytes]]:
    implementation = AFTER.get_impl()
    result = [value.value for group in groups for value in implementation.decode_all(group)]
    assert len({key for key, _ in result}) == len(result)
    return {key: list(values) for key, values in result}


def beams_buffer() -> GroupingBuffer:
    return GroupingBuffer(BEFORE, AFTER, Windowing(GlobalWindows()))


def connected():
    """Return a handler with connections and no process."""
    handler = process_handler.ProcessHandler.__new__(process_handler.ProcessHandler)
    handler._stopping = False
    handler.data_conn = data_plane._GrpcDataChannel()
    handler.control_conn = worker_handlers.ControlConnection()
    handler._requests = process_handler.Requests(handler.control_conn)
    return handler


def test_a_lost_worker_wakes_what_waits_for_its_answer_and_for_its_data():
    """Without that a launcher would wait for ever for a worker that ran out of memory."""

    class Killed:
        pid = 17

        def wait(self):
            return -9

    handler = connected()
    waiting = handler.control_conn.push(beam_fn_api_pb2.InstructionRequest())
    handler._watch(Killed())
    with pytest.raises(WorkerError, match=r"worker process 17 was killed \(signal 9\)"):
        next(handler.data_conn.input_elements("bundle-1", ["input"], lambda: False))
    later = handler.control_conn.push(beam_fn_api_pb2.InstructionRequest())
    for future in (waiting, later):
        with pytest.raises(WorkerError, match=r"worker process 17 was killed \(signal 9\)"):
            future.get(timeout=5)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (-9, "worker process 17 was killed (signal 9): the machine may have run out of memory"),
        (-11, "worker process 17 was ended by SIGSEGV before its work was done, by code that"),
        (0, "worker process 17 ended with status 0 before its work was done, by code that it"),
    ],
)
def test_a_connection_that_breaks_first_is_explained_by_the_end_of_the_worker(code, said):
    handler = connected()
    process = types.SimpleNamespace(pid=17, wait=lambda: time.sleep(0.2) or code)
    threading.Thread(target=handler._watch, args=(process,)).start()
    assert str(handler.cause(RuntimeError("Channel closed prematurely."))).startswith(said)


def test_an_error_of_a_worker_that_lives_is_its_own_cause():
    handler = connected()
    error = ValueError("one of a step")
    assert handler.cause(error) is error


def test_requests_are_answered_until_the_worker_ends():
    connection = worker_handlers.ControlConnection()
    process_handler.Requests(connection)
    future = connection.push(beam_fn_api_pb2.InstructionRequest())
    assert connection.push(worker_handlers.BeamFnControlServicer._DONE_MARKER) is None
    future.set(answer := beam_fn_api_pb2.InstructionResponse(error="none"))
    assert future.get() is answer
    assert connection.get_req().instruction_id == future.instruction_id


def test_a_worker_that_was_told_to_end_is_not_lost():
    handler = process_handler.ProcessHandler.__new__(process_handler.ProcessHandler)
    handler._stopping = True
    handler._watch(types.SimpleNamespace(pid=17, wait=lambda: 0))  # it has no connection to abort


@given(appended=st.lists(elements, max_size=4))
def test_spilled_groups_are_those_of_beams_own_buffer(appended):
    slow, fast = beams_buffer(), SpilledGroups(beams_buffer())
    for values in appended:
        slow.append(encoded(values))
        fast.append(encoded(values))
    expected = decoded(part for parts in slow.partition(1) for part in parts)
    assert decoded(fast) == expected
    assert decoded(fast) == expected  # a second stage may read them too
    assert decoded(part for parts in fast.partition(3) for part in parts) == expected
    fast.close()


def test_groups_larger_than_memory_come_back(monkeypatch):
    monkeypatch.setattr(spilled_groups, "MEMORY_BYTES", 100)
    groups = SpilledGroups(beams_buffer())
    for number in range(50):
        groups.append(encoded([(number % 3, bytes([number]) * 50)]))
    assert groups._file._rolled
    assert [len(values) for values in decoded(groups).values()] == [17, 17, 16]
    groups.close()


@pytest.mark.parametrize(("keys", "bundles"), [(0, 0), (1, 1), (7, 7), (256, 256), (700, 234)])
def test_a_bundle_is_one_group_until_there_are_many(keys, bundles):
    for buffer in (beams_buffer(), SpilledGroups(beams_buffer())):
        buffer.append(encoded([(key, b"x") for key in range(keys)]))
        cut = [bundle for bundle in pieces(buffer, 2) if any(bundle)]
        assert len(cut) == bundles
        assert len(decoded(group for bundle in cut for group in bundle)) == keys


def test_a_bundle_of_large_groups_is_closed_early(monkeypatch):
    monkeypatch.setattr(spilled_groups, "BUNDLE_BYTES", 100)
    monkeypatch.setattr(spilled_groups, "BUNDLES", 1)
    groups = SpilledGroups(beams_buffer())
    groups.append(encoded([(key, b"x" * 60) for key in range(6)]))
    assert [len(bundle) for bundle in pieces(groups, 2)] == [2, 2, 2]
    groups.close()


def test_a_full_disk_is_told_with_the_directory():
    class Full:
        def seek(self, _):
            pass

        def write(self, _):
            raise OSError(28, "No space left on device")

    groups = SpilledGroups(beams_buffer())
    groups._file = Full()
    with pytest.raises(WorkerError, match="No space left on device; free some space there"):
        groups.append(encoded([(1, b"x")]))


def test_a_worker_whose_connection_broke_is_waited_for():
    """Its connection may note that after the launcher has begun to close it."""
    ended = []

    class Connection:
        def close(self):
            pass

    class Broken:
        def close(self):
            raise grpc.RpcError

    class Process:
        def wait(self, timeout):
            ended.append(timeout)

    handler = process_handler.ProcessHandler.__new__(process_handler.ProcessHandler)
    handler.control_conn, handler.data_conn, handler._process = Connection(), Broken(), Process()
    handler.close()
    assert ended


class Count(beam.DoFn):
    """Counts what it saw of each key, in state."""

    SEEN = beam.DoFn.StateParam(ReadModifyWriteStateSpec("seen", coders.VarIntCoder()))

    def process(self, element: tuple[int, int], seen=SEEN) -> Iterator[tuple[int, int]]:
        count = (seen.read() or 0) + 1
        seen.write(count)
        yield element[0], count


def keyed(number: int) -> tuple[int, int]:
    return number % 7, number


def parts(element: tuple[int, Iterable[int]]) -> Iterator[object]:
    key, values = element
    yield key, sorted(values)
    yield beam.pvalue.TaggedOutput("keys", key)


def minus(number: int, smallest: int) -> int:
    return number - smallest


def megabytes(number: int) -> Iterator[tuple[int, bytes]]:
    for part in range(40):
        yield number, bytes([part]) * (1 << 20)


def test_beams_servers_are_private_and_never_cut_data_while_a_run_lasts():
    before = worker_handlers.DATA_BUFFER_TIME_LIMIT_MS, worker_handlers.grpc, threading.excepthook
    assert before[0] > 0
    with local_runner._own_servers():
        assert worker_handlers.DATA_BUFFER_TIME_LIMIT_MS == 0
        assert isinstance(worker_handlers.grpc, local_sockets.SocketGrpc)
        assert threading.excepthook is not before[2]
    after = worker_handlers.DATA_BUFFER_TIME_LIMIT_MS, worker_handlers.grpc, threading.excepthook
    assert after == before


def test_beams_servers_stay_private_until_the_last_of_several_runs_ends():
    before = worker_handlers.DATA_BUFFER_TIME_LIMIT_MS, worker_handlers.grpc, threading.excepthook
    first, second = local_runner._own_servers(), local_runner._own_servers()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert worker_handlers.DATA_BUFFER_TIME_LIMIT_MS == 0
    assert isinstance(worker_handlers.grpc, local_sockets.SocketGrpc)
    second.__exit__(None, None, None)
    after = worker_handlers.DATA_BUFFER_TIME_LIMIT_MS, worker_handlers.grpc, threading.excepthook
    assert after == before


@pytest.mark.slow
def test_nothing_is_lost_of_what_takes_long_to_send(monkeypatch):
    """Beam's servers would cut it every few milliseconds, and lose what comes meanwhile."""
    monkeypatch.setattr(worker_handlers, "DATA_BUFFER_TIME_LIMIT_MS", 5)
    arguments = [
        "--runner=pairweave.pipelines.engines.local.local_runner.LocalRunner",
        "--direct_num_workers=2",
    ]
    arguments.append("--direct_running_mode=multi_threading")
    with beam.Pipeline(options=PipelineOptions(arguments)) as pipeline:
        few = pipeline | "Few" >> beam.Create([0]) | "Part" >> beam.FlatMap(megabytes)
        more = pipeline | "More" >> beam.Create([1, 2, 3]) | "Parts" >> beam.FlatMap(megabytes)
        counts = (few, more) | beam.Flatten() | beam.combiners.Count.PerKey()
        assert_that(counts, equal_to([(number, 40) for number in range(4)]))


def test_a_graph_of_every_kind_of_step_gives_beams_results():
    """Shuffles, two readers of one shuffle, side inputs, windows, state, nothing at all."""
    options = PipelineOptions(
        ["--runner=pairweave.pipelines.engines.local.local_runner.LocalRunner"]
    )
    numbers = list(range(100))
    with beam.Pipeline(options=options) as pipeline:
        created = pipeline | "Numbers" >> beam.Create(numbers, reshuffle=True)
        groups = created | beam.Map(keyed) | "Group" >> beam.GroupByKey()
        split = groups | beam.FlatMap(parts).with_outputs("keys", main="groups")
        assert_that(
            split.groups, equal_to([(key, list(range(key, 100, 7))) for key in range(7)]), "groups"
        )
        assert_that(split.keys, equal_to(list(range(7))), "keys")
        sizes = groups | beam.MapTuple(lambda key, values: (key, len(list(values))))
        assert_that(sizes, equal_to([(0, 15), (1, 15), *((key, 14) for key in range(2, 7))]), "two")
        smallest = created | beam.CombineGlobally(min)
        rest = created | beam.Map(minus, beam.pvalue.AsSingleton(smallest))
        assert_that(rest, equal_to(numbers), "side")
        counted = created | "Again" >> beam.Map(keyed) | beam.ParDo(Count())
        highest = counted | beam.CombinePerKey(max)
        assert_that(highest, equal_to([(0, 15), (1, 15), *((k, 14) for k in range(2, 7))]), "state")
        windows = (
            created
            | beam.Map(lambda number: TimestampedValue((0, number), number))
            | beam.WindowInto(FixedWindows(50))
            | "Sum" >> beam.CombinePerKey(sum)
        )
        assert_that(windows, equal_to([(0, 1225), (0, 3725)]), "windows", reify_windows=False)
        nothing = pipeline | "Nothing" >> beam.Create([]) | "Key nothing" >> beam.Map(keyed)
        both = (nothing, created | "Third" >> beam.Map(keyed)) | beam.Flatten() | beam.GroupByKey()
        assert_that(both | beam.combiners.Count.Globally(), equal_to([7]), "flatten")


def toy(output: Path, *flags: str, **settings) -> dict[str, object]:
    """Run the toy job as a program, from a directory that is not the checkout."""
    done = subprocess.run(
        [sys.executable, str(TOY), "--output", str(output), *flags],
        env={**os.environ, "PYTHONPATH": str(TOY.parents[2])},
        cwd=output.parent,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        **settings,
    )
    assert done.stdout, done.stderr
    return {**json.loads(done.stdout), "stderr": done.stderr, "status": done.returncode}


STARTS = pytest.mark.parametrize(
    "start",
    [
        pytest.param((), id="programs", marks=pytest.mark.slow),
        pytest.param(("--forks",), id="forks"),
    ],
)
"""The start method of worker processes."""


@pytest.mark.slow
@STARTS
def test_two_processes_make_what_one_makes_and_share_the_work(tmp_path, capsys, start):
    # A folder in which the user stands must not stand in for ours.
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines" / "__init__.py").write_text("raise ImportError('not this one')\n")
    work = ("--shards", "8", "--work", "meet", "--slow", "0")
    toy_shards.main(["--output", str(tmp_path / "one"), "--workers", "1", "--shards", "8"])
    one = json.loads(capsys.readouterr().out)
    two = toy(tmp_path / "two", "--workers", "2", *work, *start)
    assert two["digest"] == one["digest"]
    assert len(one["pids"]) == 1
    assert len(two["pids"]) == 2
    # The shard that waits for all others holds its worker, not the other one.
    assert min(two["pids"].values()) < max(two["pids"].values())
    assert "Traceback" not in two["stderr"]


@pytest.mark.slow
@STARTS
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_failure_is_one_message(tmp_path, workers, start):
    failed = toy(tmp_path / "out", "--workers", workers, "--fault", "config", *start)
    assert failed["status"] == 1
    assert failed["error"] == "toy.txt: shard 1 cannot be made: mend the file"
    assert "Traceback" not in failed["stderr"]
    assert failed["user_error"]


@STARTS
@pytest.mark.slow
def test_a_killed_worker_is_named_and_nothing_stays_behind(tmp_path, start):
    failed = toy(tmp_path / "out", "--workers", "2", "--fault", "kill", *start)
    assert failed["status"] == 1
    assert "was killed (signal 9)" in failed["error"]
    assert not failed["user_error"]


@pytest.mark.slow
def test_the_memory_of_a_shuffle_does_not_grow_with_it(tmp_path):
    size = ("--workers", "1", "--rows", "50000", "--fill", "1000", "--shards", "40")
    small = toy(tmp_path / "small", *size, "--units", "2")
    large = toy(tmp_path / "large", *size, "--units", "10")
    assert large["peak_bytes"] < small["peak_bytes"] + 250e6  # 400 MB more are shuffled


def weighed(pair: tuple[int, int], weight: int) -> tuple[int, int]:
    return pair[0], pair[1] * weight


def total(pairs: tuple[int, Iterable[int]]) -> int:
    return sum(pairs[1])


@pytest.mark.parametrize("joined", [(False, True), (True, True)])
def test_a_collection_feeds_a_side_input_and_the_step_that_takes_it(joined):
    """Beam's own runner never begins if another collection joins the first one on the way."""
    with beam.Pipeline(runner=local_runner.LocalRunner()) as pipeline:
        rows = pipeline | "Rows" >> beam.Create([(0, 1), (0, 2), (0, 3)], reshuffle=True)
        more = pipeline | "More" >> beam.Create([(0, 4), (0, 5)], reshuffle=True)
        fitted = None
        for number, joins in enumerate(joined):
            if fitted is None:
                actual = rows
            else:
                weight = beam.pvalue.AsSingleton(fitted)
                actual = rows | f"Weigh{number}" >> beam.Map(weighed, weight)
            if joins:
                actual = (actual, more) | f"Join{number}" >> beam.Flatten()
            groups = actual | f"Group{number}" >> beam.GroupByKey()
            fitted = groups | f"Fit{number}" >> beam.Map(total)
        used = rows | "Use" >> beam.Map(weighed, beam.pvalue.AsSingleton(fitted))
        first = 6 + 9 * joined[0]
        last = 6 * first + 9
        assert_that(used, equal_to([(0, last), (0, 2 * last), (0, 3 * last)]))


def test_a_joined_collection_is_a_whole_side_input():
    with beam.Pipeline(runner=local_runner.LocalRunner()) as pipeline:
        sides = [
            pipeline | f"Side{number}" >> beam.Create([number], reshuffle=True) for number in (1, 2)
        ]
        joined = beam.pvalue.AsIter(sides | beam.Flatten())
        once = pipeline | "Once" >> beam.Create([0])
        summed = once | "Sum" >> beam.Map(lambda _, numbers: sum(numbers), joined)
        assert_that(summed, equal_to([3]))
