"""The Beam options of each engine, and where its workers are.

An engine is a name for a set of Beam options. Beam's own options, given by the user, override it.
Nothing is ever downloaded: anything missing is an error that names the command to run.
"""

import contextlib
import dataclasses
import itertools
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pairweave.pipelines.engines import (
    engine_flags,
    engine_scripts,
    fork_requests,
    lost_workers,
    private_network,
    programs,
)
from pairweave.pipelines.engines.failures import LOST_WORKER, ended_server, is_lost_server
from pairweave.pipelines.engines.flink import cluster_settings, cluster_state, job_jar
from pairweave.pipelines.engines.flink.java import FLINK_VERSION, require_java
from pairweave.pipelines.engines.local import forks
from pairweave.pipelines.process import memory
from pairweave.transforms.arrow import exchange
from pairweave.transforms.errors import ConfigError, WorkerError

LOCAL_RUNNER = "pairweave.pipelines.engines.local.local_runner.LocalRunner"
RESTARTS = 3
"""How often the Flink mini cluster restarts a failed job; without a strategy it never does."""

CACHE_SECONDS = 5
"""Time for which Flink keeps the worker processes of finished steps: long enough for the next step
to use them, but less than the time until a failed job is restarted, which must not be given dead
ones."""

PRISM_SECONDS = 30 * 24 * 3600
"""Time after which Beam gives up a request to Prism. The request for a job's state lasts as long as
the job, so Beam's own limit of 300 s would end every longer run."""

SERVERS = {"java": "Flink's Java process", "prism": "Beam's prism program"}
"""The scripts that start the runners' own programs, and the programs' names in messages."""

OUT_OF_MEMORY = {"java": 3}
"""The exit status with which a program reports that its memory ran out, for programs that do
(``-XX:+ExitOnOutOfMemoryError``)."""

EXIT_SECONDS = 2.0
"""Time to wait for a program that does not respond to end."""


@contextlib.contextmanager
def beam_options(
    engine: str, workers: int, job_name: str, extra: Sequence[str] = ()
) -> Iterator[list[str]]:
    """Yield the Beam flags of an engine, and keep what they refer to while the job runs.

    Args:
        engine: `local`, `prism`, `flink` or `dataflow`.
        workers: Number of processes that work at once; `prism` may use another.
        job_name: The runner's name for the job.
        extra: The user's Beam options, each of which takes precedence.

    Yields:
        The flags, including the user's.

    Raises:
        ConfigError: Something that the engine needs is missing, or the user's options do not fit.
        WorkerError: The runner's own program ended while it was needed (says how), or a worker died
            and the runner kept waiting for it.
    """
    cluster = cluster_state.find(engine_flags.given_options(extra).get("flink_master"))
    if cluster is not None:
        extra = _at_cluster(cluster, extra)
    user_options = engine_flags.given_options(extra)
    makers: dict[str, Callable[[int, Mapping[str, str], RunPlace], list[str]]] = {
        "local": _local,
        "prism": _prism,
        "flink": _flink,
        "dataflow": _dataflow,
    }
    if engine not in makers:
        raise ConfigError(f"no engine {engine!r}; there are {', '.join(makers)}")
    # The runner's own programs may still write to the directory while they end.
    with contextlib.ExitStack() as held:
        scratch = held.enter_context(
            tempfile.TemporaryDirectory(prefix="pairweave-", ignore_cleanup_errors=True)
        )
        place = RunPlace(Path(scratch), held, cluster)
        flags = [f"--job_name={job_name}", *makers[engine](workers, user_options, place)]
        ours = [flag for flag in flags if flag[2:].partition("=")[0] not in user_options]
        try:
            yield [*ours, *extra]
        except Exception as error:
            if lost_workers.were_lost(Path(scratch) / engine_scripts.WORKER):
                raise WorkerError(LOST_WORKER) from error
            if is_lost_server(error):
                _check_servers(Path(scratch))
            raise
        finally:
            # Beam keeps the program until this process ends, but each attempt starts another one.
            for name in SERVERS:
                engine_scripts.end(Path(scratch) / name)


@dataclasses.dataclass(frozen=True, slots=True)
class RunPlace:
    """The resources of a run on this machine, for as long as it lasts.

    Attributes:
        scratch: Its temporary directory.
        held: Closes the resources that end with the run.
        cluster: The Flink cluster on this machine that it uses, if any.
    """

    scratch: Path
    held: contextlib.ExitStack
    cluster: cluster_state.ClusterState | None

    def worker_processes(self, *, forked: bool) -> list[str]:
        """Return options for pairweave's workers, which exchange large tables through a file.

        Args:
            forked: Whether this process may fork them, so that they end with it.
        """
        shared = self.held.enter_context(exchange.opened())
        address = None
        if forked and forks.ready():
            address = self.held.enter_context(fork_requests.listening(self.scratch))
        return engine_scripts.worker_processes(self.scratch, shared, address)


def _at_cluster(cluster: cluster_state.ClusterState, extra: Sequence[str]) -> list[str]:
    """Replace `--flink_master=cluster` with the addresses of the cluster on this machine."""
    user_options = engine_flags.given_options(extra)
    ours = {
        "job_endpoint": f"localhost:{cluster.job_port}",
        "sdk_worker_parallelism": str(cluster.slots),
    }
    name = re.compile(r"--flink[_-]master")
    other_words = [
        word
        for before, word in itertools.pairwise(["", *extra])
        if not name.match(word) and not name.fullmatch(before)
    ]
    return [
        f"--flink_master=localhost:{cluster.rest}",
        *(f"--{key}={value}" for key, value in ours.items() if key not in user_options),
        *other_words,
    ]


def _check_servers(scratch: Path) -> None:
    """Check that no program that `engine_scripts.write_launcher` started has ended.

    Raises:
        WorkerError: One has ended; says how.
    """
    for name, program in SERVERS.items():
        script = scratch / name
        if not script.is_file():
            continue
        status = engine_scripts.exit_of(script, EXIT_SECONDS)
        if status is not None:
            raise WorkerError(ended_server(program, status, OUT_OF_MEMORY.get(name)))


def works_here(engine: str, extra: Sequence[str]) -> bool:
    """Tell whether the workers of an engine run on this machine, according to its options."""
    user_options = engine_flags.given_options(extra)
    if "runner" in user_options or engine == "dataflow":
        return False
    if engine != "flink":
        return True
    master = user_options.get("flink_master")
    remote = master not in {None, "[local]", "[auto]"} and not cluster_state.is_named(master)
    return not remote and "environment_type" not in user_options


def forks_workers(engine: str, extra: Sequence[str]) -> bool:
    """Tell whether the launcher forks the workers of an engine where that is safe.

    They end with the launcher; the workers of a Flink cluster must outlive it.
    """
    user_options = engine_flags.given_options(extra)
    inside = engine == "prism" or (engine == "flink" and _is_mini_cluster(user_options))
    return engine == "local" or (inside and "environment_type" not in user_options)


def _is_mini_cluster(user_options: Mapping[str, str]) -> bool:
    """Tell whether Flink runs in its job server, in which it ends with the run."""
    master = user_options.get("flink_master") or "[local]"
    return job_jar.OPTION not in user_options and master in {"[local]", "[auto]"}


def processes_here(extra: Sequence[str]) -> list[int]:
    """Return the processes on this machine that do a run's work, or that start such processes."""
    try:
        cluster = cluster_state.find(engine_flags.given_options(extra).get("flink_master"))
    except ConfigError:  # the cluster is no longer up
        cluster = None
    members = () if cluster is None else cluster.members
    return [os.getpid(), *(member.pid for member in members)]


def _local(workers: int, user_options: Mapping[str, str], _place: RunPlace) -> list[str]:
    count = int(user_options.get("direct_num_workers", workers))
    # The death of a worker does not end the run unless the worker is the launcher itself. Where
    # workers cannot be forked, as in another program, a separate one would take seconds to start.
    mode = "in_memory" if count == 1 and not forks.ready() else "multi_processing"
    return [
        f"--runner={LOCAL_RUNNER}",
        f"--direct_num_workers={count}",
        f"--direct_running_mode={mode}",
    ]


def _prism(_workers: int, user_options: Mapping[str, str], place: RunPlace) -> list[str]:
    binary = user_options.get("prism_location") or programs.find_prism()
    if binary is None:
        raise ConfigError(
            f"engine prism: no Beam prism program found; run {programs.PRISM_INSTALL}"
        )
    flags = ["--runner=PrismRunner", "--prism_log_level=warn"]
    flags.append(f"--job_server_timeout={PRISM_SECONDS}")
    # Otherwise an attempt would use the program of the attempt before, which may be what failed.
    # (`--experiment` in the singular, so that a user's `--experiments` is kept.)
    flags.append("--experiment=disable_prism_server_singleton")
    ours = place.scratch / "prism"
    if "environment_type" not in user_options:
        flags += place.worker_processes(forked=True)
        place.held.enter_context(lost_workers.watched(place.scratch / engine_scripts.WORKER, ours))
    private_network.warn_of_open_ports("prism")
    if "prism_location" not in user_options:
        flags.append(f"--prism_location={engine_scripts.write_launcher(ours, str(binary))}")
    return flags


def _flink(workers: int, user_options: Mapping[str, str], place: RunPlace) -> list[str]:
    alone = job_jar.OPTION in user_options
    master = user_options.get("flink_master") or (job_jar.MASTER if alone else "[local]")
    here = _is_mini_cluster(user_options)
    flags = ["--runner=FlinkRunner", f"--flink_master={master}", f"--parallelism={workers}"]
    # Objects need not be copied between steps, because no step changes its input.
    flags += [f"--flink_version={FLINK_VERSION}", "--faster_copy"]
    if "job_endpoint" not in user_options:
        if "flink_submit_uber_jar" in user_options and not here:
            # The jar goes to the cluster; Beam would download one.
            flags.append(f"--flink_job_server_jar={_job_server_jar(user_options)}")
        else:
            flags += _job_server(user_options, place.scratch)
            private_network.warn_of_open_ports("flink")
    if place.cluster is not None or here or alone:
        # A started worker process serves the job's later steps too.
        flags.append(f"--environment_cache_millis={CACHE_SECONDS * 1000}")
        flags.append("--execution_mode_for_batch=BATCH_FORCED")
    if here:
        flags.append(f"--flink_conf_dir={_flink_conf(place.scratch)}")
        if "environment_type" not in user_options:
            # Flink's runner assigns its processes in turn to the slots that are opened. Steps that
            # open at the same time would take turns in any order. If a step opens only when its
            # input is complete, its slots are opened one after another, and each gets a process of
            # its own.
            flags += place.worker_processes(forked=True)
            flags.append(f"--sdk_worker_parallelism={workers}")
    elif place.cluster is not None:
        slots = place.cluster.slots * place.cluster.task_managers
        if workers > slots:
            raise ConfigError(
                f"--workers {workers}: the cluster has {slots} slots; give at most as many, or "
                "start it with more --task_managers or --slots"
            )
        if "environment_type" not in user_options:
            flags += place.worker_processes(forked=False)
    elif "environment_type" not in user_options:
        raise ConfigError(
            f"--flink_master={master}: give the place of its workers: "
            "--environment_type=EXTERNAL --environment_config=localhost:50000 with `python -m "
            "pairweave.pipelines.engines.flink.worker_pool` next to each task manager, or "
            "--environment_type=PROCESS "
            '--environment_config=\'{"command": "PROGRAM"}\' (see deploy/flink/README.md)'
        )
    return flags


def _dataflow(_workers: int, user_options: Mapping[str, str], _place: RunPlace) -> list[str]:
    temp = user_options["temp_location"].rstrip("/")
    return [
        "--runner=DataflowRunner",
        f"--staging_location={temp}/staging",
        # The image contains Beam and this package; nothing else needs to be sent to the workers.
        "--sdk_location=container",
        # A process works on one shard at a time, as on the other engines: two would need twice the
        # memory and wait for each other. The service starts a process for each core.
        "--number_of_worker_harness_threads=1",
    ]


def _job_server(user_options: Mapping[str, str], scratch: Path) -> list[str]:
    jar = _job_server_jar(user_options)
    java = require_java(user_options.get("job_server_java_launcher"))
    # Java's default is /tmp even if TMPDIR is set; it would also write performance data there.
    properties = (f"-Djava.io.tmpdir={scratch}", "-XX:-UsePerfData")
    launcher = engine_scripts.write_launcher(scratch / "java", java, *properties)
    return [
        f"--flink_job_server_jar={jar}",
        f"--job_server_java_launcher={launcher}",
        # Tables pass through buffers outside the heap. With Java's default, which limits them to
        # the size of the heap, a job of 1 GB hung forever with a heap of 1 GB.
        f"--job_server_jvm_properties=-XX:MaxDirectMemorySize={memory.machine_bytes() // 2}",
        "--job_server_jvm_properties=-XX:+ExitOnOutOfMemoryError",
    ]


def _job_server_jar(user_options: Mapping[str, str]) -> str:
    given = user_options.get("flink_job_server_jar")
    return programs.require_job_server(given, "--flink_job_server_jar")


def _flink_conf(scratch: Path) -> Path:
    """Write the mini cluster's configuration and return its directory."""
    directory = scratch / "flink-conf"
    # The shuffle's spilled files are removed with the job. The hosts are those of Flink's own ports
    # if the run has no private network; Beam's ports are not affected.
    local = {"io.tmp.dirs": scratch, **cluster_settings.LOOPBACK}
    cluster_settings.write(directory, {**cluster_settings.restarts(RESTARTS), **local})
    return directory
