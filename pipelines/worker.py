"""One Beam worker process of the `local` and `flink` engines: `python -m pipelines.worker`.

The local runner says in the environment where it listens. A Flink task manager starts a worker
with flags instead, and what else the worker needs is asked for at the provision endpoint.
Standard error shows warnings of ours; what Beam says of itself is left to the launcher.
"""

import argparse
import logging
import os
import sys
import threading
import time

OURS = ("pipelines", "transforms", "models")
REPEATED = ("apache_beam.runners.common", "apache_beam.runners.worker.sdk_worker")


class Noise(logging.Filter):
    """Lets pass what our modules say, and errors of others."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether a record is worth a person's time."""
        if record.name.partition(".")[0] in OURS:
            return record.levelno >= logging.INFO
        # The launcher gets a failed bundle's traceback anyway.
        return record.levelno >= logging.ERROR and record.name not in REPEATED


def end_with_parent(seconds: float = 1.0) -> None:
    """End this process soon after the process that started it, however that ended."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(seconds)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def provision(arguments: argparse.Namespace) -> dict[str, str]:
    """Ask a task manager for what Beam's worker expects in its environment."""
    import grpc
    from apache_beam.portability.api import (
        beam_provision_api_pb2,
        beam_provision_api_pb2_grpc,
        endpoints_pb2,
    )
    from google.protobuf import json_format, text_format

    with grpc.insecure_channel(arguments.provision_endpoint) as channel:
        service = beam_provision_api_pb2_grpc.ProvisionServiceStub(channel)
        info = service.GetProvisionInfo(
            beam_provision_api_pb2.GetProvisionInfoRequest(),
            metadata=[("worker_id", arguments.id)],
            timeout=60,
        ).info

    def endpoint(given: str, told: endpoints_pb2.ApiServiceDescriptor) -> str:
        url = given or told.url
        return text_format.MessageToString(endpoints_pb2.ApiServiceDescriptor(url=url))

    return {
        "WORKER_ID": arguments.id,
        "PIPELINE_OPTIONS": json_format.MessageToJson(info.pipeline_options),
        "CONTROL_API_SERVICE_DESCRIPTOR": endpoint(
            arguments.control_endpoint, info.control_endpoint
        ),
        "LOGGING_API_SERVICE_DESCRIPTOR": endpoint(
            arguments.logging_endpoint, info.logging_endpoint
        ),
        "RUNNER_CAPABILITIES": " ".join(info.runner_capabilities),
    }


def main() -> int:
    """Serve one runner until it says that nothing follows."""
    end_with_parent()
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    handler.addFilter(Noise())
    logging.basicConfig(handlers=[handler])
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--id", default="")
    for name in ("provision", "control", "logging", "artifact"):
        parser.add_argument(f"--{name}_endpoint", default="")
    arguments, _ = parser.parse_known_args()
    if arguments.provision_endpoint:
        os.environ.update(provision(arguments))
    from apache_beam.runners.worker import sdk_worker_main

    sdk_worker_main.main([])
    return 0


if __name__ == "__main__":
    sys.exit(main())
