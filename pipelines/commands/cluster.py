"""The command ``cluster``: a Flink session cluster on this machine, for `--engine flink`."""

import sys
from collections.abc import Sequence
from pathlib import Path

from pairweave.pipelines.command_line import flags
from pairweave.pipelines.commands.command_options import ClusterOptions
from pairweave.pipelines.engines import engines
from pairweave.pipelines.engines.flink import session_cluster

MASTER = session_cluster.MASTER


def main(name: str, arguments: Sequence[str]) -> int:
    """Start, end or show a cluster."""
    options = flags.read_command(ClusterOptions, name, arguments)
    directory = (
        Path(options.directory).resolve()
        if options.directory
        else session_cluster.default_directory()
    )
    if options.action == "up":
        _up(options, directory)
    if options.action == "down":
        ended = session_cluster.stop(directory)
        sys.stdout.write(f"{directory}: {f'{ended} processes ended' if ended else 'not up'}\n")
        return 0
    return _show(directory, named=options.directory is not None)


def _up(options: ClusterOptions, directory: Path) -> None:
    libraries = session_cluster.find_libraries(options.flink)
    jar, java = engines.require_job_server(), engines.require_java()
    state = session_cluster.ClusterState(
        rest=session_cluster.free_port(),
        job_port=session_cluster.free_port(),
        slots=options.slots,
        task_managers=options.task_managers,
    )
    engines.warn_of_open_ports("flink")
    session_cluster.SessionCluster(directory, libraries, java, jar, state).start()


def _show(directory: Path, *, named: bool) -> int:
    """Print the state of a cluster; return 1 if it cannot take a job."""
    state = session_cluster.read_state(directory)
    if state is None:
        sys.stdout.write(f"{directory}: not up\n")
        return 1
    overview = session_cluster.overview(state)
    lines = [f"{directory}: {'up' if state.ready else 'a process has ended'}"]
    lines += [
        f"  {member.name}: process {member.pid}{'' if member.alive else ', ended'}"
        for member in state.members
    ]
    lines += [
        f"  {overview.slots_available} of {overview.slots_total} slots free; "
        f"{overview.jobs_running} jobs running"
        if overview
        else "  the job manager does not answer",
        f"  web: http://localhost:{state.rest}",
        f"  use: --engine flink --flink_master={MASTER}{f':{directory}' if named else ''}",
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if state.ready else 1
