"""A file's name stands for one concept."""

from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "transforms" / "kernels"


@pytest.mark.parametrize("layer", ["transforms/kernels", "transforms", "models", "pipelines"])
def test_a_layer_has_a_name_once(layer):
    """An algorithm, its step and its job may share a name; they are in different layers."""
    paths = [
        path
        for path in (ROOT / layer).rglob("*.py")
        if path.name != "__init__.py" and (layer != "transforms" or KERNELS not in path.parents)
    ]
    assert len(paths) > 20
    assert [name for name, times in Counter(path.name for path in paths).items() if times > 1] == []
