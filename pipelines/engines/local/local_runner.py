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

# ruff: noqa: ANN401 - Beam types these parts as Any

import contextlib
import copy
import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import grpc
from apache_beam.portability import python_urns
from apache_beam.portability.api import beam_fn_api_pb2
from apache_beam.runners.portability.fn_api_runner import execution, fn_runner, worker_handlers
from apache_beam.utils import timestamp

from pairweave.pipelines.engines.local import local_sockets, worker
from pairweave.pipelines.engines.local.process_handler import WORKER_URN, ProcessHandler
from pairweave.pipelines.engines.local.spilled_groups import SpilledGroups, pieces
from pairweave.transforms.arrow import exchange


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
            errors.append(handler.cause(error) if isinstance(handler, ProcessHandler) else error)

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
