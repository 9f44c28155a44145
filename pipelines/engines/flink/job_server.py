"""The job server, through which `--engine flink` reaches Flink: finding it and building it.

It is a single jar, which Maven assembles from the `pom.xml` next to this file: with `make flink` in
a checkout, otherwise with `pairweave doctor --install flink` in the user's cache directory, under a
name that changes with the `pom.xml`.
"""

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from pairweave.pipelines.engines.flink.user_cache import cache_directory
from pairweave.pipelines.process.file_lock import alone_in
from pairweave.transforms.errors import ConfigError

POM = Path(__file__).with_name("pom.xml")
NAME = "pairweave-flink-job-server"
INSTALL = "pairweave doctor --install flink"
BUILD = "build-"
"""Prefix of the names of the directories in which it is built."""

BUILD_SECONDS = 1800
"""Time limit for Maven, which downloads about 120 MB the first time."""


def installed_jar() -> Path:
    """Return the path of the jar in the cache directory (`XDG_CACHE_HOME`), present or not.

    Raises:
        ConfigError: The user has no cache directory.
    """
    digest = hashlib.sha256(POM.read_bytes()).hexdigest()
    return cache_directory() / f"{NAME}-{digest[:12]}.jar"


def install() -> Path:
    """Build the jar in the cache directory unless it exists.

    Returns:
        Its path.

    Raises:
        ConfigError: Maven or Java is missing, the build failed (repeats Maven's message), or
            another process is building it.
    """
    jar = installed_jar()
    if jar.is_file():
        return jar
    maven = shutil.which("mvn")
    if maven is None:
        raise ConfigError(
            f"{INSTALL}: no mvn on PATH; install Maven (it needs a JDK, which also runs Flink), or "
            f"build {POM} on another machine and give --flink_job_server_jar"
        )
    jar.parent.mkdir(parents=True, exist_ok=True)
    with alone_in(jar.parent, f"another {INSTALL} is running there; wait until it has ended"):
        for left in jar.parent.glob(f"{BUILD}*"):  # from a build that was killed
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=jar.parent, prefix=BUILD) as directory:
            _build(maven, Path(directory))
            Path(directory, f"{NAME}.jar").replace(jar)
    return jar


def _build(maven: str, directory: Path) -> None:
    command = [maven, "--quiet", "--batch-mode", "--file", str(POM), f"-Dtarget={directory}"]
    try:
        done = subprocess.run(
            [*command, "package"],
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ConfigError(
            f"{INSTALL}: Maven did not finish in {BUILD_SECONDS} seconds; is Maven Central "
            "reachable from here?"
        ) from error
    if done.returncode or not Path(directory, f"{NAME}.jar").is_file():
        lines = (done.stdout + done.stderr).strip().splitlines()[:8]
        raise ConfigError(
            f"{INSTALL}: Maven ended with exit status {done.returncode}: " + "\n".join(lines)
        )
