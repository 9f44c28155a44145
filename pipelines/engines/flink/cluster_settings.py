"""Settings of Flink that the mini cluster of a run and a session cluster have in common."""

from collections.abc import Mapping
from pathlib import Path

RESTART_SECONDS = 8
"""Time until a failed job is restarted."""

LOOPBACK = {
    "rest.bind-address": "localhost",
    "jobmanager.bind-host": "localhost",
    "taskmanager.bind-host": "localhost",
}


def restarts(attempts: int) -> dict[str, object]:
    """Return the settings with which a failed job is restarted; without any it never is.

    Args:
        attempts: Number of restarts before it fails for good.
    """
    return {
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": attempts,
        "restart-strategy.fixed-delay.delay": f"{RESTART_SECONDS} s",
    }


def write(directory: Path, settings: Mapping[str, object]) -> None:
    """Write the configuration in a directory, which may be missing."""
    directory.mkdir(exist_ok=True)
    lines = [f"{key}: {value}\n" for key, value in settings.items()]
    (directory / "flink-conf.yaml").write_text("".join(lines), encoding="utf-8")
