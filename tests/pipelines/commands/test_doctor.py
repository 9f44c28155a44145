"""What `doctor` says of the kernels."""

import importlib.metadata
import pickle
import sys

import pytest

from pairweave.pipelines.commands import doctor
from pairweave.transforms.kernels import kernel_cache, kernel_sources

NUMBA = importlib.metadata.version("numba")


@pytest.mark.parametrize(
    ("shipped", "said"),
    [
        (NUMBA, "compiled ones come with the package"),
        (None, "none come with the package: the first run compiles them"),
        ("0.1", f"those of the package are for numba 0.1: the first run compiles them for {NUMBA}"),
    ],
)
def test_it_says_whether_a_first_run_compiles(monkeypatch, capsys, shipped, said):
    monkeypatch.setattr(kernel_cache, "shipped_for", lambda: shipped)
    monkeypatch.setattr(doctor, "_outdated", lambda _: (0, 60))
    doctor.main("doctor", [])
    assert f"\nkernels\n  {said}\n" in capsys.readouterr().out


def test_it_says_so_if_the_package_s_kernels_are_for_other_cpus(monkeypatch):
    monkeypatch.setattr(kernel_cache, "shipped_for", lambda: NUMBA)
    monkeypatch.setattr(kernel_cache, "are_usable", lambda: False)
    said = "those of the package are for other CPUs: the first run compiles them"
    assert doctor._kernels() == said


def test_it_counts_the_files_whose_compiled_kernels_are_outdated(monkeypatch, tmp_path):
    package = tmp_path / "pairweave"
    kernels = package / "transforms" / "kernels"
    kernels.mkdir(parents=True)
    (package / kernel_cache.SHIPPED).mkdir()
    (kernels / "limits.py").write_text("MOST = 3\n")
    for name in ("first", "second", "third", "never_compiled"):
        (kernels / f"{name}.py").write_text("import numba\nf = numba.njit(abs)\n")
    (kernels / "second.py").write_text("@uncounted\ndef f(x):\n    return x\n")
    with (kernels / "second.py").open("a") as file:
        file.write("from pairweave.transforms.kernels.limits import MOST\n")
    for name in ("first", "second", "third"):
        stamp = kernel_sources.digest(kernels / f"{name}.py", package)
        index = package / kernel_cache.SHIPPED / f"{name}.f-2.py311.nbi"
        index.write_bytes(pickle.dumps("0.68") + pickle.dumps((stamp, {})))
    assert doctor._outdated(package) == (0, 3)

    (kernels / "limits.py").write_text("MOST = 4\n")
    (kernels / "third.py").write_text("import numba\nf = numba.njit(max)\n")
    kernel_sources.digest.cache_clear()
    kernel_sources._read.cache_clear()
    assert doctor._outdated(package) == (2, 3)

    monkeypatch.setattr(kernel_cache, "shipped_for", lambda: NUMBA)
    monkeypatch.setattr(kernel_sources, "PACKAGE", package)
    assert doctor._kernels() == (
        "compiled ones come with the package, but those of 2 of 3 files are outdated: a run that "
        "needs one of these compiles it once; `make kernels` compiles all"
    )


def test_it_reports_a_numba_that_cannot_be_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "pairweave.transforms.kernels", None)
    assert doctor._kernels().startswith("numba cannot be imported: ")


def test_the_version_is_read_from_the_package(tmp_path):
    assert kernel_cache.shipped_for(tmp_path) is None
    (tmp_path / kernel_cache.SHIPPED).mkdir()
    (tmp_path / kernel_cache.SHIPPED / kernel_cache.VERSION).write_text("0.68.1\n")
    assert kernel_cache.shipped_for(tmp_path) == "0.68.1"
