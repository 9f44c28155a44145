"""What a Flink session cluster records in its directory, and how `--flink_master` names it."""

import os
from pathlib import Path
from typing import Annotated, ClassVar

import pydantic

from pairweave.pipelines.engines.flink.user_cache import cache_directory
from pairweave.transforms import process_stat
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage.json_files import JsonFile, read_model

STATE = "cluster.json"

MASTER = "cluster"
"""The value of `--flink_master` for such a cluster; `cluster:DIR` for one in another directory."""

_Port = Annotated[int, pydantic.Field(ge=1, le=65_535)]
_Count = Annotated[int, pydantic.Field(ge=1)]


class Member(JsonFile):
    """A process of a cluster.

    Attributes:
        name: Its role, which also names its log.
        pid: Its number.
        started: The time of its start, in clock ticks since the machine's start.
    """

    name: str
    pid: _Count
    started: int

    @classmethod
    def of(cls, name: str, pid: int) -> "Member":
        """Return the member that is a process of this machine."""
        return cls(name=name, pid=pid, started=process_stat.started(pid) or 0)

    @property
    def alive(self) -> bool:
        """Tell whether it runs."""
        return process_stat.started(self.pid) == self.started


class ClusterState(JsonFile):
    """What a cluster's directory records.

    Attributes:
        rest: Port of the job manager's REST interface.
        job_port: Port of the job server.
        slots: Slots of each task manager.
        task_managers: Number of task managers.
        members: The processes, in the order of their start.
    """

    ADVICE: ClassVar[str] = (
        "was it edited? End the processes of the cluster, whose logs are next to it, and delete it"
    )

    rest: _Port
    job_port: _Port
    slots: _Count
    task_managers: _Count
    members: list[Member]

    @property
    def ready(self) -> bool:
        """Tell whether every process runs."""
        return len(self.members) == 2 + self.task_managers and all(
            member.alive for member in self.members
        )


def default_directory() -> Path:
    """Return the directory of the user's one cluster that needs no name.

    Raises:
        ConfigError: The user has no cache directory.
    """
    return cache_directory() / "cluster"


def read_state(directory: Path) -> ClusterState | None:
    """Return what the directory of a cluster records; None if there is none.

    Raises:
        ConfigError: Its file is damaged; names the field and what to do.
    """
    try:
        return read_model(str(Path(directory, STATE)), ClusterState)
    except FileNotFoundError:
        return None


def is_named(master: str | None) -> bool:
    """Tell whether a value of `--flink_master` names a cluster of `pairweave cluster`.

    >>> is_named("cluster"), is_named("cluster:my/cluster"), is_named("cluster:8081")
    (True, True, False)
    """
    name, _, place = (master or "").partition(":")
    return name == MASTER and not place.isdigit()


def find(master: str | None) -> ClusterState | None:
    """Return the running cluster that a value of `--flink_master` names; None if it names none.

    Raises:
        ConfigError: It names one that is not up.
    """
    if master is None or not is_named(master):
        return None
    _, _, place = master.partition(":")
    directory = Path(os.path.realpath(place)) if place else default_directory()
    state = read_state(directory)
    if state is None:
        raise ConfigError(
            f"--flink_master={master}: no cluster is up in {directory}; run pairweave cluster up"
        )
    ended = [member.name for member in state.members if not member.alive]
    if ended or not state.ready:
        fault = f"has ended ({', '.join(ended)})" if ended else "has not started"
        raise ConfigError(
            f"--flink_master={master}: a process of the cluster in {directory} {fault}; run "
            "pairweave cluster down and pairweave cluster up"
        )
    return state


def write_state(directory: Path, state: ClusterState) -> None:
    """Record a cluster in its directory, in one step."""
    new = directory / f"{STATE}.new"
    new.write_text(state.model_dump_json(indent=1), encoding="utf-8")
    new.replace(directory / STATE)
