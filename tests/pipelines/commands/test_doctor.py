"""What `doctor` says of the kernels."""

import importlib.metadata
import sys

import pytest

from pairweave.pipelines.commands import doctor
from pairweave.transforms.kernels import kernel_cache

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
    doctor.main("doctor", [])
    assert f"\nkernels\n  {said}\n" in capsys.readouterr().out


def test_it_reports_a_numba_that_cannot_be_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "pairweave.transforms.kernels", None)
    assert doctor._kernels().startswith("numba cannot be imported: ")


def test_the_version_is_read_from_the_package(tmp_path):
    assert kernel_cache.shipped_for(tmp_path) is None
    (tmp_path / kernel_cache.SHIPPED).mkdir()
    (tmp_path / kernel_cache.SHIPPED / kernel_cache.VERSION).write_text("0.68.1\n")
    assert kernel_cache.shipped_for(tmp_path) == "0.68.1"
