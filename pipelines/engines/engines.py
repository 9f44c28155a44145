"""Requirements of each engine on Beam and this machine.

An engine is a name for a set of Beam options. Beam's own options, given by the user, override it.
Nothing is ever downloaded: anything missing is an error that names the command to run.
"""

import contextlib
import dataclasses
import functools
import importlib.metadata
import itertools
import logging
import mmap
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pairweave.pipelines.engines import (
    engine_flags,
    engine_scripts,
    fork_requests,
    lost_workers,
    private_network,
)
from pairweave.pipelines.engines.dataflow import checks as dataflow_checks
from pairweave.pipelines.engines.failures import LOST_WORKER, ended_server, is_lost_server
from pairweave.pipelines.engines.flink import job_jar, job_server, session_cluster
from pairweave.pipelines.engines.flink.java import (
    FLINK_VERSION,
    JAVA_VERSIONS,
    WANTED,
    find_java,
    java_version,
    require_java,
    without_java,
)
from pairweave.pipelines.engines.local import forks
from pairweave.pipelines.options.base import GraphOptions
from pairweave.pipelines.process import memory
from pairweave.transforms.arrow import exchange
from pairweave.transforms.errors import ConfigError, WorkerError

LOG = logging.getLogger("pairweave")
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

DATAFLOW_CLIENT = "google-cloud-dataflow-client"
"""The distribution with the client of Dataflow."""

CHECKOUT = Path(__file__).resolve().parents[2]
JAR = Path("deploy", "flink", "target", "pairweave-flink-job-server.jar")
PRISM = Path(".tools", "prism")
PRISM_INSTALL = (
    "GOBIN=$PWD/.tools go install github.com/apache/beam/sdks/v2/go/cmd/prism@v2.77.0 "
    "(`make prism` in a checkout)"
)


@dataclasses.dataclass(frozen=True, slots=True)
class EngineState:
    """The state of an engine on this machine.

    Attributes:
        engine: Its name.
        facts: Facts about this machine that matter to the engine.
        missing: What to do before it can run; empty if it can.
    """

    engine: str
    facts: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def ready(self) -> bool:
        """Tell whether nothing is missing."""
        return not self.missing

    def render(self) -> str:
        """Return one line for a person."""
        state = "ready" if self.ready else "not ready"
        return f"{self.engine}: {state}; {'; '.join((*self.facts, *self.missing))}"


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
    cluster = session_cluster.find(given_options(extra).get("flink_master"))
    if cluster is not None:
        extra = _at_cluster(cluster, extra)
    user_options = given_options(extra)
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
    cluster: session_cluster.ClusterState | None

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


def _at_cluster(cluster: session_cluster.ClusterState, extra: Sequence[str]) -> list[str]:
    """Replace `--flink_master=cluster` with the addresses of the cluster on this machine."""
    user_options = given_options(extra)
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


def check_place(options: GraphOptions, extra: Sequence[str]) -> None:
    """Check, before anything is read, that an engine on other machines can run a job.

    Raises:
        ConfigError: The user must fix something; says what.
        WorkerError: A required service does not answer.
    """
    if options.engine != "local" and options.memory is not None:
        raise ConfigError(
            f"--memory {options.memory}: is for --engine local; the workers of {options.engine} "
            "have the memory that their machines or its own options give them"
        )
    if options.memory is not None and "direct_num_workers" in given_options(extra):
        raise ConfigError(
            f"--memory {options.memory}: chooses the number of workers; leave out "
            "--direct_num_workers, and give --workers for the most that may run"
        )
    engine_flags.check(options.engine, given_options(extra))
    job_jar.check(options, given_options(extra))
    if options.engine == "dataflow":
        dataflow_checks.check(options, extra, given_options(extra))
    elif not options.wait:
        raise ConfigError(
            f"--wait false: engine {options.engine} ends with this command; only a job on "
            "dataflow goes on without it"
        )


def works_here(engine: str, extra: Sequence[str]) -> bool:
    """Tell whether the workers of an engine run on this machine, according to its options."""
    user_options = given_options(extra)
    if "runner" in user_options or engine == "dataflow":
        return False
    if engine != "flink":
        return True
    master = user_options.get("flink_master")
    remote = master not in {None, "[local]", "[auto]"} and not session_cluster.is_named(master)
    return not remote and "environment_type" not in user_options


def forks_workers(engine: str, extra: Sequence[str]) -> bool:
    """Tell whether the launcher forks the workers of an engine where that is safe.

    They end with the launcher; the workers of a Flink cluster must outlive it.
    """
    user_options = given_options(extra)
    inside = engine == "prism" or (engine == "flink" and _is_mini_cluster(user_options))
    return engine == "local" or (inside and "environment_type" not in user_options)


def _is_mini_cluster(user_options: Mapping[str, str]) -> bool:
    """Tell whether Flink runs in its job server, in which it ends with the run."""
    master = user_options.get("flink_master") or "[local]"
    return job_jar.OPTION not in user_options and master in {"[local]", "[auto]"}


def processes_here(extra: Sequence[str]) -> list[int]:
    """Return the processes on this machine that do a run's work, or that start such processes."""
    try:
        cluster = session_cluster.find(given_options(extra).get("flink_master"))
    except ConfigError:  # the cluster is no longer up
        cluster = None
    members = () if cluster is None else cluster.members
    return [os.getpid(), *(member.pid for member in members)]


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
    binary = user_options.get("prism_location") or _find_prism()
    if binary is None:
        raise ConfigError(f"engine prism: no Beam prism program found; run {PRISM_INSTALL}")
    flags = ["--runner=PrismRunner", "--prism_log_level=warn"]
    flags.append(f"--job_server_timeout={PRISM_SECONDS}")
    # Otherwise an attempt would use the program of the attempt before, which may be what failed.
    # (`--experiment` in the singular, so that a user's `--experiments` is kept.)
    flags.append("--experiment=disable_prism_server_singleton")
    ours = place.scratch / "prism"
    if "environment_type" not in user_options:
        flags += place.worker_processes(forked=True)
        place.held.enter_context(lost_workers.watched(place.scratch / engine_scripts.WORKER, ours))
    warn_of_open_ports("prism")
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
            warn_of_open_ports("flink")
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
    return require_job_server(user_options.get("flink_job_server_jar"), "--flink_job_server_jar")


_BUILD = f"`{job_server.INSTALL}` (`make flink` in a checkout)"


def require_job_server(location: str | None = None, option: str = "") -> str:
    """Return the job server's jar: the given path or URI, or the one that was built.

    Args:
        location: The given path or URI.
        option: The option that gives it, for the message; "" for a command without one.

    Raises:
        ConfigError: The jar is missing.
    """
    jar = location or str(find_job_server())
    if not re.match(r"\w+://", jar) and not Path(jar).is_file():
        other = f", or give {option}" if option else ""
        raise ConfigError(f"engine flink: no job server at {jar}; run {_BUILD}{other}")
    return jar


def find_job_server() -> Path:
    """Return the path of the job server's jar: the checkout's, or else the installed one's."""
    built = CHECKOUT / JAR
    return built if built.is_file() else job_server.installed_jar()


def _flink_conf(scratch: Path) -> Path:
    """Write the mini cluster's configuration and return its directory."""
    directory = scratch / "flink-conf"
    directory.mkdir()
    settings = {
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": str(RESTARTS),
        "restart-strategy.fixed-delay.delay": f"{session_cluster.RESTART_SECONDS} s",
        # The shuffle's spilled files are removed with the job.
        "io.tmp.dirs": str(scratch),
        # For Flink's own port, if the run has no private network; Beam's ports are not affected.
        "rest.bind-address": "localhost",
        "jobmanager.bind-host": "localhost",
        "taskmanager.bind-host": "localhost",
    }
    lines = [f"{key}: {value}\n" for key, value in settings.items()]
    (directory / "flink-conf.yaml").write_text("".join(lines), encoding="utf-8")
    return directory


@functools.cache  # warn only once
def warn_of_open_ports(engine: str) -> None:
    """Warn that an engine's ports can be reached, unless this process has its own network."""
    if not private_network.entered():
        LOG.warning(
            "engine %s listens on ports through which anyone who can reach this machine can "
            "run code as you, because this run cannot have its own network; see SECURITY.md",
            engine,
        )


def _find_prism() -> Path | None:
    on_path = shutil.which("prism")
    for candidate in (CHECKOUT / PRISM, on_path and Path(on_path)):
        if candidate and candidate.is_file() and _is_beam_prism(candidate):
            return candidate
    return None


def _is_beam_prism(path: Path) -> bool:
    """Tell whether a program is Beam's prism and not another program of that name."""
    with path.open("rb") as file:
        if not path.stat().st_size:
            return False
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(b"apache/beam/sdks") >= 0


def engine_report() -> list[EngineState]:
    """Report for each engine whether it can run here, and what is missing."""
    cores = f"{os.cpu_count()} cores"
    return [
        EngineState(
            "local", (cores, f"{memory.machine_bytes() / (1 << 30):.1f} GiB of memory", _gpus()), ()
        ),
        _prism_state(),
        _flink_state(),
        _dataflow_state(),
    ]


def _dataflow_state() -> EngineState:
    if not dataflow_checks.installed():
        return EngineState("dataflow", (), ("no client: run pip install 'pairweave[gcp]'",))
    client = f"google-cloud-dataflow-client {importlib.metadata.version(DATAFLOW_CLIENT)}"
    return EngineState("dataflow", (client, "runs in the cloud: see deploy/dataflow"), ())


def _prism_state() -> EngineState:
    prism = _find_prism()
    if prism is None:
        return EngineState("prism", (), (f"no Beam prism program: run {PRISM_INSTALL}",))
    return EngineState("prism", (str(prism),), ())


def _flink_state() -> EngineState:
    facts, missing = [], []
    java = find_java()
    version = java_version(java) if java else None
    if java is None:
        missing.append(without_java())
    elif version in JAVA_VERSIONS:
        facts.append(f"Java {version} at {java}")
    else:
        missing.append(f"{java} is Java {version or 'of unknown version'}: install Java {WANTED}")
    try:
        jar = find_job_server()
        if jar.is_file() and jar.stat().st_size:
            facts.append(f"job server {jar} ({jar.stat().st_size / 1e6:.0f} MB)")
        else:
            missing.append(f"no job server: run {_BUILD}")
    except ConfigError as error:
        missing.append(str(error))
    return EngineState("flink", tuple(facts), tuple(missing))


def _gpus() -> str:
    cards = Path("/proc/driver/nvidia/gpus")
    count = len(list(cards.iterdir())) if cards.is_dir() else 0
    return f"{count} NVIDIA GPUs" if count else "no NVIDIA GPU"
