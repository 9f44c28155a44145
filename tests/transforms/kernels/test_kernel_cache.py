"""Undocumented behaviour of Numba: an upgrade of Numba that changes it fails here."""

import importlib
import os
import sys

import pytest
from numba.core import caching

from pairweave.transforms.kernels import kernel_cache
from pairweave.transforms.kernels.kernel_cache import outlive_upgrades

SOURCE = """
from typing import NamedTuple
import numba

class {name}(NamedTuple):
    first: float
    second: float

@numba.njit(cache=True)
def total(numbers):
    return numbers.first + numbers.second

def run():
    return total({name}(1.0, 2.0)), sum(total.stats.cache_hits.values())
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Return a function that installs a kernel in place, with a type of a given name, and runs it.

    It returns the kernel's result and how often the result of compiling came from a file.
    """
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "upgraded_kernel.py"

    def run(name, time):
        path.write_text(SOURCE.format(name=name))
        os.utime(path, (time, time))
        importlib.invalidate_caches()
        sys.modules.pop("upgraded_kernel", None)
        return importlib.import_module("upgraded_kernel").run()

    yield run
    sys.modules.pop("upgraded_kernel", None)


def test_a_kernel_outlives_an_upgrade_that_renames_a_type(installed):
    assert installed("Old", 1_000) == (3.0, 0)
    assert installed("Old", 1_000) == (3.0, 1)
    assert installed("New", 2_000) == (3.0, 0)
    assert installed("New", 2_000) == (3.0, 1)


def test_numba_itself_fails(installed, monkeypatch):
    """Once it no longer does, `kernel_cache` may go."""
    load = caching.IndexDataCacheFile._load_index
    monkeypatch.setattr(caching.IndexDataCacheFile, "_load_index", load.__wrapped__)
    installed("Old", 1_000)
    with pytest.raises(AttributeError, match="Can't get attribute 'Old'"):
        installed("New", 2_000)


def test_it_is_set_once():
    load = caching.IndexDataCacheFile._load_index
    outlive_upgrades()
    assert caching.IndexDataCacheFile._load_index is load
    assert not hasattr(load.__wrapped__, "__wrapped__")


def test_compilation_is_announced_once_in_a_run_and_only_if_it_takes_time(
    tmp_path, monkeypatch, caplog
):
    run = tmp_path / "pairweave-run-x"
    run.mkdir()
    monkeypatch.setenv("TMPDIR", str(run))
    caplog.set_level("INFO", "pairweave")
    for _ in range(2):
        announcer = kernel_cache.Announcer()
        announcer.on_start(None)
        announcer.on_end(None)
        assert "compiling" not in "".join(caplog.messages[1:])
        announcer._since -= announcer.SECONDS
        announcer.on_end(None)
        announcer.on_end(None)
    assert len(caplog.messages) == 1
    assert "compiling kernels, once" in caplog.messages[0]
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    announcer = kernel_cache.Announcer()
    announcer.on_start(None)
    announcer._since -= announcer.SECONDS
    announcer.on_end(None)
    assert len(caplog.messages) == 2
