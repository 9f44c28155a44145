"""The additions that CONTRIBUTING.md shows run as they are, each in a process of its own."""

import importlib.util
import os
import subprocess
import sys

import pytest

from tests.docs import pages

KINDS = ("rule", "reader", "head", "aligner")
SHOWN = [
    block for block in pages.blocks(pages.ROOT / "CONTRIBUTING.md") if block.language == "python"
]
BLOCKS = dict(zip(KINDS, SHOWN, strict=True))


def test_each_has_fewer_than_forty_lines_and_checks_itself():
    for kind, block in BLOCKS.items():
        assert len(block.text.splitlines()) < 40, kind
        assert "\nassert " in block.text, kind


@pytest.mark.slow
@pytest.mark.parametrize("kind", BLOCKS)
def test_it_runs_as_it_stands(kind, tmp_path):
    if kind == "head" and importlib.util.find_spec("torch") is None:
        pytest.skip("no torch")
    done = subprocess.run(
        [sys.executable, "-c", BLOCKS[kind].text],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(pages.ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
