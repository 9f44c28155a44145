"""The cells of the matrix of faults: what is done to a run, where, and how it must end.

A cell runs a real job (`JOB`) with its faults, and then, if that did not commit, the same command
without them. `examine` does so and checks, after each run: the exit status, that the manifest is
absent or complete, that every visible file is whole, and that no process and no temporary file is
left; at the end, the golden digest. `reliability.py` makes the table of what was found.
"""

import dataclasses
import json
import os
import time
import uuid
from pathlib import Path

from tests.makers import forked_commands, runs

AT_IMPORT = runs.ROOT / "tests" / "makers" / "faults_at_import"
STEPS = "pairweave.pipelines.steps.steps"
JOB = (
    *("augment", "--source_lang", "en", "--target_lang", "de"),
    *("--unit_rows", "20", "--shard_pairs", "12"),
)
"""Four units and six shards of `PAIRS` pairs and some troubles."""

PAIRS = 60
SECONDS = 300
"""Time after which a run hangs; the longest needs about 60 s on a busy machine."""

KILLED = 137


@dataclasses.dataclass(frozen=True)
class Fault:
    """A fault in a process of a run; see ``faults_at_import/sitecustomize.py``."""

    at: str
    of: str = ""
    do: str = "kill"
    once: bool = True

    def described(self, mark):
        """Return it as the processes read it."""
        once = str(mark) if self.once else ""
        return {"at": self.at, "of": self.of, "do": self.do, "after": False, "once": once}


@dataclasses.dataclass(frozen=True)
class Cell:
    """A fault on an engine, and how the run must end.

    Attributes:
        fault: What happens, in words.
        engine: Where, in words.
        flags: Flags of the engine.
        faults: How it happens, if processes do it themselves.
        statuses: Exit statuses of the command, and of the same command without the faults if the
            first did not commit.
        says: What the first run's message contains.
        attempts: The number of graphs that the first run notes, if it commits; None for any.
        together: Whether the statuses are of two commands that run at once.
    """

    fault: str
    engine: str
    flags: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    statuses: tuple[int, ...] = (0,)
    says: str = ""
    attempts: int | None = None
    together: bool = False

    @property
    def id(self):
        """Return its name in a test."""
        return f"{self.engine}-{self.fault}".replace(" ", "_").replace(",", "")


SHARD = "shard 2$"
START = Fault(f"{STEPS}:read_unit", "unit 1$")
MIDDLE = Fault(f"{STEPS}:write_shard", SHARD)
WRITING = Fault("pathlib:Path.replace", r"data/part-00002-of-\d+\.parquet$")
COMMIT = Fault(f"{STEPS}:commit_run")
HELD = dataclasses.replace(MIDDLE, do="hold")
RAISES = dataclasses.replace(MIDDLE, do="raise")
ALWAYS = dataclasses.replace(RAISES, once=False)
POISON = dataclasses.replace(MIDDLE, once=False)
EVERYWHERE = Fault(f"{STEPS}:write_shard", do="raise", once=False)
TEMPORARY = "pairweave.transforms.storage.disk_files:write_temporary"
WRITE_ERROR = Fault(TEMPORARY, r"data/part-00002", "EIO")
FULL = Fault(TEMPORARY, r"data/part-00002", "ENOSPC", once=False)
RENAME = dataclasses.replace(WRITING, do="EACCES", once=False)
GONE = Fault(f"{STEPS}:read_unit", "unit 1$", "ENOENT", once=False)
CLOCK = Fault("time:time", do="jump", once=False)

DIED = "attempt 1 failed"
RAISED = "InjectedError: at shard 2"
ASIDE = "1 of 6 shards failed on every attempt and were set aside"
MOMENTS = {
    "worker killed as it reads": START,
    "worker killed as it makes a shard": MIDDLE,
    "worker killed as it writes": WRITING,
    "worker killed before the commit": COMMIT,
}
ONE, TWO, PRISM = "local, 1 process", "local, 2 processes", "prism"
FLAGS = {
    ONE: ("--workers", "1"),
    TWO: ("--workers", "2"),
    PRISM: ("--engine", "prism", "--workers", "2"),
}


ONCE = ("--attempts", "1")
"""For a shard that always fails: each further attempt costs the same time again."""

STILL = ("--standstill_minutes", "0.4")
"""For a worker that waits: long enough for a busy machine to start everything."""


def cell(fault, engine, faults, statuses=(0,), says="", attempts=None, more=()):
    """Return a cell of an engine that is named here, with more flags."""
    faults = faults if isinstance(faults, tuple) else (faults,)
    return Cell(fault, engine, (*FLAGS[engine], *more), faults, statuses, says, attempts)


QUICK = [
    cell("none", ONE, (), attempts=1),
    cell("function raises once", ONE, RAISES, says=RAISED, attempts=2),
    cell("function raises for one shard", ONE, ALWAYS, (3, 0), f"{ASIDE}; the others"),
    cell("function raises for every shard", ONE, EVERYWHERE, (1, 0), "4 of 6 shards fail alone"),
    cell("write error, once", ONE, WRITE_ERROR, says="[Errno 5]", attempts=2),
    cell("write error, disk full", ONE, FULL, (2, 0), "No space left on device"),
    cell("rename refused", ONE, RENAME, (1, 0), "Permission denied"),
    cell("input gone when it is read", ONE, GONE, (1, 0), "No such file or directory"),
]
"""Cells that run in the test's own process."""

SLOW = [
    *(cell(fault, ONE, kill, says=DIED) for fault, kill in MOMENTS.items()),
    *(cell(fault, TWO, kill, says=DIED) for fault, kill in MOMENTS.items()),
    cell("function raises once", TWO, RAISES, says=RAISED, attempts=2),
    cell("function raises for one shard", TWO, ALWAYS, (3, 0), ASIDE),
    cell("shard kills its worker always", ONE, POISON, (3, 0), ASIDE),
    cell("shard kills its worker always", TWO, POISON, (3, 0), ASIDE),
    cell("write error, disk full", TWO, FULL, (2, 0), "No space left on device"),
    cell("clock jumps by ten years", TWO, CLOCK, attempts=1),
    cell("worker stands still", TWO, HELD, says="no shard was written", attempts=2, more=STILL),
]


ON_PRISM = [
    cell("none", PRISM, (), attempts=1),
    cell("worker killed as it makes a shard", PRISM, MIDDLE, says=DIED, attempts=2),
    cell("function raises once", PRISM, RAISES, says=RAISED, attempts=2),
    cell("function raises for one shard", PRISM, ALWAYS, (3, 0), ASIDE, more=ONCE),
    cell("shard kills its worker always", PRISM, POISON, (3, 0), ASIDE, more=ONCE),
    cell("write error, disk full", PRISM, FULL, (2, 0), "No space left on device", more=ONCE),
    cell("write error, once", PRISM, WRITE_ERROR, says="[Errno 5]", attempts=2),
    cell("rename refused", PRISM, RENAME, (1, 0), "Permission denied", more=ONCE),
    cell("clock jumps by ten years", PRISM, CLOCK, attempts=1),
]


@dataclasses.dataclass
class Golden:
    """An undisturbed run on one process.

    Attributes:
        arguments: The command's arguments but output and engine.
        digests: The SHA-256 of each of its files but ``_run.json``.
    """

    arguments: tuple[str, ...]
    digests: dict[str, str]


def end(cell_, words, directory, number=0, during=None):
    """Run the command with a cell's faults and check what is left; return status and errors.

    Args:
        cell_: The cell.
        words: The command's arguments.
        directory: Where the command runs.
        number: 0 for the run with the faults.
        during: Called with the command's process while that runs, in the run with the faults.
    """
    temporary, mark = directory / "tmp", uuid.uuid4().hex
    temporary.mkdir(exist_ok=True)
    faults = [each.described(directory / f"met{place}") for place, each in enumerate(cell_.faults)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(AT_IMPORT), str(runs.ROOT)]),
        "PAIRWEAVE_FAULTS": json.dumps([] if number else faults),
        "PAIRWEAVE_CELL": mark,
        "TMPDIR": str(temporary),
    }
    server = forked_commands.server()
    with server.start(map(str, words), environment, directory, read_output=False) as process:
        try:
            if during is not None and not number:
                during(process)
            errors = process.communicate(timeout=SECONDS)[1]
        finally:
            process.kill()
    await_no_process(lambda: left(mark, directory))
    assert list(temporary.iterdir()) == []
    status = 128 - process.returncode if process.returncode < 0 else process.returncode
    return status, errors


def await_no_process(find, seconds=60.0):
    """Wait until a function finds no process; the last ones may still be ending."""
    deadline = time.monotonic() + seconds
    while left := find():
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def left(mark, directory):
    """Return the processes with a mark in their environment, or that work in a directory."""
    processes = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                # A forked process shows the environment of the one that it was forked from.
                marked = mark.encode() in (entry / "environ").read_bytes()
                if marked or (entry / "cwd").samefile(directory):
                    processes.append(int(entry.name))
            except OSError:
                continue
    return processes


def check_files(output, golden, *, committed):
    """Check that each visible file is whole, and that all are there if the run is committed."""
    digests = runs.tree_digests(output)
    for name, digest in digests.items():
        hidden = Path(name).name.startswith((".tmp-", "begun-"))
        assert hidden or digest == golden.digests[name], name
    if committed:
        assert digests == golden.digests
        manifest = json.loads((output / "_manifest.json").read_text())
        rows = manifest["rows"]
        assert rows["read"] == rows["kept"] + rows["rejected"] == PAIRS + 8
    else:
        assert "_manifest.json" not in digests


def check_first(cell_, status, errors, output):
    """Check how the run with the faults ended."""
    assert status == cell_.statuses[0], errors[-3000:]
    assert cell_.says in errors, errors[-3000:]
    assert "Traceback" not in errors, errors[-3000:]
    if status == 0 and cell_.attempts is not None:
        assert json.loads((output / "_run.json").read_text())["attempts"] == cell_.attempts


def examine(cell_, golden, directory, run=end):
    """Run a cell; return the row of the table that it gives."""
    output = directory / "out"
    words = (*golden.arguments, "--output", output, *cell_.flags)
    status, errors = run(cell_, words, directory)
    check_first(cell_, status, errors, output)
    check_files(output, golden, committed=status == 0)
    statuses = [status]
    if status:
        status, errors = run(cell_, words, directory, 1)
        assert status == 0, errors[-3000:]
        check_files(output, golden, committed=True)
        statuses.append(status)
    assert tuple(statuses) == cell_.statuses
    return statuses
