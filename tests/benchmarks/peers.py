"""Peers run as programs in their own environment, ``.peers``, made by ``make bench``.

``PAIRWEAVE_PEERS`` names another place of it.
"""

import os
import resource
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = Path(os.environ.get("PAIRWEAVE_PEERS", ROOT / ".peers")) / "bin" / "python"


def run_peer(name, script, *arguments):
    """Run a Python script on one core beside the peers.

    Args:
        name: What is run, for a message where it cannot be.
        script: The script's text.
        arguments: What it finds in ``sys.argv[1:]``.

    Returns:
        What it printed, and its CPU seconds; None where the peers are not installed or it fails.
    """
    if not PYTHON.exists():
        print(f"{name}: left out, no {PYTHON}; `make bench` installs the peers")
        return None
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [PYTHON, "-c", script, *map(str, arguments)],
        env={"OMP_NUM_THREADS": "1", "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        print(f"{name}: could not run: {done.stderr[-400:]}")
        return None
    return done.stdout, after.ru_utime - before.ru_utime
