"""A Flink session cluster on this machine: job manager, task managers, and a job server.

Every process listens on the loopback where Flink allows it to be set, has its log in the cluster's
directory, and is recorded there with the time at which it started, so that `down` never ends
another process that got its number.
"""

import contextlib
import dataclasses
import importlib.util
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pydantic

from pairweave.pipelines.engines.flink import cluster_settings
from pairweave.pipelines.engines.flink.cluster_state import (
    STATE,
    ClusterState,
    Member,
    read_state,
    write_state,
)
from pairweave.pipelines.process import descendants, http_client
from pairweave.pipelines.process.file_lock import alone_in
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.storage.json_files import JsonFile, parse_model
from pairweave.transforms.storage.reachable import reach

START_SECONDS = 120.0
"""Time in which all processes of a cluster must be ready."""

STOP_SECONDS = 10.0
"""Time that they have to end when asked, before they are killed."""

POLL_SECONDS = 0.2

ANSWER_SECONDS = 5.0
"""Time in which the job manager must answer a question."""

OVERVIEW_BYTES = 1 << 20
"""The longest overview; Flink's has about 200 bytes."""

RESTARTS = 5
"""Number of restarts of a failed job before it fails for good."""

OTHER_MIB = 1152
"""Memory of a task manager besides its network buffers."""

NETWORK_MIB = 128
"""Network buffers for each slot. A step takes 16 MiB for each of its shuffles; with a tenth of the
memory, Flink's default, a job failed for lack of them and was restarted, some more than once."""

PACKAGES = (
    *("util", "lang", "lang.invoke", "lang.reflect", "net", "io", "nio", "text", "time"),
    "util.concurrent",
)
OPENS = [
    *(f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in PACKAGES),
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
]
"""Packages that Flink accesses by reflection; its own start scripts open them on Java 17."""


class Overview(JsonFile):
    """The counts of a job manager.

    Attributes:
        slots_total: Slots of all task managers.
        slots_available: Free slots.
        jobs_running: Running jobs.
    """

    model_config = pydantic.ConfigDict(alias_generator=lambda name: name.replace("_", "-"))

    slots_total: int
    slots_available: int
    jobs_running: int


def find_libraries(distribution: str | None = None) -> Path:
    """Return the directory that holds `lib` and `bin` of Flink.

    Args:
        distribution: A Flink distribution; by default the jars of `apache-flink-libraries`.

    Raises:
        ConfigError: It does not exist.
    """
    places = [distribution] if distribution else []
    if not distribution and (spec := importlib.util.find_spec("pyflink")):
        places += spec.submodule_search_locations or []
    for place in places:
        if Path(place, "bin", "bash-java-utils.jar").is_file():
            return Path(place).resolve()
    if distribution:
        raise ConfigError(
            f"{distribution}: is not a Flink distribution: it has no bin/bash-java-utils.jar"
        )
    raise ConfigError(
        "no Flink here: run pip install 'pairweave[flink]', or give the directory of a Flink 1.19 "
        "distribution with --flink"
    )


@dataclasses.dataclass(slots=True)
class SessionCluster:
    """A cluster that starts, in a directory of its own.

    Attributes:
        directory: Contains its configuration, logs, temporary files and state.
        libraries: See `find_libraries`.
        java: The java program.
        job_server: The job server's jar.
        state: Ports, sizes, and the processes started so far.
    """

    directory: Path
    libraries: Path
    java: str
    job_server: str
    state: ClusterState

    def start(self) -> None:
        """Start all processes and wait until they are ready; if one fails, end them all.

        Raises:
            ConfigError: A cluster of this directory is running or starting.
            WorkerError: A process ended, or was not ready in time; with the end of its log.
        """
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        refusal = "another pairweave cluster up starts a cluster there; wait until it has ended"
        with alone_in(self.directory, refusal):
            self._start_here()

    def _start_here(self) -> None:
        before = read_state(self.directory)
        if before is not None and any(member.alive for member in before.members):
            raise ConfigError(
                f"{self.directory}: a cluster is running there; end it with pairweave cluster down"
            )
        self.state = self.state.model_copy(update={"members": []})
        shutil.rmtree(self.directory / "tmp", ignore_errors=True)
        (self.directory / "tmp").mkdir(exist_ok=True)
        try:
            self._start_all()
        except BaseException:
            stop(self.directory)
            raise

    def _start_all(self) -> None:
        self._write_configuration()
        main = "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
        self._flink("jobmanager", ["-Xmx512m"], main, [])
        self._run("jobserver", self._job_server_command())
        parameters = self._task_manager_parameters()
        for number in range(self.state.task_managers):
            self._start_task_manager(number, parameters)
        self.wait_for_slots()
        self._wait(lambda: reach("localhost", self.state.job_port) is None)

    def wait_for_slots(self) -> None:
        """Wait until all slots of all task managers are free.

        Raises:
            WorkerError: A process ended, or they were not free in time; with the end of its log.
        """
        self._wait(self._has_all_slots)

    def _start_task_manager(
        self, number: int, parameters: tuple[Sequence[str], Sequence[str]]
    ) -> None:
        machine, dynamic = parameters
        main = "org.apache.flink.runtime.taskexecutor.TaskManagerRunner"
        self._flink(f"taskmanager{number}", machine, main, dynamic)

    def _write_configuration(self) -> None:
        network = NETWORK_MIB * max(2, self.state.slots)
        settings = {
            **cluster_settings.LOOPBACK,
            "jobmanager.rpc.address": "localhost",
            "jobmanager.rpc.port": free_port(),
            "jobmanager.memory.process.size": "1024m",
            "rest.address": "localhost",
            "rest.port": self.state.rest,
            "blob.server.port": free_port(),
            "taskmanager.host": "localhost",
            "taskmanager.numberOfTaskSlots": self.state.slots,
            "taskmanager.memory.process.size": f"{OTHER_MIB + network}m",
            "taskmanager.memory.network.min": f"{network}m",
            "taskmanager.memory.network.max": f"{network}m",
            **cluster_settings.restarts(RESTARTS),
            # The runner's classes are those of the job server's jar on the class path, loaded once.
            # From a job's own jar, they would end its worker processes after each step.
            "classloader.resolve-order": "parent-first",
            "heartbeat.timeout": 10000,
            "heartbeat.interval": 2000,
            # On a busy machine a process may need longer than Flink's ten seconds to start.
            "pekko.ask.timeout": f"{START_SECONDS:.0f} s",
            "io.tmp.dirs": self.directory / "tmp",
        }
        cluster_settings.write(self.directory / "conf", settings)
        # The job server tries to reach a lost job manager for 15 s; Flink's default is a minute.
        retries = {"rest.retry.max-attempts": 5, "rest.retry.delay": 3000}
        cluster_settings.write(self.directory / "client", retries)

    def _task_manager_parameters(self) -> tuple[list[str], list[str]]:
        """Return the options of Java and of Flink that follow from the total memory."""
        command = [
            *(self.java, "-cp", self._classes),
            "org.apache.flink.runtime.util.bash.BashJavaUtils",
            *("GET_TM_RESOURCE_PARAMS", "--configDir", str(self.directory / "conf")),
        ]
        try:
            result = subprocess.run(
                command, capture_output=True, text=True, timeout=START_SECONDS, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise WorkerError(
                f"{self.java} did not report Flink's memory in {START_SECONDS:.0f} s; is the "
                "machine very busy? Run pairweave cluster up again"
            ) from error
        # Log lines come on the same stream.
        results = re.findall(
            r"^BASH_JAVA_UTILS_EXEC_RESULT:(-[XD].*)$", result.stdout, re.MULTILINE
        )
        if not results:
            raise WorkerError(f"Flink does not report its memory: {result.stderr[-1000:]}")
        machine, *dynamic = results
        return machine.split(), " ".join(dynamic).split()

    @property
    def _classes(self) -> str:
        # Classes that Flink and the job server both contain are Flink's, whose path comes first.
        flink = f"{self.libraries}/lib/*:{self.libraries}/bin/bash-java-utils.jar"
        return f"{flink}:{self.job_server}"

    def _job_server_command(self) -> list[str]:
        return [
            *(self.java, "-Xmx512m", f"-Djava.io.tmpdir={self.directory / 'tmp'}"),
            *("-XX:-UsePerfData", "-jar", self.job_server),
            *("--flink-master", f"localhost:{self.state.rest}", "--job-host", "localhost"),
            *("--flink-conf-dir", str(self.directory / "client")),
            *("--job-port", str(self.state.job_port), "--artifact-port", "0"),
            *("--expansion-port", "0", "--artifacts-dir", str(self.directory / "tmp")),
        ]

    def _flink(self, name: str, machine: Sequence[str], main: str, extra: Sequence[str]) -> None:
        options = [*machine, *OPENS, "-XX:-UsePerfData", "-cp", self._classes]
        conf = ["--configDir", str(self.directory / "conf")]
        self._run(name, [self.java, *options, main, *conf, *extra])

    def _run(self, name: str, command: Sequence[str]) -> None:
        """Start a process that outlives this one, and record it at once."""
        with (self.directory / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.directory,
                start_new_session=True,
            )
        process.returncode = 0  # it outlives this process, which does not wait for it
        others = [other for other in self.state.members if other.name != name]
        members = [*others, Member.of(name, process.pid)]
        self.state = self.state.model_copy(update={"members": members})
        write_state(self.directory, self.state)

    def _wait(self, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not ready():
            for member in self.state.members:
                if not member.alive:
                    raise WorkerError(f"{member.name} ended: {self._log(member)}")
            if time.monotonic() > deadline:
                logs = "\n".join(self._log(member) for member in self.state.members)
                raise WorkerError(f"the cluster was not ready in {START_SECONDS:.0f} s: {logs}")
            time.sleep(POLL_SECONDS)

    def _log(self, member: Member) -> str:
        path = self.directory / f"{member.name}.log"
        return f"{path}: {path.read_text(encoding='utf-8', errors='replace')[-1500:]}"

    def _has_all_slots(self) -> bool:
        counts = overview(self.state)
        wanted = self.state.slots * self.state.task_managers
        return counts is not None and counts.slots_available >= wanted


def overview(state: ClusterState) -> Overview | None:
    """Return the job manager's counts of slots and jobs.

    Returns:
        The overview; None if nothing answers in time, or the answer is not a job manager's.
    """
    url = f"http://localhost:{state.rest}/overview"
    try:
        answer = http_client.ask_this_machine(url, ANSWER_SECONDS, OVERVIEW_BYTES)
        return parse_model(answer, url, Overview)
    except (http_client.ExchangeError, ConfigError):
        return None


def stop(directory: Path) -> int:
    """End a cluster's processes and their descendants; return how many of its own were running."""
    state = read_state(directory)
    if state is None:
        return 0
    running = [member for member in state.members if member.alive]
    below = [pid for member in running for pid in descendants.of(member.pid)]
    ends = [*running, *(Member.of("worker", pid) for pid in below)]
    _signal(running, signal.SIGTERM)
    _await_end(ends, STOP_SECONDS)
    _signal(ends, signal.SIGKILL)
    _await_end(ends, STOP_SECONDS)
    (directory / STATE).unlink(missing_ok=True)
    shutil.rmtree(directory / "tmp", ignore_errors=True)
    return len(running)


def _signal(members: Sequence[Member], number: signal.Signals) -> None:
    for member in members:
        if member.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(member.pid, number)


def _await_end(members: Sequence[Member], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while any(member.alive for member in members) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)


def free_port() -> int:
    """Return a port of the loopback that nothing listens on."""
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return int(listener.getsockname()[1])
