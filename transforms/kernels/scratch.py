"""Memory that the arrays of one pair take, and that the next pair takes again.

A kernel that works on pair after pair makes dozens of small arrays for each. Each one costs an
allocation, a release and some counts of references, which for the aligner were a quarter of its
time. Arrays from `Scratch` take their memory from one block, one behind the other, and nothing
counts references to them. If the block is full, an array is allocated as usual.

The kernel with the loop sets ``scratch.used[0] = 0`` before each pair. Arrays of earlier pairs must
not be used after that, and none may be returned to Python.
"""

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.base import BaseContext
from numba.core.errors import TypingError
from numba.core.typing.context import Context
from numba.core.typing.templates import Signature
from numba.np import arrayobj

from pairweave.transforms.kernels.vectors import Call, generated

SIZE = 1 << 20
"""Bytes of a block: enough for pairs of 100 words, and not more than the cache of a core."""

LINE = 64
"""Arrays begin at multiples of this many bytes, the length of a line of the cache."""


class Scratch(NamedTuple):
    """A block of memory for the arrays of a pair.

    Attributes:
        memory: The block, uint8 ``[byte]``.
        used: Number of bytes in use, int64 ``[1]``.
    """

    memory: np.ndarray
    used: np.ndarray


def make_scratch(size: int = SIZE) -> Scratch:
    """Return an empty block; threads must not share one."""
    return Scratch(np.empty(size, dtype=np.uint8), np.zeros(1, dtype=np.int64))


def _array_call(scratch: types.Type, number: types.Type, dimensions: int, *, zero: bool) -> Call:
    """Return the type and the code of a call that makes an array.

    Args:
        scratch: Type of the block.
        number: Type of the class of the array's numbers.
        dimensions: Number of dimensions, whose lengths are the last arguments.
        zero: Whether the array is filled with zeros.

    Raises:
        TypingError: The class is not one of numbers.
    """
    if not isinstance(number, types.NumberClass):
        raise TypingError(f"the numbers of an array have a class, got {number}")
    made = types.Array(number.dtype, dimensions, "C")
    lengths = (types.intp,) * dimensions

    def generate(
        context: BaseContext,
        builder: ir.IRBuilder,
        kinds: Signature,
        values: Sequence[ir.Value],
    ) -> ir.Value:
        block, of_used = cgutils.unpack_tuple(builder, values[0], 2)
        memory = context.make_array(kinds.args[0][0])(context, builder, block)
        used_at = context.make_array(kinds.args[0][1])(context, builder, of_used).data
        shape = list(values[2:])
        place = shape[0].type
        item = place(context.get_abi_sizeof(context.get_data_type(made.dtype)))
        count = shape[0]
        for length in shape[1:]:
            count = builder.mul(count, length)
        size = builder.mul(count, item)
        start = builder.load(used_at)
        rounded = builder.and_(builder.add(size, place(LINE - 1)), place(-LINE))
        end = builder.add(start, rounded)
        fits = builder.icmp_signed("<=", end, memory.nitems)
        kind = context.get_data_type(made.dtype).as_pointer()
        pointer = cgutils.alloca_once(builder, kind)
        owner = cgutils.alloca_once_value(builder, memory.meminfo.type(None))
        with builder.if_else(fits, likely=True) as (within, beyond):
            with within:
                builder.store(end, used_at)
                first = builder.gep(memory.data, [start])
                builder.store(builder.bitcast(first, kind), pointer)
            with beyond:
                alone = arrayobj._empty_nd_impl(context, builder, made, shape)
                builder.store(alone.data, pointer)
                builder.store(alone.meminfo, owner)
        data = builder.load(pointer)
        if zero:
            cgutils.memset(builder, data, size, 0)
        array = context.make_array(made)(context, builder)
        strides = [builder.mul(shape[1], item), item] if dimensions > 1 else [item]
        arrayobj.populate_array(
            array,
            data=data,
            shape=shape,
            strides=strides,
            itemsize=item,
            meminfo=builder.load(owner),
        )
        return array._getvalue()

    return made(scratch, number, *lengths), generate


@generated
def take(_: Context, scratch: types.Type, number: types.Type, length: types.Type) -> Call:
    """Return an array of one dimension, whose content is undefined.

    Args:
        scratch: The block.
        number: Class of its numbers, such as ``np.float32``.
        length: Its length.
    """
    del length
    return _array_call(scratch, number, 1, zero=False)


@generated
def take_zeros(_: Context, scratch: types.Type, number: types.Type, length: types.Type) -> Call:
    """Return an array of zeros; arguments as for `take`."""
    del length
    return _array_call(scratch, number, 1, zero=True)


@generated
def take_rows(
    _: Context, scratch: types.Type, number: types.Type, rows: types.Type, columns: types.Type
) -> Call:
    """Return an array of rows and columns, whose content is undefined; arguments as for `take`."""
    del rows, columns
    return _array_call(scratch, number, 2, zero=False)


@generated
def take_zero_rows(
    _: Context, scratch: types.Type, number: types.Type, rows: types.Type, columns: types.Type
) -> Call:
    """Return an array of zeros with rows and columns; arguments as for `take`."""
    del rows, columns
    return _array_call(scratch, number, 2, zero=True)


@generated
def lent(_: Context, value: types.Type) -> Call:
    """Return an array, or a tuple of arrays, to which nothing counts references.

    The arrays must be arguments of a kernel that is called from Python, which keeps them.
    """

    def without_owner(
        context: BaseContext, builder: ir.IRBuilder, kind: types.Type, given: ir.Value
    ) -> ir.Value:
        if isinstance(kind, types.BaseTuple):
            kinds = cast("Sequence[types.Type]", kind)
            parts = cgutils.unpack_tuple(builder, given, len(kinds))
            parts = [
                without_owner(context, builder, of_part, part)
                for of_part, part in zip(kinds, parts, strict=True)
            ]
            return context.make_tuple(builder, kind, parts)
        if isinstance(kind, types.Array):
            array = context.make_array(kind)(context, builder, given)
            array.meminfo = cgutils.get_null_value(array.meminfo.type)
            array.parent = cgutils.get_null_value(array.parent.type)
            return array._getvalue()
        return given

    def generate(
        context: BaseContext,
        builder: ir.IRBuilder,
        kinds: Signature,
        values: Sequence[ir.Value],
    ) -> ir.Value:
        return without_owner(context, builder, kinds.args[0], values[0])

    return value(value), generate
