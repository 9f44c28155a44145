"""Watches the workers of Prism, and ends Prism when it waits for a worker that has died.

Prism fails a job when the connection to a worker breaks, but not always: after a worker that dies
between two messages of a bundle, it can wait forever.
"""

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from pairweave.pipelines.engines import engine_scripts
from pairweave.transforms import process_stat

GRACE_SECONDS = 20.0
"""Time that Prism is given to notice that a worker has ended, or to end after ending one."""

WATCH_SECONDS = 1.0


@contextlib.contextmanager
def watched(worker: Path, server: Path, grace: float = GRACE_SECONDS) -> Iterator[None]:
    """Watch the workers of a server while this block lasts.

    If a worker has ended and the block is still running after the time of grace, the server is
    asked to end, and `were_lost` returns True from then on.

    Args:
        worker: The script that starts the workers (`engine_scripts.worker_processes`).
        server: The script that started the server (`engine_scripts.write_launcher`).
        grace: Seconds that the server has to notice that a worker has ended.
    """
    left = threading.Event()

    def watch() -> None:
        noticed = None
        while not left.wait(min(WATCH_SECONDS, grace)):
            now = time.monotonic()
            workers = engine_scripts.started_workers(worker)
            if noticed is None and None in map(process_stat.started, workers):
                noticed = now
            if noticed is not None and now - noticed >= grace:
                _mark(worker).touch()
                engine_scripts.end(server)
                return

    thread = threading.Thread(target=watch, name="lost workers", daemon=True)
    thread.start()
    try:
        yield
    finally:
        left.set()
        thread.join()


def were_lost(worker: Path) -> bool:
    """Tell whether the server was ended because it waited for a worker that has died."""
    return _mark(worker).is_file()


def _mark(worker: Path) -> Path:
    return worker.with_name(f"{worker.name}.lost")
