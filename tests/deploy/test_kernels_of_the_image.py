"""Kernels compiled for any CPU: found by a fresh process, and with the same results."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.makers import corpora, runs

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "deploy" / "dataflow" / "compile_kernels.py"

pytestmark = pytest.mark.slow


def variables():
    """Return what the image sets for Numba, but its directory."""
    text = (ROOT / "deploy" / "dataflow" / "Dockerfile").read_text()
    words = text.replace('""', "").replace("\\\n", " ").split()
    found = dict(word.split("=", 1) for word in words if word.startswith("NUMBA_CPU_"))
    assert found == {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    return found


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Compile as the build of the image does; return the environment."""
    kernels = tmp_path_factory.mktemp("kernels")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")},
        **variables(),
        "NUMBA_CACHE_DIR": str(kernels),
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, str(PROGRAM)], env=environment, capture_output=True, text=True, timeout=550
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return kernels, environment


def kernel_files(directory):
    return {
        str(path.relative_to(directory)): path.stat().st_mtime_ns
        for path in directory.rglob("*.nb*")
    }


def test_a_fresh_process_compiles_nothing_and_writes_the_same_bytes(
    compiled, tmp_path, monkeypatch
):
    kernels, environment = compiled
    corpora.write_corpus(tmp_path, 300)
    words = [
        *("augment", "--source_input", tmp_path / "corpus.en"),
        *("--target_input", tmp_path / "corpus.de"),
        *("--source_lang", "en", "--target_lang", "de", "--workers", "1", "--shard_pairs", "100"),
    ]
    before = kernel_files(kernels)
    assert len(before) > 50
    with monkeypatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        generic = runs.digest_of(words, tmp_path / "generic")
    assert kernel_files(kernels) == before
    assert runs.digest_of(words, tmp_path / "native") == generic
