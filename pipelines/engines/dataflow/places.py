"""The files of a job that Dataflow's workers open, and a check that they can reach them."""

from collections.abc import Iterator

from pairweave.pipelines.options.base import GraphOptions
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_places import By, Use, places_of
from pairweave.transforms.plugins.plugin_kind import plugins_named
from pairweave.transforms.storage.hub_places import is_data_set

SCHEME = "gs://"

WRITTEN_AFTER = (Use.BESIDE, Use.BY_LINE)
"""Options for files that the launcher writes after it has waited for the end of the job."""


def check_reachable(options: GraphOptions) -> None:
    """Check that workers on other machines can open every file of a job, and have its plugins.

    Raises:
        ConfigError: Workers cannot open a file, or may lack a plugin; names the option and the
            path or plugin.
    """
    if not options.wait:
        check_written_after(options, "--wait false")
    if not options.plugins_in_image:
        check_no_plugin(options)
    written = {place.option for place in places_of(options) if place.use.is_written}
    for name, path in opened(options):
        if path.startswith(SCHEME):
            continue
        own_name = path.rstrip("/").rpartition("/")[2]
        if name in written:
            raise ConfigError(
                f"--{name} {path}: Dataflow's workers cannot write there; give a place in a "
                f"bucket, such as {SCHEME}BUCKET/runs/{own_name}"
            )
        if is_data_set(path):
            raise ConfigError(
                f"--{name} {path}: is fetched to the disk of this machine, where Dataflow's "
                "workers cannot open it; copy the data set's files to a bucket and give these, "
                f"such as {SCHEME}BUCKET/*.parquet"
            )
        raise ConfigError(
            f"--{name} {path}: Dataflow's workers cannot open it; copy it to a bucket and give its "
            f"URI, such as {SCHEME}BUCKET/{own_name}"
        )


def check_no_plugin(options: GraphOptions) -> None:
    """Check that options name no plugin, since workers have only the plugins of their image."""
    for option, kind, name in plugins_named(options):
        raise ConfigError(
            f"--{option} {name}: is a {kind.noun} of another package, which Dataflow's workers "
            "have only in their image; install the same version in the image of "
            "--sdk_container_image and give --plugins_in_image, or leave it out"
        )


def check_written_after(options: GraphOptions, without: str) -> None:
    """If the command does not wait for its job, check that no file is to be written afterwards.

    Args:
        options: The job's options.
        without: The option that makes the command end before the job.

    Raises:
        ConfigError: An option names such a file.
    """
    after = {place.option for place in places_of(options) if place.use in WRITTEN_AFTER}
    if after:
        raise ConfigError(
            f"--{min(after)}: is written after the end of the job; leave {without} out, or give "
            "it with the same command once the job is done"
        )


def opened(options: GraphOptions) -> Iterator[tuple[str, str]]:
    """Yield the option and the path of everything that workers open or write."""
    for place in places_of(options):
        if place.role.by is By.WORKERS and place.use is not Use.PROGRAM:
            yield place.option, place.path
