"""A Beam worker process of `local`, `prism` and `flink`: a fork, or this module as a program.

Flags name the runner that it serves, as for Beam's container boot program. It ends when the process
that started it ends. On standard error it prints this package's messages and other packages'
errors; a failed bundle's traceback is sent to the launcher and not printed here.
"""

import argparse
import contextlib
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from pairweave.pipelines.engines.local import forks
from pairweave.pipelines.process import caller_logs, verbosity
from pairweave.pipelines.process.terminal import ShownFormatter
from pairweave.transforms.arrow import exchange

OURS = "pairweave"
REPEATED = (
    "apache_beam.runners.common",
    "apache_beam.runners.dataflow.dataflow_runner",
    "apache_beam.runners.dataflow.internal.apiclient",
    "apache_beam.runners.worker.data_plane",
    "apache_beam.runners.worker.sdk_worker",
    "apache_beam.runners.worker.sdk_worker_main",
)
RUNNERS = ("PrismRunner", "root")
"""Loggers of Beam's prism program, and of any runner's messages about its job."""
_SAID_ELSEWHERE = (
    "Traceback (most recent call last)",
    "bundle error",
    "SDK worker disconnected",
    "stackTrace",
)


class Noise(logging.Filter):
    """Passes pairweave's messages, and errors of other packages that are not shown elsewhere."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether a record should be shown."""
        if record.name in RUNNERS and _is_reported_elsewhere(record.getMessage()):
            return False
        if record.name.partition(".")[0] == OURS:
            return record.levelno >= (
                logging.WARNING if verbosity.current().quiet else logging.INFO
            )
        return record.levelno >= logging.ERROR and record.name not in REPEATED


@contextlib.contextmanager
def logs_of_caller() -> Iterator[None]:
    """Leave logs to the calling program, and do not log errors that a function raises anyway."""

    def never(_record: logging.LogRecord) -> bool:
        return False

    for name in REPEATED:
        logging.getLogger(name).addFilter(never)
    try:
        with caller_logs.not_set_up():
            yield
    finally:
        for name in REPEATED:
            logging.getLogger(name).removeFilter(never)


def _is_reported_elsewhere(message: str) -> bool:
    """Tell whether a runner's error is harmless, or one that the launcher reports in one line.

    Prism ends a job's worker process and logs that as an error. It prints the traceback of a failed
    bundle four times, and its own stack when it has lost a worker.
    """
    ends_worker = message.startswith("process failed while running") and "signal: killed" in message
    return ends_worker or any(sign in message for sign in _SAID_ELSEWHERE)


def log_to_stderr(layout: str, clock: str | None = None, *, alone: bool = False) -> None:
    """Write the records that should be shown to standard error, in a layout of `logging`.

    Args:
        layout: Format of a record.
        clock: Format of its time.
        alone: Whether to replace existing handlers; otherwise, if there are any, do nothing.
    """
    if alone:
        logging.getLogger().handlers.clear()
    handler = logging.StreamHandler()
    if verbosity.current().log_format == "json":
        layout = "%(message)s"  # a JSON record contains its own time
    handler.setFormatter(ShownFormatter(layout, clock))
    handler.addFilter(Noise())
    logging.basicConfig(level=logging.WARNING, handlers=[handler])


def leave_out_lost_connections(
    shown: Callable[[threading.ExceptHookArgs], object],
) -> Callable[[threading.ExceptHookArgs], object]:
    """Return a `threading.excepthook` that ignores lost connections.

    Beam's threads fail when their peer is gone; the code that waits for them reports the cause.
    """

    def show(failed: threading.ExceptHookArgs) -> None:
        if not failed.exc_type.__module__.startswith("grpc"):
            shown(failed)

    return show


def start(
    worker_id: str,
    control: str,
    logs: str = "",
    provision: str = "",
    file: int | None = None,
) -> "subprocess.Popen[bytes] | forks.Fork":
    """Start a worker process that imports modules from the same paths as this process.

    Args:
        worker_id: The name by which the worker identifies itself.
        control: Address of the runner's control service.
        logs: Address of the runner's logging service; none if empty.
        provision: Address of the runner's provision service; none if empty.
        file: Descriptor of the open file of a `transforms.arrow.exchange` that it joins.
    """
    arguments = [
        f"--id={worker_id}",
        f"--control_endpoint={control}",
        f"--logging_endpoint={logs}",
        f"--provision_endpoint={provision}",
    ]
    files = [] if file is None else [file]
    forked = forks.start(arguments, files)
    if forked is not None:
        return forked
    path = [entry or str(Path.cwd()) for entry in sys.path]
    arguments += [f"--file={number}" for number in files]
    # -P: a folder in the working directory with the name of a module is not imported. A new
    # session: Ctrl-C reaches only the process that started the worker, which then ends it.
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "pairweave.pipelines.engines.local.worker", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        start_new_session=True,
        pass_fds=files,
    )


def prepare_forks() -> None:
    """Make later workers forks of this process in its present state, where that is safe.

    They then start at once. Modules that are imported later must be imported by each worker.
    """
    import grpc
    from apache_beam.runners.worker import sdk_worker_main

    del grpc, sdk_worker_main
    forks.prepare(main)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve one runner until it reports that no more work follows."""
    _end_with_parent()
    # Replace the command line's logging, which a fork inherits.
    log_to_stderr("%(levelname)s %(name)s: %(message)s", alone=True)
    parser = argparse.ArgumentParser(description="Serve one Beam runner.")
    parser.add_argument("--id", required=True)
    for name in ("control", "logging", "provision", "artifact"):
        parser.add_argument(f"--{name}_endpoint", default="")
    parser.add_argument("--file", type=int)
    flags = parser.parse_args(arguments)
    flags.id = flags.id.strip("'")  # Prism quotes it, though no shell reads it
    if flags.file is not None:
        exchange.join(exchange.Exchange(flags.file))

    import grpc
    from apache_beam.runners.worker import sdk_worker, sdk_worker_main

    # Beam's worker also prints a failed bundle's traceback directly, without logging.
    vars(sdk_worker)["print"] = lambda *_, **__: None
    threading.excepthook = leave_out_lost_connections(threading.excepthook)
    try:
        os.environ.update(_environment(flags))
        sdk_worker_main.main([])
    except grpc.RpcError as error:
        # Usually the runner is gone and has reported why.
        logging.getLogger(__name__).info("the runner does not answer: %s", error.code())
        return 1
    return 0


def _end_with_parent(seconds: float = 1.0) -> None:
    """End this process soon after the process that started it has ended for any reason."""
    parent = forks.parent()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(seconds)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _environment(flags: argparse.Namespace) -> dict[str, str]:
    """Return the environment variables that Beam's worker expects."""
    from apache_beam.portability.api import (
        beam_provision_api_pb2,
        beam_provision_api_pb2_grpc,
        endpoints_pb2,
    )
    from apache_beam.runners.worker.channel_factory import GRPCChannelFactory
    from google.protobuf import json_format, text_format

    info = beam_provision_api_pb2.ProvisionInfo()
    if flags.provision_endpoint:
        with GRPCChannelFactory.insecure_channel(flags.provision_endpoint) as channel:
            info = (
                beam_provision_api_pb2_grpc.ProvisionServiceStub(channel)
                .GetProvisionInfo(
                    beam_provision_api_pb2.GetProvisionInfoRequest(),
                    metadata=[("worker_id", flags.id)],
                    timeout=60,
                )
                .info
            )
    control = flags.control_endpoint or info.control_endpoint.url
    logs = flags.logging_endpoint or info.logging_endpoint.url
    environment = {
        "WORKER_ID": flags.id,
        "PIPELINE_OPTIONS": json_format.MessageToJson(info.pipeline_options),
        "RUNNER_CAPABILITIES": " ".join(info.runner_capabilities),
    }
    for name, url in (("CONTROL", control), ("LOGGING", logs)):
        if url:
            address = endpoints_pb2.ApiServiceDescriptor(url=url)
            environment[f"{name}_API_SERVICE_DESCRIPTOR"] = text_format.MessageToString(address)
    return environment


if __name__ == "__main__":
    sys.exit(main())
