"""The committed table has a row for every cell of the matrix of faults, and no other."""

import collections

from tests.faults import (
    matrix,
    reliability,
    test_cluster_faults,
    test_launchers,
    test_mini_cluster_faults,
    test_store_faults,
)

MODULES = (
    test_cluster_faults,
    test_launchers,
    test_mini_cluster_faults,
    test_store_faults,
)


def test_the_table_has_a_row_for_every_cell_and_no_other():
    cells = [*matrix.QUICK, *matrix.SLOW, *matrix.ON_PRISM]
    cells += [cell for module in MODULES for cell in module.CELLS]
    wanted = collections.Counter((cell.fault, cell.engine) for cell in cells)
    assert max(wanted.values()) == 1
    actual = [reliability.place(row) for row in reliability.rows()]
    assert actual == sorted(wanted)
