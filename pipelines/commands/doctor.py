"""The command ``doctor``: reports the machine's equipment, and what each engine lacks."""

import importlib.metadata
import os
import platform
import re
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Annotated, Literal

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.engines import engine_report
from pairweave.pipelines.engines.flink import job_server
from pairweave.pipelines.process import memory, terminal
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_places import STORE
from pairweave.transforms.storage import files

PACKAGES = ("pairweave", "apache-beam", "pyarrow", "numpy", "numba", "sentencepiece", "pydantic")
EXTRAS = {
    "neural": "torch",
    "gcp": "google-cloud-storage",
    "aws": "boto3",
    "azure": "azure-storage-blob",
    "flink": "apache-flink-libraries",
    "hub": "datasets",
}

_DIGEST = re.compile(rb"[0-9a-f]{64}")
"""The digest of the source in the index of a compiled kernel, which Numba writes."""


@command()
def main(
    *,
    stores: Annotated[
        tuple[str, ...],
        STORE,
        "buckets to check, such as gs://bucket/corpora or s3://bucket, with the credentials that "
        "a run would use",
    ] = (),
    install: Annotated[
        Literal["flink"] | None,
        "install what an engine lacks before the report: flink builds the job server with Maven, "
        "in your cache directory",
    ] = None,
) -> int:
    """Install the requested programs and print the report.

    Returns:
        1 if the local engine cannot run or a given store is unreachable, else 0.
    """
    if install == "flink":
        terminal.say(f"job server of flink: {job_server.install()}")
    ram = memory.machine_bytes() / (1 << 30)
    disk = shutil.disk_usage(".").free / (1 << 30)
    lines = [
        f"python {platform.python_version()} on {platform.platform()}",
        f"{os.cpu_count()} cores, {ram:.1f} GiB of memory, {disk:.0f} GiB free on this disk",
        "",
        "packages",
        *(f"  {package} {_version(package)}" for package in PACKAGES),
        "",
        "extras",
        *(f"  {extra}: {package} {_version(package)}" for extra, package in EXTRAS.items()),
        "",
        "kernels",
        f"  {_kernels()}",
        "",
        "engines",
    ]
    report = engine_report.states()
    lines += [f"  {state.render()}" for state in report]
    faults = {path: _fault(path) for path in stores}
    if faults:
        lines += ["", "stores"]
        lines += [f"  {path}: {fault or 'reachable'}" for path, fault in faults.items()]
    terminal.say("\n".join(lines))
    runs = next(state.ready for state in report if state.engine == "local")
    return 0 if runs and not any(faults.values()) else 1


def _fault(path: str) -> str | None:
    """Return why a store cannot be used; None if it can."""
    if not files.is_uri(path):
        raise ConfigError(f"--stores {path}: is not the URI of a store, such as gs://bucket/prefix")
    try:
        files.check_store(path)
    except ConfigError as error:
        return str(error).removeprefix(f"{path}: ")
    return None


def _kernels() -> str:
    """Return a sentence on whether a first run has to compile the kernels."""
    try:
        from pairweave.transforms.kernels import kernel_cache, kernel_sources
    except ImportError as error:  # the report must work in such an installation, too
        return f"numba cannot be imported: {error}"
    shipped, numba = kernel_cache.shipped_for(), _version("numba")
    if shipped == numba and not kernel_cache.are_usable():
        return "those of the package are for other CPUs: the first run compiles them"
    if shipped == numba:
        said = "compiled ones come with the package"
        outdated, all_files = _outdated(kernel_sources.PACKAGE)
        if outdated:
            said += f", but those of {outdated} of {all_files} files are outdated: a run that "
            said += "needs one of these compiles it once; `make kernels` compiles all"
        return said
    if shipped is None:
        return "none come with the package: the first run compiles them"
    return f"those of the package are for numba {shipped}: the first run compiles them for {numba}"


def _outdated(package: Path) -> tuple[int, int]:
    """Return how many source files have outdated compiled kernels, and how many have any.

    Kernels are outdated if their source file, or a file that it imports from, has changed since, as
    in a checkout after an update.
    """
    from pairweave.transforms.kernels import kernel_cache, kernel_sources

    compiled_from: dict[str, set[bytes]] = defaultdict(set)
    for path in (package / kernel_cache.SHIPPED).glob("*.nbi"):
        module = path.name.partition(".")[0]
        compiled_from[module].update(_DIGEST.findall(path.read_bytes()))
    sources = [
        path
        for path in (package / "transforms").rglob("*.py")
        if path.stem in compiled_from and kernel_sources.has_kernels(path)
    ]
    outdated = [
        path
        for path in sources
        if kernel_sources.digest(path, package).encode() not in compiled_from[path.stem]
    ]
    return len(outdated), len(sources)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
