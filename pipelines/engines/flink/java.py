"""The java program that runs Flink: where it is, and whether Flink runs on its version."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from pairweave.transforms.errors import ConfigError

FLINK_VERSION = "1.19"
JAVA_VERSIONS = range(11, 22)
"""Java versions for Flink 1.19; 21 is experimental there."""

WANTED = f"{JAVA_VERSIONS[0]} to {JAVA_VERSIONS[-1]}"
"""The same in words."""


def require_java(program: str | None = None) -> str:
    """Return the java program: the given one, or the one in `JAVA_HOME` or on `PATH`.

    Raises:
        ConfigError: There is none, or Flink does not run on its version.
    """
    if program is not None and shutil.which(program) is None:
        raise ConfigError(
            f"--job_server_java_launcher {program}: no such program; leave it out to use the java "
            "in JAVA_HOME or on PATH"
        )
    java = program or find_java()
    if java is None:
        raise ConfigError(f"engine flink: {without_java()}")
    version = java_version(java)
    if version is not None and version not in JAVA_VERSIONS:
        raise ConfigError(
            f"engine flink: {java} is Java {version}; Flink {FLINK_VERSION} needs {WANTED}"
        )
    return java


def find_java() -> str | None:
    """Return the java program in `JAVA_HOME`, or without that on `PATH`; None if there is none."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(Path(home, "bin", "java")) if home else shutil.which("java")


def without_java() -> str:
    """Say why no java is found, and what to do."""
    home = os.environ.get("JAVA_HOME")
    if home:
        return (
            f"no java: JAVA_HOME is {home}, which has no bin/java; set it to the folder of Java "
            f"{WANTED}, or unset it"
        )
    return f"no java: install Java {WANTED} and put it on PATH or in JAVA_HOME"


def java_version(java: str) -> int | None:
    """Return the feature version of a java program; None if it does not print one."""
    try:
        printed = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r'version "(?:1\.)?(\d+)', printed.stderr + printed.stdout)
    return int(match[1]) if match else None
