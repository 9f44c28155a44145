"""A job as one jar for a Flink cluster of its own: application mode, `--output_executable_path`.

The jar contains the graph and the classes of Beam's runner. Flink's job manager runs its main
class, so nothing else is sent to the cluster. The run is planned and the output claimed before the
jar is written; the commit is a step of the graph.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from pairweave.pipelines.engines.dataflow import places
from pairweave.pipelines.options.base import GraphOptions
from pairweave.pipelines.process.log import LOG
from pairweave.transforms.errors import ConfigError

OPTION = "output_executable_path"
MAIN_CLASS = "org.apache.beam.runners.flink.FlinkPipelineRunner"
"""The main class of such a jar."""

MASTER = "[auto]"
"""The value of `--flink_master` for the cluster that runs the jar."""


@dataclasses.dataclass(frozen=True, slots=True)
class JobJar:
    """A job that was written as a jar.

    Attributes:
        id: The jar's path.
    """

    id: str

    def tell(self, output: str) -> None:
        """Log how to run the job."""
        LOG.info(
            "wrote the job to %s; its main class is %s; pairweave status %s shows how far it is",
            *(self.id, MAIN_CLASS, output),
        )


def wanted(values: Mapping[str, str]) -> JobJar | None:
    """Return the jar to which a job is to be written; None if the job is to be run.

    Args:
        values: Values of the user's Beam options, by name.
    """
    path = values.get(OPTION)
    return None if path is None else JobJar(str(Path(path).absolute()))


def check_jar(options: GraphOptions, values: Mapping[str, str]) -> None:
    """If a jar is to be written, check that a cluster elsewhere can run it.

    Args:
        options: The job's options.
        values: Values of the user's Beam options, by name.

    Raises:
        ConfigError: It cannot be run; says what to do.
    """
    if (path := values.get(OPTION)) is None:
        return
    flag = f"--{OPTION} {path}"
    if options.engine != "flink":
        raise ConfigError(f"{flag}: writes a job for Flink; give --engine flink")
    if not path.endswith(".jar") or not Path(path).absolute().parent.is_dir():
        raise ConfigError(f"{flag}: expected the name of a .jar in a directory that exists")
    if values.get("flink_master", MASTER) != MASTER:
        raise ConfigError(
            f"{flag}: the cluster that runs the jar is its own; leave --flink_master out"
        )
    if "environment_type" not in values:
        raise ConfigError(
            f"{flag}: give the place of the workers: --environment_type=EXTERNAL "
            "--environment_config=localhost:50000 (see deploy/flink/README.md)"
        )
    places.check_written_after(options, f"--{OPTION}")
