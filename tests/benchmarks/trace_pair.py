"""The way of one pair through ``augment``: which files of the project it enters, and how often.

Fit an aligner, run the job on one pair with kernels as plain Python, and record every call of a
function of the project from reading to the written shard. A change of file is two consecutive calls
in different files. Engines, options and the commit are left out, because the number of their calls
does not depend on the pairs. Vectors of kernels exist in compiled code alone; functions of this
file stand for theirs, which are no calls either once they are compiled.

    .venv/bin/python tests/benchmarks/trace_pair.py
    .venv/bin/python tests/benchmarks/trace_pair.py --root ../other-checkout
"""

import argparse
import collections
import itertools
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np

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


def use_plain_vectors():
    """Replace the generated functions of kernels by plain ones, before others import them."""
    from pairweave.transforms.kernels import vectors

    def store(array, at, vector):
        array.reshape(-1)[at : at + len(vector)] = vector

    vectors.load = lambda array, at: array.reshape(-1)[at : at + 8].copy()
    vectors.load_half = lambda array, at: array.reshape(-1)[at : at + 4].copy()
    vectors.store = store
    vectors.spread = lambda value: np.full(8, value, np.float32)
    vectors.sum_lanes = lambda vector: (vector[0] + vector[1]) + (vector[2] + vector[3])
    vectors.least, vectors.greatest = np.minimum, np.maximum
    vectors.choose_below = lambda places, limit, one, other: np.where(places < limit, one, other)
    vectors.any_reaches = lambda vector, limits: bool((vector >= limits).any())
    vectors.count_bits = lambda value: int(value).bit_count()
    vectors.prefetch = lambda _array, _at: None
    from pairweave.transforms.kernels import matrices

    def add_rows(matrix, rows, weights, sums):
        sums[:] = weights[:rows] @ matrix[:rows]

    def transpose_block(matrix, at, made, to):
        rows, columns = divmod(at, matrix.shape[1]), divmod(to, made.shape[1])
        block = matrix[rows[0] : rows[0] + 8, rows[1] : rows[1] + 8]
        made[columns[0] : columns[0] + 8, columns[1] : columns[1] + 8] = block.T

    matrices.add_rows, matrices._transpose_block = add_rows, transpose_block
    from pairweave.transforms.kernels import scratch

    scratch.lent = lambda value: value
    scratch.take = scratch.take_zeros = lambda _, kind, length: np.zeros(length, kind)
    scratch.take_rows = scratch.take_zero_rows = lambda _, kind, *shape: np.zeros(shape, kind)


def main():
    """Print the number of files and of changes, and where most of them are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--top", type=int, default=20, help="how many pairs of files are listed")
    parser.add_argument("--leave_out", nargs="*", default=[], help="files that are not recorded")
    known = parser.parse_args()
    root, left_out = known.root.resolve(), (*LEFT_OUT, *known.leave_out)
    sys.path.insert(0, str(root))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "pairs.tsv")
        path.write_text(f"{SOURCE}\t{TARGET}\n", encoding="utf-8")
        shared = ["--input", str(path), "--format", "tsv", "--workers", "1"]
        model, output = str(Path(directory, "model")), str(Path(directory, "output"))
        fit = [sys.executable, "-m", "pairweave.pipelines.cli", "fit", *shared, "--output", model]
        subprocess.run(fit, check=True, cwd=root)
        os.environ["NUMBA_DISABLE_JIT"] = "1"
        use_plain_vectors()
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
