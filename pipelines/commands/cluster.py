"""The command ``cluster``: a Flink session cluster on this machine, for `--engine flink`."""

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.engines import private_network, programs
from pairweave.pipelines.engines.flink import cluster_state, session_cluster
from pairweave.pipelines.engines.flink.java import require_java
from pairweave.pipelines.process import terminal
from pairweave.transforms.counted import counted
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_places import DIRECTORY, OUTPUT_DIRECTORY
from pairweave.transforms.storage import files


@command()
def main(
    action: Annotated[
        Literal["up", "down", "status"],
        "up starts a cluster, down stops it, status shows its processes and free slots",
    ],
    *,
    directory: Annotated[
        str | None,
        OUTPUT_DIRECTORY,
        Field(min_length=1),
        "the cluster's own directory, with its logs (default: in your cache directory)",
    ] = None,
    task_managers: Annotated[
        int | None, Field(ge=1, le=64), "with up: task managers to start (default 1)"
    ] = None,
    slots: Annotated[
        int | None, Field(ge=1, le=256), "with up: slots of each task manager (default 2)"
    ] = None,
    flink: Annotated[
        str | None,
        DIRECTORY,
        Field(min_length=1),
        "with up: a Flink 1.19 distribution (default: apache-flink-libraries)",
    ] = None,
) -> int:
    """Start, end or show a cluster.

    Raises:
        ConfigError: An option does not go with the action; or a cluster cannot start.
    """
    if directory is not None and files.is_uri(directory):
        raise ConfigError(
            f"--directory {directory}: a cluster's own directory is on a disk of this machine; "
            "give the path of one"
        )
    of_up = {"task_managers": task_managers, "slots": slots, "flink": flink}
    given = [name for name, value in of_up.items() if value is not None]
    if given and action != "up":
        raise ConfigError(f"--{given[0]}: goes with cluster up; leave it out of cluster {action}")
    place = Path(os.path.realpath(directory)) if directory else cluster_state.default_directory()
    if action == "up":
        _up(place, flink, slots or 2, task_managers or 1)
    if action == "down":
        ended = session_cluster.stop(place)
        what = counted(ended, "process ended", "processes ended") if ended else "not up"
        terminal.say(f"{place}: {what}")
        return 0
    return _show(place, named=directory is not None)


def _up(directory: Path, flink: str | None, slots: int, task_managers: int) -> None:
    libraries = session_cluster.find_libraries(flink)
    jar, java = programs.require_job_server(), require_java()
    state = cluster_state.ClusterState(
        rest=session_cluster.free_port(),
        job_port=session_cluster.free_port(),
        slots=slots,
        task_managers=task_managers,
        members=[],
    )
    private_network.warn_of_open_ports("flink")
    session_cluster.SessionCluster(directory, libraries, java, jar, state).start()


def _show(directory: Path, *, named: bool) -> int:
    """Print the state of a cluster; return 1 if it cannot take a job."""
    state = cluster_state.read_state(directory)
    if state is None:
        terminal.say(f"{directory}: not up")
        return 1
    overview = session_cluster.overview(state)
    lines = [f"{directory}: {'up' if state.ready else 'a process has ended'}"]
    lines += [
        f"  {member.name}: process {member.pid}{'' if member.alive else ', ended'}"
        for member in state.members
    ]
    lines += [
        f"  {overview.slots_available} of {counted(overview.slots_total, 'slot')} free; "
        f"{counted(overview.jobs_running, 'job')} running"
        if overview
        else "  the job manager does not answer",
        f"  web: http://localhost:{state.rest}",
        f"  use: --engine flink --flink_master={cluster_state.MASTER}"
        f"{f':{directory}' if named else ''}",
    ]
    terminal.say("\n".join(lines))
    return 0 if state.ready else 1
