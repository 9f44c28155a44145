"""Show the first 60 seconds of a new worker process, with and without the kernels of the image.

`python deploy/dataflow/first_seconds.py WHEEL` takes a wheel with compiled kernels, as the image's
build makes it (`make wheels`), and runs one `augment` in each of two new processes: one with the
package as it is here, without kernels, and one with that of the wheel. It prints what each did in
each second of its CPU time, which other programs on the machine change little; a worker process
computes on one core.
"""

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ENGLISH = "the a small red old house dog tree river road sees likes takes finds has today here now"
GERMAN = "das ein klein rot alt haus hund baum fluss weg sieht mag nimmt findet hat heute hier nun"

SECONDS = 60
SHARD_PAIRS = 1000
SHARDS = 64
MARK = "first_seconds: "


@dataclasses.dataclass
class Seen:
    """When a process did what, in seconds of CPU since its start.

    Attributes:
        imported: The job was imported.
        kernels: A kernel was ready, and whether it had to be compiled.
        shards: A shard was written.
    """

    imported: float = 0.0
    kernels: list[tuple[float, bool]] = dataclasses.field(default_factory=list)
    shards: list[float] = dataclasses.field(default_factory=list)


def main(wheel: Path) -> None:
    """Measure both processes and print the table."""
    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        write_corpus(directory, SHARDS * SHARD_PAIRS)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(directory / "site")
        fit = ["fit", *job(directory), "--workers", "1", "--output", str(directory / "model")]
        run(directory / "site", "-m", "pairweave.pipelines.cli", *fit, "--fit_pairs", "5000")
        processes = []
        for package in (ROOT, directory / "site"):
            out = run(package, __file__, "worker", str(directory), package.name)
            line = next(line for line in out.splitlines() if line.startswith(MARK))
            processes.append(Seen(**json.loads(line.removeprefix(MARK))))
    print(table(*processes))  # noqa: T201 - what was asked for


def run(package: Path, *words: str) -> str:
    """Run a program in a new process with a package and no compiled kernels but its own.

    Returns:
        What it prints.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    with tempfile.TemporaryDirectory() as empty:
        environment = {**kept, "NUMBA_CACHE_DIR": empty, "PYTHONPATH": str(package)}
        done = subprocess.run(
            [sys.executable, *words],
            env=environment,
            cwd=package,  # `-m` looks there first
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
    return done.stdout


def write_corpus(directory: Path, pairs: int) -> None:
    """Write pairs of made-up sentences, of ten words each."""
    for name, text in (("en", ENGLISH), ("de", GERMAN)):
        words = text.split()
        with (directory / f"corpus.{name}").open("w", encoding="utf-8") as file:
            for row in range(pairs):
                picked = (
                    words[(row * 7 + place * (row % 3 + 1)) % len(words)] for place in range(9)
                )
                file.write(f"{' '.join(picked)} {row}.\n")


def job(directory: Path) -> list[str]:
    """Return the options that both jobs share."""
    return [
        *("--source_input", str(directory / "corpus.en"), "--source_lang", "en"),
        *("--target_input", str(directory / "corpus.de"), "--target_lang", "de"),
    ]


def worker(directory: Path, name: str) -> None:
    """Run `augment` in this process, and print what it did when."""
    from numba.core import dispatcher

    from pairweave.pipelines.cli import main as pairweave
    from pairweave.pipelines.jobs import augment as augment
    from pairweave.pipelines.steps import steps

    seen = Seen(time.process_time())

    def counts(self: Any) -> tuple[int, int]:  # noqa: ANN401 - Numba's
        return sum(self._cache_misses.values()), sum(self._cache_hits.values())

    def compile_or_load(self: Any, signature: Any) -> Any:  # noqa: ANN401 - Numba's
        compiled, loaded = counts(self)
        made = dispatched(self, signature)
        if counts(self) != (compiled, loaded):
            seen.kernels.append((time.process_time(), counts(self)[0] > compiled))
        return made

    dispatched = dispatcher.Dispatcher.compile
    dispatcher.Dispatcher.compile = compile_or_load
    steps.write_shard = noting(steps.write_shard, seen.shards.append)
    words = ["augment", *job(directory), "--workers", "1", "--model", str(directory / "model")]
    words += ["--shard_pairs", str(SHARD_PAIRS), "--output", str(directory / f"out-{name}")]
    if pairweave(words):
        sys.exit("augment failed")
    print(MARK + json.dumps(dataclasses.asdict(seen)))  # noqa: T201 - read by the other process


def noting(function: Callable[..., Any], note: Callable[[float], None]) -> Callable[..., Any]:
    """Return a function that notes the time after each call."""

    def called(*arguments: Any, **settings: Any) -> Any:  # noqa: ANN401 - those of any function
        result = function(*arguments, **settings)
        note(time.process_time())
        return result

    return called


def table(cold: Seen, warm: Seen) -> str:
    """Return the table of both processes; seconds in which neither changes share a line."""
    rows: list[tuple[int, int, str, str]] = []
    for second in range(1, SECONDS + 1):
        done = does(cold, second), does(warm, second)
        if rows and rows[-1][2:] == done:
            rows[-1] = (rows[-1][0], second, *done)
        else:
            rows.append((second, second, *done))
    lines = ["| second | no kernels | kernels of the image |", "| --- | --- | --- |"]
    for first, last, *both in rows:
        span = str(first) if first == last else f"{first} to {last}"
        lines.append(f"| {span} | {' | '.join(both)} |")
    firsts = (f"{one.shards[0]:.1f} s" for one in (cold, warm))
    return "\n".join([*lines, f"| first shard after | {' | '.join(firsts)} |"])


def does(one: Seen, second: int) -> str:
    """Say what a process did in a second of its CPU time, from 1 on."""
    shards = sum(end <= second for end in one.shards)
    if shards:
        return f"{shards} shards written"
    if one.imported > second - 1:
        return "Python starts, imports"
    made = [end for end, new in one.kernels if new and end > second - 1]
    return f"compiles {sum(new for _, new in one.kernels)} kernels" if made else "reads"


if __name__ == "__main__":
    if sys.argv[1:2] == ["worker"]:
        worker(Path(sys.argv[2]), sys.argv[3])
    elif len(sys.argv) == 2:
        main(Path(sys.argv[1]).resolve())
    else:
        sys.exit(__doc__)
