"""What `doctor` reports of each engine: whether it can run here, and what is missing."""

import dataclasses
import importlib.metadata
import os
from pathlib import Path

from pairweave.pipelines.engines import programs
from pairweave.pipelines.engines.dataflow import checks as dataflow_checks
from pairweave.pipelines.engines.flink.java import (
    JAVA_VERSIONS,
    WANTED,
    find_java,
    java_version,
    without_java,
)
from pairweave.pipelines.process import memory
from pairweave.transforms.errors import ConfigError

CLIENT = "google-cloud-dataflow-client"
"""The distribution with the client of Dataflow."""


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


def states() -> list[EngineState]:
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
    client = f"{CLIENT} {importlib.metadata.version(CLIENT)}"
    return EngineState("dataflow", (client, "runs in the cloud: see deploy/dataflow"), ())


def _prism_state() -> EngineState:
    prism = programs.find_prism()
    if prism is None:
        return EngineState("prism", (), (f"no Beam prism program: run {programs.PRISM_INSTALL}",))
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
        jar = programs.find_job_server()
        if jar.is_file() and jar.stat().st_size:
            facts.append(f"job server {jar} ({jar.stat().st_size / 1e6:.0f} MB)")
        else:
            missing.append(f"no job server: run {programs.JAR_INSTALL}")
    except ConfigError as error:
        missing.append(str(error))
    return EngineState("flink", tuple(facts), tuple(missing))


def _gpus() -> str:
    cards = Path("/proc/driver/nvidia/gpus")
    count = len(list(cards.iterdir())) if cards.is_dir() else 0
    return f"{count} NVIDIA GPUs" if count else "no NVIDIA GPU"
