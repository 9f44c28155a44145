"""The `local` engine: Beam's in-memory runner, with the bundles and shuffle of a real one.

Beam's `FnApiRunner` makes one bundle per worker in each stage and keeps several copies of all
shuffled data in memory: about six times its size was measured, and elements that are sent together
must stay under 2 GiB. Here

- a bundle is one group of the shuffle (one unit to read, one shard to make), or a few small ones;
- a worker takes the next bundle when it has finished its last one, so a slow shard does not delay
  others;
- shuffled values wait in unnamed temporary files, which leave nothing behind after a kill; tables
  wait in a file that all workers share, so that only their positions pass through this process
  (`transforms.arrow.exchange`);
- data for a worker is never flushed by a timer. Beam's own servers do this every second, from
  another thread and without a lock, and lose data that is written in the meantime;
- workers are processes that end with their launcher, forked where that is safe
  (`pipelines.engines.local.forks`), and no port is open: they talk over sockets in a folder that
  only their user can enter.

It builds on parts of Beam that are not public, which is why Beam's minor version is pinned.
"""

# Beam types these parts as Any, and its coders take positional booleans (FBT003).
# ruff: noqa: ANN401, FBT003

import collections
import contextlib
import copy
import itertools
import signal
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import grpc
from apache_beam.coders.coder_impl import create_InputStream, create_OutputStream
from apache_beam.portability import python_urns
from apache_beam.portability.api import beam_fn_api_pb2
from apache_beam.runners.portability.fn_api_runner import execution, fn_runner, worker_handlers
from apache_beam.transforms.window import GlobalWindow, GlobalWindows
from apache_beam.utils import timestamp, windowed_value

from pairweave.pipelines.engines.local import forks, local_sockets, worker
from pairweave.pipelines.process import memory
from pairweave.transforms.arrow import exchange
from pairweave.transforms.errors import WorkerError

BUNDLES = 256
"""The approximate maximum number of bundles in a stage: each costs a few milliseconds."""

BUNDLE_BYTES = 64 << 20
"""A bundle of several groups is closed when it reaches this size."""

MEMORY_BYTES = 64 << 20
"""Amount of data that one shuffle keeps in memory before it writes to its file."""

WORKER_URN = "pairweave:env:worker:v1"
"""The environment of a worker process."""

_ON_TIME = windowed_value.PaneInfo(
    is_first=True,
    is_last=True,
    timing=windowed_value.PaneInfoTiming.ON_TIME,
    index=0,
    nonspeculative_index=0,
)

Piece = list[bytes]


class SpilledGroups:
    """The grouped input of one GroupByKey: values in a file, their positions in memory.

    It replaces Beam's `GroupingBuffer` and takes over its coders.
    """

    cleared = False

    def __init__(self, buffer: execution.GroupingBuffer) -> None:
        self._decoder = buffer._pre_grouped_coder.get_impl()
        self._key_coder = buffer._key_coder
        self._value_coder = buffer._pre_grouped_coder.value_coder()
        self._encoder = buffer._post_grouped_coder.get_impl()
        self._places: dict[bytes, list[tuple[int, int]]] = collections.defaultdict(list)
        self._file = tempfile.SpooledTemporaryFile(MEMORY_BYTES)  # noqa: SIM115 - see close
        # Closed with the run, or sooner when no stage is left that reads it.
        self.close = weakref.finalize(self, self._file.close)
        self._end = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._places)

    def append(self, elements: bytes) -> None:
        """Add encoded (key, value) elements.

        Raises:
            MachineError: The disk is full.
        """
        stream = create_InputStream(elements)
        with self._lock:
            self._file.seek(self._end)
            while stream.size() > 0:
                key, value = self._decoder.decode_from_stream(stream, True).value
                encoded = self._value_coder.encode(value)
                self._places[self._key_coder.encode(key)].append((self._end, len(encoded)))
                try:
                    self._file.write(encoded)
                except OSError as error:
                    raise exchange.unwritable(error, len(encoded)) from error
                self._end += len(encoded)

    def extend(self, other: object) -> None:
        """Add another buffer's content; a buffer of another kind is always empty."""
        if isinstance(other, SpilledGroups) and other is not self:
            for group in other:
                self.append(group)

    def copy(self) -> "SpilledGroups":
        """Return itself, because it can be read any number of times."""
        return self

    def __iter__(self) -> Iterator[bytes]:
        """Yield each group as an encoded (key, values) element."""
        for encoded_key, places in self._places.items():
            with self._lock:
                values = []
                for start, size in places:
                    self._file.seek(start)
                    values.append(self._value_coder.decode(self._file.read(size)))
            element = GlobalWindows.windowed_value(
                (self._key_coder.decode(encoded_key), values),
                timestamp=GlobalWindow().max_timestamp(),
                pane_info=_ON_TIME,
            )
            stream = create_OutputStream()
            self._encoder.encode_to_stream(element, stream, True)
            yield stream.get()

    def partition(self, parts: int) -> list[Piece]:
        """Divide the groups; only Beam calls this."""
        groups = list(self)
        return [groups[part::parts] for part in range(parts)]

    def clear(self) -> None:
        """Do nothing: the file is deleted with the buffer."""

    def reset(self) -> None:
        """Do nothing."""


def pieces(buffer: Any, workers: int) -> Iterator[Piece]:
    """Cut the input of a stage into bundles."""
    if isinstance(buffer, SpilledGroups):
        count, groups = len(buffer), iter(buffer)
    elif isinstance(buffer, execution.GroupingBuffer):
        # As many parts as groups: one group a part.
        parts = buffer.partition(max(1, len(buffer._table)))
        count, groups = len(parts), (group for part in parts for group in part)
    else:
        for part in buffer.partition(workers):
            yield from _bundles(part, len(part))
        return
    yield from _bundles(groups, -(-count // BUNDLES))


def _bundles(groups: Iterable[bytes], most: int) -> Iterator[Piece]:
    """Combine at most ``most`` groups into a bundle, or fewer if they are large."""
    bundle: Piece = []
    size = 0
    for group in groups:
        bundle.append(group)
        size += len(group)
        if len(bundle) >= most or size >= BUNDLE_BYTES:
            yield bundle
            bundle, size = [], 0
    if bundle:
        yield bundle


class Bundles(fn_runner.BundleManager):
    """Runs one stage as many bundles, each on the first free worker."""

    def process_bundle(
        self,
        inputs: Mapping[str, Any],
        expected_outputs: Any,
        fired_timers: Mapping[Any, Any],
        expected_output_timers: Any,
        dry_run: bool = False,  # noqa: FBT001, FBT002 - Beam's
    ) -> tuple[beam_fn_api_pb2.InstructionResponse, list[Any]]:
        """Run the stage and return the results of its bundles as if there were only one."""
        context = self.bundle_context_manager
        handlers = context.worker_handlers
        bundles = (
            {name: part if name == own else [] for name in inputs}
            for own, buffer in inputs.items()
            for part in pieces(buffer, len(handlers))
        )
        # A stage without input still has one bundle.
        first: dict[str, Any] = next(bundles, {name: [] for name in inputs})
        left = itertools.chain([first], bundles)
        taking = threading.Lock()
        responses: list[beam_fn_api_pb2.InstructionResponse] = []
        errors: list[BaseException] = []

        def work(handler: worker_handlers.WorkerHandler) -> None:
            own = copy.copy(context)
            own._worker_handlers = [handler]
            manager = fn_runner.BundleManager(
                own, cache_token_generator=self._cache_token_generator
            )
            while True:
                with taking:
                    bundle = None if errors else next(left, None)
                if bundle is None:
                    return
                response, _ = manager.process_bundle(
                    bundle, expected_outputs, fired_timers, expected_output_timers, dry_run
                )
                responses.append(response)

        _on_each(handlers, work, errors)
        return _merge(responses), []


def _on_each(
    handlers: Iterable[Any], work: Callable[[Any], None], errors: list[BaseException]
) -> None:
    """Call a function for all workers at the same time, and raise the first error."""
    handlers = list(handlers)
    if len(handlers) == 1 and not isinstance(handlers[0], ProcessHandler):
        work(handlers[0])
        return

    def guarded(handler: Any) -> None:
        try:
            work(handler)
        except Exception as error:  # noqa: BLE001 - raised again in the launcher's thread
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(handler,)) for handler in handlers]
    try:
        for thread in threads:
            thread.daemon = True
            thread.start()
        for thread in threads:
            thread.join()
    except BaseException:  # Ctrl-C: the current shards may take minutes
        for handler in handlers:
            if isinstance(handler, ProcessHandler):
                handler.kill()
        raise
    if errors:
        raise errors[0]


def _merge(
    responses: list[beam_fn_api_pb2.InstructionResponse],
) -> beam_fn_api_pb2.InstructionResponse:
    if len(responses) == 1:
        return responses[0]
    bundles = [response.process_bundle for response in responses]
    return beam_fn_api_pb2.InstructionResponse(
        process_bundle=beam_fn_api_pb2.ProcessBundleResponse(
            monitoring_infos=fn_runner.consolidate_monitoring_infos(
                info for bundle in bundles for info in bundle.monitoring_infos
            ),
            residual_roots=[root for bundle in bundles for root in bundle.residual_roots],
        )
    )


class Requests:
    """The requests to a worker, which fail once it has ended.

    `ControlConnection.abort` fails only those that wait: one that is made later, because the worker
    ended between two bundles, would wait forever.
    """

    def __init__(self, connection: Any) -> None:
        """Take the place of the `push` of a worker's `ControlConnection`."""
        self._connection, self._push = connection, connection.push
        self._error: WorkerError | None = None
        connection.push = self.push

    def push(self, request: Any) -> Any:
        """Send a request and return its future, as `ControlConnection.push` does."""
        future = self._push(request)
        # After the future is known: `fail` sees it, or it has set the error before.
        if self._error is not None and future is not None:
            future.abort(self._error)
        return future

    def fail(self, error: WorkerError) -> None:
        """Let all requests fail, those that wait and those to come."""
        self._error = error
        for future in list(self._connection._futures_by_id.values()):  # an answer may still arrive
            future.abort(error)


@worker_handlers.WorkerHandler.register_environment(WORKER_URN, bytes)
class ProcessHandler(worker_handlers.GrpcWorkerHandler):
    """One worker process, started by the launcher and ended with it."""

    def __init__(self, file: bytes, *args: Any) -> None:
        """Represent a worker that shares an open file, given by its descriptor, with others."""
        super().__init__(*args)
        self._file = int(file)
        self._process: subprocess.Popen[bytes] | forks.Fork | None = None
        self._requests = Requests(self.control_conn)
        self._stopping = False

    def start_worker(self) -> None:
        """Start the process."""
        self._process = worker.start(self.worker_id, self.control_address, file=self._file)
        threading.Thread(target=self._watch, args=(self._process,), daemon=True).start()

    def _watch(self, process: "subprocess.Popen[bytes] | forks.Fork") -> None:
        code = process.wait()
        if self._stopping:
            return
        error = WorkerError(f"worker process {process.pid} {_ending(code)}")
        # This wakes up any code that waits for an answer or for data from the worker.
        self._requests.fail(error)
        self.data_conn._exception = error

    def close(self) -> None:
        """Close the connections, then wait for the process."""
        self._stopping = True
        self.control_conn.close()
        # The error that ended the worker has already been raised; its thread may raise it again.
        with contextlib.suppress(grpc.RpcError, WorkerError):
            self.data_conn.close()
        self.stop_worker()

    def stop_worker(self) -> None:
        """Wait for the process, which ends when told that no more work follows."""
        self._stopping = True
        if self._process is not None:
            try:
                self._process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """End the process now."""
        self._stopping = True
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def _ending(code: int) -> str:
    if code == -signal.SIGKILL:
        return f"was killed (signal 9): the machine may have run out of memory: {memory.REMEDY}"
    if code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with status {code}"


class JoinedCollections:
    """Determines when collections that several stages write, as after a Flatten, are complete.

    In Beam's runner, such a collection is complete when the inputs of all its writers have been
    read by every stage that reads these inputs. If one of those stages waits for a side input made
    from the joined collection, neither ever begins. Here the collection is complete when its
    writers have finished.

    Attributes:
        stage: The stage that is running.
    """

    def __init__(self, manager: Any) -> None:
        """Watch the collections of a run's `WatermarkManager` that have several writers."""
        self.stage: Any = None
        for node in manager._pcollections_by_name.values():
            if len(node.producers) > 1:
                self._watch(node)

    def _watch(self, node: Any) -> None:
        finished: set[Any] = set()
        by_beam = node.upstream_watermark

        def set_produced_watermark(watermark: timestamp.Timestamp) -> None:
            finished.add(self.stage)
            if node.producers <= finished:
                node._produced_watermark = watermark  # what a side input waits for

        def upstream_watermark() -> timestamp.Timestamp:
            return timestamp.MAX_TIMESTAMP if node.producers <= finished else by_beam()

        node.set_produced_watermark = set_produced_watermark
        node.upstream_watermark = upstream_watermark


class LocalRunner(fn_runner.FnApiRunner):
    """Runs a graph in this process, or in the number of processes in `--direct_num_workers`."""

    def run_via_runner_api(self, pipeline_proto: Any, options: Any) -> Any:
        """Run a graph with pairweave's worker processes instead of Beam's."""
        self._spilled: list[weakref.finalize[Any, Any]] = []
        self._joined: JoinedCollections | None = None
        try:
            with exchange.opened() as shared, _own_servers():
                for environment in pipeline_proto.components.environments.values():
                    if environment.urn == python_urns.SUBPROCESS_SDK:
                        environment.urn = WORKER_URN
                        environment.payload = str(shared).encode()
                return super().run_via_runner_api(pipeline_proto, options)
        finally:
            for close in self._spilled:
                close()

    def _execute_bundle(self, context: Any, bundle_context: Any, bundle_input: Any) -> Any:
        if self._joined is None:
            self._joined = JoinedCollections(context.watermark_manager)
        stage = bundle_context.stage.name
        self._joined.stage = context.watermark_manager.get_stage_node(stage)
        made_by_beam = type(bundle_context).get_buffer

        def get_buffer(buffer_id: bytes, transform_id: str) -> Any:
            buffer = made_by_beam(bundle_context, buffer_id, transform_id)
            if (
                isinstance(buffer, execution.GroupingBuffer)
                and buffer._windowing.is_default()
                and not buffer._table
            ):
                buffer = context.pcoll_buffers[buffer_id] = SpilledGroups(buffer)
                self._spilled.append(buffer.close)
            return buffer

        bundle_context.get_buffer = get_buffer
        return super()._execute_bundle(context, bundle_context, bundle_input)

    def _get_bundle_manager(self, bundle_context: Any) -> Any:
        if bundle_context.stage.is_stateful() or bundle_context.stage_timer_outputs:
            return super()._get_bundle_manager(bundle_context)
        tokens = fn_runner.FnApiRunner.get_cache_token_generator(static=False)
        return Bundles(bundle_context, cache_token_generator=tokens)


class _Servers:
    """What Beam's servers use in this process, which runs in several threads share.

    Attributes:
        lock: Held while it changes.
        runs: Number of runs that have begun and not ended.
        before: The time limit and the hook before the first of them.
    """

    lock = threading.Lock()
    runs = 0
    before: tuple[int, Any] = (0, None)


@contextlib.contextmanager
def _own_servers() -> Iterator[None]:
    """Keep Beam's servers, which have no authentication, private, and their data complete.

    Their threads may fail when a worker dies; `ProcessHandler` reports that once and more clearly.
    """
    with _Servers.lock:
        _Servers.runs += 1
        if _Servers.runs == 1:
            _Servers.before = worker_handlers.DATA_BUFFER_TIME_LIMIT_MS, threading.excepthook
            worker_handlers.DATA_BUFFER_TIME_LIMIT_MS = 0
            worker_handlers.grpc = local_sockets.SocketGrpc()
            threading.excepthook = worker.leave_out_lost_connections(threading.excepthook)
    try:
        yield
    finally:
        with _Servers.lock:
            _Servers.runs -= 1
            if not _Servers.runs:
                worker_handlers.DATA_BUFFER_TIME_LIMIT_MS, threading.excepthook = _Servers.before
                worker_handlers.grpc = grpc
