"""Undocumented behaviour of Numba: an upgrade of Numba that changes it fails here."""

import importlib
import json
import os
import shutil
import subprocess
import sys

import llvmlite.binding
import pytest
from numba.core import caching, config
from numba.core.dispatcher import Dispatcher

from pairweave.transforms.kernels import kernel_cache, kernel_sources
from pairweave.transforms.kernels.hmm import hmm
from pairweave.transforms.kernels.kernel_cache import KernelCache, cache_kernels
from tests.makers import runs

KERNEL = """
from pathlib import Path
from typing import NamedTuple

import numba

from pairweave.transforms.kernels.kernel_cache import KernelCache
from toy.added import added

class {name}(NamedTuple):
    first: float
    second: float

@numba.njit(cache=not {ours})
def total(numbers):
    return added(numbers.first, numbers.second)

if {ours}:
    total._cache = KernelCache(total.py_func, Path(__file__).parent)

def run():
    return total({name}(1.0, 2.0)), sum(total.stats.cache_hits.values())
"""
ADDED = """
import numba

@numba.njit
def added(first, second):
    return first + second{more}
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that writes a package with a kernel, of a given version."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    folder = tmp_path / "toy"
    folder.mkdir()

    def write(name="Old", more="", ours=True):
        (folder / "__init__.py").touch()
        (folder / "kernel.py").write_text(KERNEL.format(name=name, ours=ours))
        (folder / "added.py").write_text(ADDED.format(more=more))
        return folder

    return write


@pytest.fixture
def installed(package):
    """Return a function that installs a version in place and runs its kernel, as `fresh_run`."""

    def run(*version, **more):
        package(*version, **more)
        return fresh_run()

    return run


def fresh_run():
    """Import the package anew and run its kernel.

    Returns:
        The kernel's result, and how often the result of compiling came from a file.
    """
    importlib.invalidate_caches()
    for cached in (kernel_sources.digest, kernel_sources._read, kernel_sources._exists):
        cached.cache_clear()
    try:
        return importlib.import_module("toy.kernel").run()
    finally:
        for name in ("toy", "toy.kernel", "toy.added"):
            sys.modules.pop(name, None)


def test_a_kernel_outlives_an_upgrade_that_renames_a_type(installed):
    assert installed("Old") == (3.0, 0)
    assert installed("Old") == (3.0, 1)
    assert installed("New") == (3.0, 0)
    assert installed("New") == (3.0, 1)


def test_a_kernel_is_compiled_again_if_one_in_another_file_has_changed(installed):
    assert installed(more="") == (3.0, 0)
    assert installed(more=" + 1") == (4.0, 0)
    assert installed(more=" + 1") == (4.0, 1)


def test_numba_itself_cannot_load_a_renamed_type(installed):
    """Once it can, `KernelFiles` may go."""
    installed("Old", ours=False)
    with pytest.raises(AttributeError, match="Can't get attribute 'Old'"):
        installed("New", ours=False)


def test_numba_itself_does_not_see_another_file(installed):
    """Once it does, `kernel_sources` may go."""
    assert installed(more="", ours=False) == (3.0, 0)
    assert installed(more=" + 1", ours=False) == (3.0, 1)


def run_elsewhere(folder, cache, **variables):
    """Run the kernel in a new process; return its result and the number of functions loaded."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    path = os.pathsep.join((str(folder.parent), str(runs.ROOT)))
    code = "import json, toy.kernel; print(json.dumps(toy.kernel.run()))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, **variables, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": path},
        check=True,
        stdout=subprocess.PIPE,
    )
    return json.loads(done.stdout)


@pytest.fixture
def ship(package, tmp_path):
    """Return a function that makes a package with kernels for a CPU, moved once compiled."""

    def ship(cpu):
        folder = package()
        chosen = {"NUMBA_CPU_NAME": cpu, "NUMBA_CPU_FEATURES": ""}
        assert run_elsewhere(folder, tmp_path / "build", **chosen) == [3.0, 0]
        (folder / kernel_cache.SHIPPED).mkdir()
        for file in (tmp_path / "build").rglob("*.nb[ci]"):
            shutil.copy(file, folder / kernel_cache.SHIPPED)
        return shutil.move(folder, tmp_path / "elsewhere" / "toy")

    return ship


@pytest.fixture
def shipped(ship):
    """Return a package with kernels for any CPU."""
    return ship(kernel_cache.ANY_CPU)


def test_shipped_kernels_are_found_by_any_cpu_until_a_source_changes(shipped, tmp_path):
    assert run_elsewhere(shipped, tmp_path / "cache") == [3.0, 1]
    assert not list((tmp_path / "cache").rglob("*.nb[ci]"))
    (shipped / "added.py").write_text(ADDED.format(more=" + 1"))
    assert run_elsewhere(shipped, tmp_path / "cache") == [4.0, 0]


@pytest.mark.skipif(len(kernel_cache.usable_cpus()) < 2, reason="needs a CPU with AVX2")
@pytest.mark.slow
def test_kernels_for_most_cpus_are_loaded_where_they_run_unless_numba_is_told_otherwise(
    ship, tmp_path
):
    modern = ship(kernel_cache.MODERN_CPU)
    assert run_elsewhere(modern, tmp_path / "cache") == [3.0, 1]
    anyone = {"NUMBA_CPU_NAME": kernel_cache.ANY_CPU, "NUMBA_CPU_FEATURES": ""}
    assert run_elsewhere(modern, tmp_path / "cache", **anyone) == [3.0, 0]


@pytest.mark.parametrize("missing", sorted(kernel_cache.MODERN_FEATURES))
def test_a_cpu_that_lacks_one_feature_gets_kernels_for_any(missing, monkeypatch):
    features = dict.fromkeys(kernel_cache.MODERN_FEATURES, True)
    monkeypatch.setattr(llvmlite.binding, "get_process_triple", lambda: "x86_64-unknown-linux-gnu")
    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", lambda: features)
    find = kernel_cache.usable_cpus.__wrapped__
    for variable in ("CPU_NAME", "CPU_FEATURES"):
        monkeypatch.setattr(config, variable, None, raising=False)
    monkeypatch.setattr(config, "ENABLE_AVX", 1)
    assert find() == (kernel_cache.MODERN_CPU, kernel_cache.ANY_CPU)
    features[missing] = False
    assert find() == (kernel_cache.ANY_CPU,)


@pytest.mark.parametrize(
    ("variable", "value", "modern"),
    [
        ("CPU_NAME", "x86-64-v3", True),
        ("CPU_NAME", "x86-64-v2", False),
        ("CPU_NAME", "generic", False),
        ("CPU_FEATURES", "-avx2", False),
        ("ENABLE_AVX", 0, False),
    ],
)
def test_numba_is_not_given_code_that_it_is_told_not_to_make(monkeypatch, variable, value, modern):
    features = dict.fromkeys(kernel_cache.MODERN_FEATURES, True)
    monkeypatch.setattr(llvmlite.binding, "get_process_triple", lambda: "x86_64-unknown-linux-gnu")
    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", lambda: features)
    for name, usual in (("CPU_NAME", None), ("CPU_FEATURES", None), ("ENABLE_AVX", 1)):
        chosen = value if name == variable else usual
        monkeypatch.setattr(config, name, chosen, raising=False)
    assert (kernel_cache.MODERN_CPU in kernel_cache.usable_cpus.__wrapped__()) == modern


def test_an_unknown_processor_gets_kernels_for_any(monkeypatch):
    def unknown():
        raise RuntimeError("unknown")

    monkeypatch.setattr(llvmlite.binding, "get_process_triple", lambda: "x86_64-unknown-linux-gnu")
    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", unknown)
    assert kernel_cache.usable_cpus.__wrapped__() == (kernel_cache.ANY_CPU,)


@pytest.mark.parametrize(
    ("cpus", "usable"), [("other", False), (f"other {kernel_cache.ANY_CPU}", True)]
)
def test_kernels_for_other_cpus_are_of_no_use(tmp_path, cpus, usable):
    (tmp_path / kernel_cache.SHIPPED).mkdir()
    (tmp_path / kernel_cache.SHIPPED / kernel_cache.CPUS).write_text(f"{cpus}\n")
    assert kernel_cache.are_usable(tmp_path) == usable


def test_another_platform_has_one_kind_of_kernels(monkeypatch):
    features = dict.fromkeys(kernel_cache.MODERN_FEATURES, True)
    monkeypatch.setattr(llvmlite.binding, "get_host_cpu_features", lambda: features)
    monkeypatch.setattr(llvmlite.binding, "get_process_triple", lambda: "aarch64-unknown-linux-gnu")
    assert kernel_cache.platform_cpus() == (kernel_cache.ANY_CPU,)
    assert kernel_cache.usable_cpus.__wrapped__() == (kernel_cache.ANY_CPU,)


@pytest.mark.slow
def test_shipped_kernels_are_left_alone_in_debugging(shipped, tmp_path):
    assert run_elsewhere(shipped, tmp_path / "cache", NUMBA_BOUNDSCHECK="1") == [3.0, 0]


def test_no_directory_has_to_be_writable(shipped, monkeypatch, tmp_path):
    """Locators of Numba's that find none, as if every directory were read-only."""
    for locator in caching.CacheImpl._locator_classes:
        monkeypatch.setattr(locator, "from_function", classmethod(lambda *_: None))
    monkeypatch.setattr(
        kernel_cache.Nowhere, "from_function", classmethod(lambda kind, *given: kind(*given))
    )
    monkeypatch.syspath_prepend(shipped.parent)
    for expected in ((3.0, 1), (4.0, 0), (4.0, 0)):
        if expected[0] == 4:
            (shipped / "added.py").write_text(ADDED.format(more=" + 1"))
        assert fresh_run() == expected
    assert not list(tmp_path.rglob("__pycache__/*.nb[ci]"))


def test_a_package_in_a_zip_file_is_kept_as_numba_does(package, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    archive = shutil.make_archive(str(tmp_path / "zipped"), "zip", package().parent, "toy")
    shutil.rmtree(tmp_path / "toy")
    monkeypatch.syspath_prepend(archive)
    assert fresh_run() == (3.0, 0)


def test_the_package_s_kernels_are_kept_so_and_no_others():
    assert isinstance(hmm.lay_out._cache, KernelCache)
    import numba

    def other(number):
        return number

    assert type(numba.njit(cache=True)(other)._cache) is caching.FunctionCache


def test_it_is_set_once():
    enable = Dispatcher.enable_caching
    cache_kernels()
    assert Dispatcher.enable_caching is enable
    assert not hasattr(enable.__wrapped__, "__wrapped__")


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
    assert "compiling kernels for this kind of run, once" in caplog.messages[0]
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    announcer = kernel_cache.Announcer()
    announcer.on_start(None)
    announcer._since -= announcer.SECONDS
    announcer.on_end(None)
    assert len(caplog.messages) == 2
