"""The way of one pair through ``augment``: which files of the project it enters, and how often.

Run the job on one pair, with a fitted aligner and with kernels as plain Python, and record every
call of a function of the project from reading to the written shard. A change of file is two
consecutive calls in different files. Engines, options and the commit are left out, because the
number of their calls does not depend on the pairs.

    .venv/bin/python tests/benchmarks/trace_pair.py
    .venv/bin/python tests/benchmarks/trace_pair.py --root ../other-checkout
"""

import argparse
import collections
import itertools
import os
import sys
import tempfile
import threading
from pathlib import Path

FOLDERS = ("transforms", "models", "pipelines")
LEFT_OUT = (
    *("pipelines/engines", "pipelines/run", "pipelines/options", "pipelines/job_options"),
    "transforms/report",
)
SOURCE = (
    "The committee approved the new budget, and the minister thanked all of its members warmly."
)
TARGET = (
    "Der Ausschuss billigte den neuen Haushalt, und der Minister dankte all seinen Mitgliedern."
)


def record(root, left_out, arguments):
    """Run a job and return the file of each call, in order."""
    import apache_beam as beam

    from pairweave.pipelines import cli

    files, calls = {}, []
    committing = threading.Event()

    def enter(frame, event, _):
        if event != "call" or frame.f_code.co_name == "<module>":
            return
        name = frame.f_code.co_filename
        if name not in files:
            files[name] = part_of(root, left_out, name)
        if name.endswith("/commit.py"):
            committing.set()
        if files[name] is not None and not committing.is_set():
            calls.append((files[name], frame.f_code.co_name))

    def traced_run(self, *args, **kwargs):
        threading.setprofile(enter)
        sys.setprofile(enter)
        try:
            return run(self, *args, **kwargs)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    run, beam.Pipeline.run = beam.Pipeline.run, traced_run
    try:
        status = cli.main(arguments)
    finally:
        beam.Pipeline.run = run
    if status != 0 or not calls:
        raise SystemExit(f"{arguments[0]} ended with {status} and {len(calls)} calls")
    return calls


def part_of(root, left_out, name):
    """Return a file's path below the root if calls of it are recorded."""
    path = Path(name).resolve()
    if not path.is_relative_to(root):
        return None
    part = path.relative_to(root).as_posix()
    if part.startswith(left_out) or not part.startswith(FOLDERS):
        return None
    return part


def main():
    """Print the number of files and of changes, and where most of them are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--top", type=int, default=20, help="how many pairs of files are listed")
    parser.add_argument("--leave_out", nargs="*", default=[], help="files that are not recorded")
    known = parser.parse_args()
    root, left_out = known.root.resolve(), (*LEFT_OUT, *known.leave_out)
    sys.path.insert(0, str(root))
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "pairs.tsv")
        path.write_text(f"{SOURCE}\t{TARGET}\n", encoding="utf-8")
        shared = ["--input", str(path), "--format", "tsv", "--workers", "1"]
        model, output = str(Path(directory, "model")), str(Path(directory, "output"))
        record(root, left_out, ["fit", *shared, "--output", model])
        calls = record(root, left_out, ["augment", *shared, "--model", model, "--output", output])
    names = [file for file, _ in calls]
    changes = [pair for pair in itertools.pairwise(names) if pair[0] != pair[1]]
    print(f"files {len(set(names))}, changes of file {len(changes)}")
    for (one, other), count in collections.Counter(changes).most_common(known.top):
        print(f"{count:5} {one} -> {other}")
    for name in sorted(set(names)):
        print(f"{names.count(name):5} calls in {name}")
    for name, count in collections.Counter(calls).most_common(known.top):
        print(f"{count:5} calls {name[0]} {name[1]}")


if __name__ == "__main__":
    main()
