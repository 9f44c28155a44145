"""Faults in runs on Prism; a launcher that is killed is in `test_launchers.py`."""

import pytest

from tests.cluster.conftest import ready
from tests.faults import matrix

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("cell", matrix.ON_PRISM, ids=lambda cell: cell.id)
def test_a_fault_on_prism(cell, golden, tmp_path, record):
    ready("prism")
    record(cell, matrix.examine(cell, golden, tmp_path))
