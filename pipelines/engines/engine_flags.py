"""The Beam options that a user gives to an engine: reading and checking them.

Without the checks, a run would fail, or wait forever, after the input was read.
"""

import itertools
import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pairweave.pipelines.engines import option_forms
from pairweave.pipelines.engines.dataflow import checks as dataflow_checks
from pairweave.pipelines.engines.flink import cluster_state, job_jar
from pairweave.pipelines.options.base import GraphOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage.reachable import reach

_PLACE = re.compile(r"(?:https?://)?(?P<host>[\w.-]+|\[[0-9a-fA-F:]+\]):(?P<port>\d{1,5})/?")

ENDPOINTS = {
    "job_endpoint": "Beam's job server",
    "flink_master": "the REST address of Flink's job manager",
}
"""Options that give the host and port of a server, each with the name of the server."""

_FLINK = (
    *("flink_master", "flink_conf_dir", "flink_job_server_jar", "flink_submit_uber_jar"),
    *("flink_version", "parallelism", "max_parallelism", "sdk_worker_parallelism"),
    *("job_port", "job_server_java_launcher", "job_server_jvm_properties"),
)
_PRISM = ("prism_location", "prism_beam_version_override", "prism_log_level", "prism_log_kind")
_DATAFLOW = (
    *("num_workers", "max_num_workers", "machine_type", "worker_machine_type", "disk_size_gb"),
    *("region", "worker_region", "worker_zone", "zone", "network", "subnetwork"),
    *("no_use_public_ips", "use_public_ips", "service_account_email", "autoscaling_algorithm"),
    *("dataflow_endpoint", "dataflow_service_options", "dataflow_service_option"),
    *("label", "labels", "disk_type", "worker_disk_type", "disk_provisioned_iops"),
    *("disk_provisioned_throughput_mibps", "min_cpu_platform", "flexrs_goal", "dataflow_kms_key"),
    *("update", "transform_name_mapping", "create_from_snapshot", "template_location"),
    *("staging_location", "enable_hot_key_logging", "enable_streaming_engine"),
)
_PORTABLE = ("job_endpoint", "environment_type", "environment_config")

ENGINES_OF: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("direct_num_workers", "direct_running_mode"), ("local",)),
    **dict.fromkeys(_FLINK, ("flink",)),
    **dict.fromkeys(_PRISM, ("prism",)),
    **dict.fromkeys(_PORTABLE, ("flink", "prism")),
    **dict.fromkeys(_DATAFLOW, ("dataflow",)),
    "sdk_container_image": ("dataflow", "flink", "prism"),
}
"""Beam options that only some engines read, each with these engines."""

_RUNNERS = {"flinkrunner": "flink", "prismrunner": "prism", "dataflowrunner": "dataflow"}
"""Beam's runners that an engine starts, each with the engine. Without it, Beam downloads what they
need, or nothing checks the options."""

_ADDRESS = re.compile(r"(\w+://)?[^\s/]+:\d{1,5}/?")

_CONFIGURATIONS = {
    "EXTERNAL": ("url", "HOST:PORT of the worker pool next to each task manager"),
    "PROCESS": ("command", """'{"command": "PROGRAM"}', the program that starts a worker"""),
}
"""Kinds of workers' places that need a configuration: the key of its JSON, and what is expected."""


def given_options(arguments: Sequence[str]) -> dict[str, str]:
    """Return the Beam options that the user gave, by name, each with its text.

    ``--name value`` and ``--name=value`` are equivalent; a switch has the text "".
    """
    values: dict[str, str] = {}
    for argument, after in itertools.pairwise([*arguments, "--"]):
        if argument.startswith("--"):
            name, equals, value = argument[2:].partition("=")
            if not equals and not after.startswith("--"):
                value = after
            values[name.replace("-", "_")] = value
    return values


def check_used(engines: Collection[str], values: Mapping[str, str]) -> None:
    """Check that no option is given that no engine of the command reads.

    Args:
        engines: The engines of all its jobs.
        values: Values of the user's Beam options, by name. With a runner of the user's own, all may
            have an effect.

    Raises:
        ConfigError: An option has no effect; names it and its engines.
    """
    for name in () if "runner" in values else values:
        readers = ENGINES_OF.get(name, ())
        if readers and not {*readers} & {*engines}:
            raise ConfigError(
                f"--{name}: has no effect with --engine {' or '.join(sorted({*engines}))}; give "
                f"--engine {' or '.join(readers)}, or leave it out"
            )


def _check_runner(engine: str, values: Mapping[str, str]) -> None:
    """Check a runner of the user's own, without any request.

    Args:
        engine: The engine.
        values: Values of the user's Beam options, by name.

    Raises:
        ConfigError: Beam cannot make it, it would download programs, or an engine starts it.
    """
    name = values.get("runner")
    if name is None:
        return
    short = name.rpartition(".")[2].lower()
    kind = short if short.endswith("runner") else f"{short}runner"
    if kind in {"directrunner", "switchingdirectrunner"}:
        raise ConfigError(
            "--runner=DirectRunner can mean any of three runners and may download one; leave "
            "it out, or give --runner=FnApiRunner"
        )
    if _RUNNERS.get(kind, engine) != engine:
        raise ConfigError(f"--runner={name}: give --engine {_RUNNERS[kind]}, which checks the rest")
    if kind == "sparkrunner" and "spark_job_server_jar" not in values:
        raise ConfigError(
            f"--runner={name}: Beam would download its job server; give --engine, or the server "
            "with --spark_job_server_jar"
        )
    if kind == "portablerunner" and "job_endpoint" not in values:
        raise ConfigError(
            f"--runner={name}: give Beam's job server with --job_endpoint=HOST:PORT, or --engine"
        )
    from apache_beam.runners import create_runner

    try:
        create_runner(name)
    except (ValueError, ImportError, AttributeError, TypeError) as error:
        raise ConfigError(
            f"--runner={name}: this runner cannot be used: {error}; leave it out and give --engine"
        ) from error


def check_engine(options: GraphOptions, extra: Sequence[str]) -> None:
    """Check, before anything is read, that the engine of a job can run it.

    Raises:
        ConfigError: The user must fix something; says what.
        WorkerError: A required service does not answer.
    """
    values = given_options(extra)
    if options.engine != "local" and options.memory is not None:
        raise ConfigError(
            f"--memory {options.memory}: is for --engine local; the workers of {options.engine} "
            "have the memory that their machines or its own options give them"
        )
    if options.memory is not None and "direct_num_workers" in values:
        raise ConfigError(
            f"--memory {options.memory}: chooses the number of workers; leave out "
            "--direct_num_workers, and give --workers for the most that may run"
        )
    check_flags(options.engine, values)
    job_jar.check_jar(options, values)
    if options.engine == "dataflow":
        dataflow_checks.check_job(options, extra, values)
    elif not options.wait:
        raise ConfigError(
            f"--wait false: engine {options.engine} ends with this command; only a job on "
            "dataflow goes on without it"
        )


def check_flags(engine: str, values: Mapping[str, str]) -> None:
    """Check the options of an engine before anything is read.

    Args:
        engine: Its name.
        values: Values of the user's Beam options, by name.

    Raises:
        ConfigError: An option is wrong, or nothing listens at the address that it gives.
    """
    _check_runner(engine, values)
    option_forms.check_forms(engine, values)
    if engine in ENGINES_OF["environment_type"]:
        _check_workers(values)
    if engine == "flink":
        for name in ENDPOINTS:
            _check_endpoint(name, values.get(name))


def _check_workers(values: Mapping[str, str]) -> None:
    """Check the configuration of the place of workers that a user names.

    Beam reads it when the job is sent, and the engine only when it starts the workers.
    """
    kind, config = values.get("environment_type"), values.get("environment_config")
    if kind is None:
        if config is not None:
            raise ConfigError(
                f"--environment_config {config}: give --environment_type too, such as EXTERNAL for "
                "a worker pool or PROCESS for a program"
            )
        return
    # Beam also takes what the configuration says as single options.
    single = not values.keys().isdisjoint(("environment_option", "environment_options"))
    if kind.upper() not in _CONFIGURATIONS or single:
        return
    key, expected = _CONFIGURATIONS[kind.upper()]
    if config is None:
        raise ConfigError(f"--environment_type {kind}: needs --environment_config={expected}")
    is_address = kind.upper() == "EXTERNAL" and _ADDRESS.fullmatch(config)
    if not is_address and not _field(config, key):
        raise ConfigError(f"--environment_config {config}: expected {expected}")


def _field(text: str, key: str) -> Any:  # noqa: ANN401 - any JSON
    """Return a field of a JSON object; None if the text is something else."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value.get(key) if isinstance(value, dict) else None


def _check_endpoint(name: str, value: str | None) -> None:
    if value is None or (name == "flink_master" and value in ("[local]", "[auto]")):
        return
    if name == "flink_master" and cluster_state.find(value) is not None:
        return
    parsed = _PLACE.fullmatch(value)
    if parsed is None:
        raise ConfigError(f"--{name} {value}: expected HOST:PORT of {ENDPOINTS[name]}")
    fault = reach(parsed["host"].strip("[]"), int(parsed["port"]))
    if fault:
        raise ConfigError(f"--{name} {value}: {ENDPOINTS[name]} cannot be reached: {fault}")
