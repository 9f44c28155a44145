"""Programs that are not Python: their paths, or the reason to skip a test."""

import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from pairweave.pipelines.engines import engines
from tests.cluster import toy_shards

TOY = Path(toy_shards.__file__)
ROOT = TOY.parents[2]
LIMIT_SECONDS = 300
"""No job here may take longer: a cluster that waits for a worker has no limit of its own."""


def ready(engine: str) -> None:
    state = next(state for state in engines.engine_report() if state.engine == engine)
    if not state.ready:
        pytest.skip(state.render())


@pytest.fixture(scope="session")
def prism() -> None:
    """Skip where Beam's prism is absent."""
    ready("prism")


@pytest.fixture(scope="session")
def flink() -> Path:
    """Return the job server's jar, or skip where it or Java is absent."""
    ready("flink")
    return ROOT / engines.JAR


@pytest.fixture(scope="session")
def flink_libraries() -> Path:
    """Return the directory that holds `lib` and `bin` of a Flink distribution, or skip."""
    given = os.environ.get("PAIRWEAVE_FLINK")
    found = importlib.util.find_spec("pyflink")
    places = [given, *(found.submodule_search_locations or [] if found else [])]
    for place in places:
        if place and Path(place, "bin", "bash-java-utils.jar").is_file():
            return Path(place)
    pytest.skip("no Flink 1.19 here: pip install 'pairweave[flink]', or set PAIRWEAVE_FLINK")


def run_toy(output: Path, *flags: str) -> dict[str, object]:
    """Run the toy job as a program and return what it says of itself."""
    output.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, str(TOY), "--output", str(output), *flags],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=output.parent,
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.stdout, done.stderr[-4000:]
    return {**json.loads(done.stdout.splitlines()[-1]), "stderr": done.stderr}


@pytest.fixture(scope="session")
def golden(tmp_path_factory) -> str:
    """Return the digest that one local worker makes."""
    return run_toy(tmp_path_factory.mktemp("golden") / "out", "--workers", "1")["digest"]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return listener.getsockname()[1]


PACKAGES = (
    *("util", "lang", "lang.invoke", "lang.reflect", "net", "io", "nio", "text", "time"),
    "util.concurrent",
)
OPENS = [
    *(f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in PACKAGES),
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
]


class SessionCluster:
    """A job manager and task managers of two slots each, all on this machine's loopback."""

    def __init__(self, libraries: Path, directory: Path) -> None:
        self._directory = directory
        self._processes: list[subprocess.Popen[bytes]] = []
        self._classes = f"{libraries}/lib/*:{libraries}/bin/bash-java-utils.jar"
        self._java = shutil.which("java")
        self.rest = free_port()
        self._conf = directory / "conf"
        self._conf.mkdir(parents=True)
        settings = {
            "jobmanager.rpc.address": "localhost",
            "jobmanager.rpc.port": free_port(),
            "jobmanager.bind-host": "localhost",
            "jobmanager.memory.process.size": "1024m",
            "rest.address": "localhost",
            "rest.bind-address": "localhost",
            "rest.port": self.rest,
            "blob.server.port": free_port(),
            "taskmanager.host": "localhost",
            "taskmanager.bind-host": "localhost",
            "taskmanager.numberOfTaskSlots": 2,
            "taskmanager.memory.process.size": "1280m",
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": 5,
            "restart-strategy.fixed-delay.delay": "1 s",
            "heartbeat.timeout": 10000,
            "heartbeat.interval": 2000,
            "io.tmp.dirs": directory / "tmp",
        }
        (directory / "tmp").mkdir()
        lines = [f"{key}: {value}\n" for key, value in settings.items()]
        (self._conf / "flink-conf.yaml").write_text("".join(lines))

    def start(self, task_managers: int) -> None:
        self._run("jobmanager", [], "StandaloneSessionClusterEntrypoint", "entrypoint", [])
        told = subprocess.run(
            [
                *(self._java, "-cp", self._classes),
                "org.apache.flink.runtime.util.bash.BashJavaUtils",
                *("GET_TM_RESOURCE_PARAMS", "--configDir", str(self._conf)),
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        # Log lines come on the same stream.
        found = re.findall(r"^BASH_JAVA_UTILS_EXEC_RESULT:(-[XD].*)$", told, re.MULTILINE)
        machine, *dynamic = found
        for number in range(task_managers):
            self._run(
                f"taskmanager{number}",
                machine.split(),
                "TaskManagerRunner",
                "taskexecutor",
                " ".join(dynamic).split(),
            )
        self._wait(2 * task_managers)

    def _run(
        self, name: str, machine: list[str], entry: str, package: str, arguments: list[str]
    ) -> None:
        log = (self._directory / f"{name}.log").open("wb")
        command = [self._java, *(machine or ["-Xmx512m"]), *OPENS, "-cp", self._classes]
        main = f"org.apache.flink.runtime.{package}.{entry}"
        self._processes.append(
            subprocess.Popen(
                [*command, main, "--configDir", str(self._conf), *arguments],
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._directory,
            )
        )
        log.close()

    def _wait(self, slots: int) -> None:
        deadline = time.monotonic() + 120
        while True:
            assert all(process.poll() is None for process in self._processes), self.logs()
            try:
                with urllib.request.urlopen(
                    f"http://localhost:{self.rest}/overview", timeout=5
                ) as answer:
                    if json.load(answer)["slots-available"] >= slots:
                        return
            except OSError:
                pass
            assert time.monotonic() < deadline, self.logs()
            time.sleep(0.5)

    def logs(self) -> str:
        return "\n".join(path.read_text()[-2000:] for path in self._directory.glob("*.log"))

    def kill_task_manager(self, number: int) -> None:
        process = self._processes[1 + number]
        process.send_signal(signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        for process in reversed(self._processes):
            process.terminate()
        for process in self._processes:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture
def session_cluster(flink, flink_libraries, tmp_path) -> Iterator[SessionCluster]:
    """A Flink session cluster of two task managers with two slots each."""
    del flink
    cluster = SessionCluster(flink_libraries, tmp_path / "cluster")
    try:
        cluster.start(2)
        yield cluster
    finally:
        cluster.stop()
