"""Processes that need the same function: one compiles it, the others load the result."""

import importlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

from pairweave.transforms.kernels import compilation_lock
from pairweave.transforms.kernels.compilation_lock import compile_once, locked

ROOT = Path(__file__).resolve().parents[3]

SOURCE = """
import numba
import pairweave.transforms.kernels

@numba.njit(cache=True)
def doubled(number):
    return 2 * number

def counts():
    return [sum(counter.values()) for counter in doubled.stats[1:]]
"""
OTHER = """
import shared_kernel
print("ready", flush=True)
print(shared_kernel.doubled(4), *shared_kernel.counts(), flush=True)
"""


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    (tmp_path / "shared_kernel.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("shared_kernel")
    sys.modules.pop("shared_kernel")


@pytest.fixture
def other(tmp_path):
    """Return a function that starts another process, which is about to call the kernel."""

    def start():
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{tmp_path}"}
        words = [sys.executable, "-c", OTHER]
        process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        return process

    return start


def test_a_process_waits_for_the_one_that_compiles(kernel, other):
    name = f"{kernel.__name__}.doubled"
    with locked(kernel.doubled.stats.cache_path, name):
        process = other()
        time.sleep(1.5)  # it would have compiled it by now
        assert process.poll() is None
        assert kernel.doubled(4) == 8  # under the same lock
        assert kernel.counts() == [0, 1]
    assert process.communicate(timeout=60)[0] == "8 1 0\n"


def test_without_patience_or_a_directory_it_compiles_all_the_same(kernel, monkeypatch, tmp_path):
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from pairweave.transforms.kernels.compilation_lock import locked\n"
            "with locked(*sys.argv[1:]): print('ready', flush=True); sys.stdin.read()",
            kernel.doubled.stats.cache_path,
            "shared_kernel.doubled",
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout.readline() == "ready\n"
    monkeypatch.setattr(compilation_lock, "PATIENCE_SECONDS", 0.1)
    began = time.monotonic()
    assert kernel.doubled(4) == 8
    assert time.monotonic() - began > 0.1
    assert kernel.counts() == [0, 1]
    holder.communicate()
    with locked(str(tmp_path / "missing"), "any"):
        pass


def test_it_is_set_once():
    compile_function = Dispatcher.compile
    compile_once()
    assert Dispatcher.compile is compile_function
    assert not hasattr(compile_function.__wrapped__, "__wrapped__")
