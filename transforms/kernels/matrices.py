"""Sums and transposes of float32 matrices, whose numbers of rows and columns are multiples of 8.

Rows and columns that are missing are padded, mostly with zeros.
"""

from collections.abc import Sequence

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.base import BaseContext
from numba.core.typing.context import Context
from numba.core.typing.templates import Signature

from pairweave.transforms.kernels.uncounted import uncounted
from pairweave.transforms.kernels.vectors import (
    ALIGNMENT,
    LANES,
    Call,
    check_array,
    generated,
    shuffle,
    spread_value,
    vector_at,
    vector_of,
)

ROWS = 4
"""Number of weighted rows that are added one after the other, then added to the sum."""

HALVES = {
    1: ([0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15]),
    2: ([0, 1, 8, 9, 4, 5, 12, 13], [2, 3, 10, 11, 6, 7, 14, 15]),
    4: ([0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15]),
}
"""Lanes of two rows that are 1, 2 or 4 apart: three exchanges of halves make a transpose."""


@numba.njit(nogil=True, cache=True)
def padded(count: int) -> int:
    """Return the rows or columns that a matrix with a number of them has: a multiple of eight."""
    return (count + LANES - 1) // LANES * LANES


@generated
def add_rows(
    _: Context, matrix: types.Type, rows: types.Type, weights: types.Type, sums: types.Type
) -> Call:
    """Compute the weighted sum of the first rows of a matrix.

    Four vectors of columns are computed at once, then those that are left over.

    Args:
        matrix: float32 ``[row, column]``.
        rows: Number of rows; those up to the next multiple of `ROWS` are added, too.
        weights: Weight of each row, float32, at least as long.
        sums: Receives the sums, float32 ``[column]``.
    """
    del rows
    for array in (matrix, weights, sums):
        check_array(array)

    def generate(
        context: BaseContext, builder: ir.IRBuilder, kinds: Signature, values: Sequence[ir.Value]
    ) -> ir.Value:
        arrays = [
            context.make_array(kinds.args[at])(context, builder, values[at]) for at in (0, 2, 3)
        ]
        data, of_weights, of_sums = (array.data for array in arrays)
        rows, stride = values[1], builder.extract_value(arrays[0].shape, 1)
        number = rows.type
        sums_so_far = [cgutils.alloca_once(builder, vector_of(LANES)) for _ in range(4)]
        done = number(0)
        for vectors in (4, 3, 2, 1):
            totals = sums_so_far[:vectors]
            width = number(vectors * LANES)
            whole = builder.sub(stride, builder.urem(builder.sub(stride, done), width))
            with cgutils.for_range_slice(builder, done, whole, width, number) as (at, _):
                for total in totals:
                    builder.store(ir.Constant(vector_of(LANES), None), total)
                with cgutils.for_range_slice(builder, number(0), rows, number(ROWS), number) as (
                    row,
                    _,
                ):
                    first = builder.add(builder.mul(row, stride), at)
                    for total, part in zip(
                        totals,
                        _weighed(builder, data, stride, first, of_weights, row, vectors),
                        strict=True,
                    ):
                        builder.store(builder.fadd(builder.load(total), part), total)
                for lane, total in enumerate(totals):
                    to = vector_at(builder, of_sums, builder.add(at, number(lane * LANES)))
                    builder.store(builder.load(total), to, align=ALIGNMENT)
            done = whole
        return context.get_dummy_value()

    return types.void(matrix, types.intp, weights, sums), generate


def _weighed(
    builder: ir.IRBuilder,
    data: ir.Value,
    stride: ir.Value,
    first: ir.Value,
    weights: ir.Value,
    row: ir.Value,
    vectors: int,
) -> list[ir.Value]:
    """Return the sum of some weighted rows in some vectors of columns.

    Args:
        builder: Receives the code.
        data: The matrix.
        stride: Numbers in a row.
        first: Place of the first column in the first row.
        weights: Weight of each row.
        row: The first row.
        vectors: Number of vectors.
    """
    parts: list[ir.Value] = []
    for step in range(ROWS):
        place = builder.add(row, row.type(step))
        weight = spread_value(builder, builder.load(builder.gep(weights, [place])))
        for vector in range(vectors):
            at = vector_at(builder, data, builder.add(first, row.type(vector * LANES)))
            product = builder.fmul(weight, builder.load(at, align=ALIGNMENT))
            if step == 0:
                parts.append(product)
            else:
                parts[vector] = builder.fadd(parts[vector], product)
        first = builder.add(first, stride)
    return parts


@generated
def _transpose_block(
    _: Context, matrix: types.Type, at: types.Type, made: types.Type, to: types.Type
) -> Call:
    """Write the transpose of 8 x 8 numbers of one matrix to a place of another."""
    del at, to
    check_array(matrix)
    check_array(made)

    def generate(
        context: BaseContext, builder: ir.IRBuilder, kinds: Signature, values: Sequence[ir.Value]
    ) -> ir.Value:
        def addresses(which: int) -> list[ir.Value]:
            """Return the addresses of eight rows, starting at the place in a matrix."""
            array = context.make_array(kinds.args[which])(context, builder, values[which])
            stride = builder.extract_value(array.shape, 1)
            rows, place = [], values[which + 1]
            for _ in range(LANES):
                rows.append(vector_at(builder, array.data, place))
                place = builder.add(place, stride)
            return rows

        block = [builder.load(row, align=ALIGNMENT) for row in addresses(0)]
        for gap, halves in HALVES.items():
            for row in range(LANES):
                if not row & gap:
                    pair = block[row], block[row | gap]
                    block[row], block[row | gap] = (
                        shuffle(builder, *pair, half) for half in halves
                    )
        for numbers, row in zip(block, addresses(2), strict=True):
            builder.store(numbers, row, align=ALIGNMENT)
        return context.get_dummy_value()

    return types.void(matrix, types.intp, made, types.intp), generate


@uncounted
def transpose(matrix: np.ndarray, made: np.ndarray) -> None:
    """Write the transpose of a matrix.

    Args:
        matrix: float32 ``[row, column]``.
        made: Receives the transpose, float32 ``[column, row]``.
    """
    rows, columns = matrix.shape
    for row in range(0, rows, LANES):
        for column in range(0, columns, LANES):
            _transpose_block(matrix, row * columns + column, made, column * rows + row)
