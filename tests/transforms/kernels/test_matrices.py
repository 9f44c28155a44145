import numba
import numpy as np
import pytest

from pairweave.transforms.kernels import matrices

rng = np.random.default_rng(3)


def numbers(*shape):
    return rng.normal(size=shape).astype(np.float32)


@pytest.mark.parametrize(("count", "expected"), [(0, 0), (1, 8), (8, 8), (9, 16)])
def test_counts_are_padded_to_a_multiple_of_eight(count, expected):
    assert matrices.padded(count) == expected


@numba.njit
def add_rows(matrix, rows, weights, sums):
    matrices.add_rows(matrix, rows, weights, sums)


@pytest.mark.parametrize("columns", range(8, 88, 8))
@pytest.mark.parametrize("rows", [1, 3, 4, 8, 13, 16, 40])
def test_weighted_rows_are_added_four_by_four_to_the_bit(rows, columns):
    added = (rows + 3) // 4 * 4
    matrix, weights, sums = numbers(added + 8, columns), numbers(added + 3), numbers(columns)
    add_rows(matrix, rows, weights, sums)
    expected = np.zeros(columns, np.float32)
    for row in range(0, added, 4):
        part = weights[row] * matrix[row]
        for step in range(1, 4):
            part = part + weights[row + step] * matrix[row + step]
        expected = expected + part
    assert sums.tolist() == expected.tolist()


@pytest.mark.parametrize(("rows", "columns"), [(8, 8), (16, 8), (8, 24), (32, 40)])
def test_a_matrix_is_transposed(rows, columns):
    matrix, made = numbers(rows, columns), numbers(columns, rows)
    matrices.transpose(matrix, made)
    assert made.tolist() == matrix.T.tolist()
