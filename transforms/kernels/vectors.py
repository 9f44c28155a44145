"""Vectors of eight float32 in kernels, with the same bits on every CPU.

The compiler vectorizes few loops by itself: it may not change the order of a sum, cannot know that
two arrays have no memory in common, and does not see that a row ends at a multiple of eight. Here
the kernel says what is computed at once. Lanes are computed as single numbers would be, and no
multiplication is fused with an addition, so a CPU with shorter vectors gets the same bits.

Functions take a place in an array as if the array had one dimension, and check no bounds. They
generate code where they are called, which counts no references to arrays.
"""

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.base import BaseContext
from numba.core.datamodel.manager import DataModelManager
from numba.core.datamodel.models import PrimitiveModel
from numba.core.errors import TypingError
from numba.core.imputils import lower_builtin
from numba.core.typing.context import Context
from numba.core.typing.templates import Signature, signature
from numba.extending import intrinsic, register_model, type_callable

LANES = 8

ALIGNMENT = 4
"""Alignment of vectors, in bytes: they may begin at any number."""

WORD = ir.IntType(32)

Generator: TypeAlias = Callable[
    [BaseContext, ir.IRBuilder, Signature, Sequence[ir.Value]], ir.Value
]
"""Generates the code of a call, and returns its value."""

Call: TypeAlias = tuple[Signature, Generator]


class Lanes(types.Type):
    """The type of a vector in compiled kernels."""

    def __init__(self, lanes: int) -> None:
        super().__init__(name=f"float32 x {lanes}")
        self.lanes = lanes


EIGHT, FOUR = Lanes(LANES), Lanes(LANES // 2)


@register_model(Lanes)
class _LanesModel(PrimitiveModel):
    """A vector of Numba is a vector of LLVM."""

    def __init__(self, dmm: DataModelManager, fe_type: Lanes) -> None:
        super().__init__(dmm, fe_type, vector_of(fe_type.lanes))


def generated(typed: Callable[..., Call]) -> Callable[..., Any]:
    """Turn a function of a context and argument types into a function for kernels."""
    return intrinsic(typed)


def vector_of(lanes: int) -> ir.VectorType:
    """Return the type of a vector in LLVM."""
    return ir.VectorType(ir.FloatType(), lanes)


def check_array(array: types.Type) -> None:
    """Refuse arrays whose numbers are not contiguous float32.

    Raises:
        TypingError: The numbers have another type or are not contiguous, or it is not an array.
    """
    if not (
        isinstance(array, types.Array) and array.dtype == types.float32 and array.layout == "C"
    ):
        raise TypingError(f"vectors are loaded from contiguous arrays of float32, got {array}")


def vector_at(builder: ir.IRBuilder, data: ir.Value, at: ir.Value, lanes: int = LANES) -> ir.Value:
    """Return the address of a vector in the memory of an array."""
    return builder.bitcast(builder.gep(data, [at]), vector_of(lanes).as_pointer())


def spread_value(builder: ir.IRBuilder, number: ir.Value) -> ir.Value:
    """Return a vector of eight equal numbers."""
    nothing = ir.Constant(vector_of(LANES), ir.Undefined)
    first = builder.insert_element(nothing, number, WORD(0))
    return shuffle(builder, first, nothing, [0] * LANES)


def shuffle(
    builder: ir.IRBuilder, one: ir.Value, other: ir.Value, lanes: Sequence[int]
) -> ir.Value:
    """Return a vector of some lanes of two vectors; those of the second are numbered from 8."""
    places = ir.Constant(ir.VectorType(WORD, len(lanes)), list(lanes))
    return builder.shuffle_vector(one, other, places)


def _calculated(emit: Callable[[ir.IRBuilder, Sequence[ir.Value]], ir.Value]) -> Generator:
    """Return a generator for a value that depends only on the values of the arguments."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, kinds: Signature, values: Sequence[ir.Value]
    ) -> ir.Value:
        del context, kinds
        return emit(builder, values)

    return generate


def _loaded(lanes: int) -> Generator:
    """Return the generator of `load` or `load_half`."""

    def generate(
        context: BaseContext, builder: ir.IRBuilder, kinds: Signature, values: Sequence[ir.Value]
    ) -> ir.Value:
        data = context.make_array(kinds.args[0])(context, builder, values[0]).data
        return builder.load(vector_at(builder, data, values[1], lanes), align=ALIGNMENT)

    return generate


@generated
def load(_: Context, array: types.Type, at: types.Type) -> Call:
    """Return ``array[at : at + 8]``."""
    del at
    check_array(array)
    return EIGHT(array, types.intp), _loaded(LANES)


@generated
def load_half(_: Context, array: types.Type, at: types.Type) -> Call:
    """Return ``array[at : at + 4]``, a vector of four."""
    del at
    check_array(array)
    return FOUR(array, types.intp), _loaded(LANES // 2)


@generated
def store(_: Context, array: types.Type, at: types.Type, vector: types.Type) -> Call:
    """Set ``array[at : at + 8]``."""
    del at, vector
    check_array(array)

    def generate(
        context: BaseContext, builder: ir.IRBuilder, kinds: Signature, values: Sequence[ir.Value]
    ) -> ir.Value:
        data = context.make_array(kinds.args[0])(context, builder, values[0]).data
        builder.store(values[2], vector_at(builder, data, values[1]), align=ALIGNMENT)
        return context.get_dummy_value()

    return types.void(array, types.intp, EIGHT), generate


@generated
def spread(_: Context, value: types.Type) -> Call:
    """Return eight times the same number."""
    del value
    return EIGHT(types.float32), _calculated(lambda builder, given: spread_value(builder, given[0]))


@generated
def sum_lanes(_: Context, vector: types.Type) -> Call:
    """Return ``(v[0] + v[1]) + (v[2] + v[3])`` of a vector of four."""
    del vector

    def emit(builder: ir.IRBuilder, values: Sequence[ir.Value]) -> ir.Value:
        one, two, three, four = (builder.extract_element(values[0], WORD(at)) for at in range(4))
        return builder.fadd(builder.fadd(one, two), builder.fadd(three, four))

    return types.float32(FOUR), _calculated(emit)


def _compared(comparison: str) -> Generator:
    """Return the generator of `least` or `greatest`."""

    def emit(builder: ir.IRBuilder, values: Sequence[ir.Value]) -> ir.Value:
        return builder.select(builder.fcmp_ordered(comparison, *values), *values)

    return _calculated(emit)


@generated
def least(_: Context, one: types.Type, other: types.Type) -> Call:
    """Return the smaller number of each lane."""
    del one, other
    return EIGHT(EIGHT, EIGHT), _compared("<")


@generated
def greatest(_: Context, one: types.Type, other: types.Type) -> Call:
    """Return the greater number of each lane."""
    del one, other
    return EIGHT(EIGHT, EIGHT), _compared(">")


@generated
def choose_below(
    _: Context, places: types.Type, limit: types.Type, one: types.Type, other: types.Type
) -> Call:
    """Return the lanes of ``one`` where the place is below the limit, else those of ``other``."""
    del places, limit, one, other

    def emit(builder: ir.IRBuilder, values: Sequence[ir.Value]) -> ir.Value:
        below = builder.fcmp_ordered("<", *values[:2])
        return builder.select(below, *values[2:])

    return EIGHT(EIGHT, EIGHT, EIGHT, EIGHT), _calculated(emit)


@generated
def any_reaches(_: Context, vector: types.Type, limits: types.Type) -> Call:
    """Return whether a number is at least as great as the limit in its lane."""
    del vector, limits

    def emit(builder: ir.IRBuilder, values: Sequence[ir.Value]) -> ir.Value:
        bits = ir.IntType(LANES)
        lanes = builder.bitcast(builder.fcmp_ordered(">=", *values), bits)
        return builder.icmp_unsigned("!=", lanes, bits(0))

    return types.boolean(EIGHT, EIGHT), _calculated(emit)


@generated
def count_bits(_: Context, value: types.Type) -> Call:
    """Count the bits of a uint64, as an int64: one instruction on most CPUs."""
    del value
    return types.int64(types.uint64), _calculated(lambda builder, given: builder.ctpop(given[0]))


@generated
def prefetch(_: Context, array: types.Type, at: types.Type) -> Call:
    """Prefetch the memory of ``array[at]`` into the cache; any place is allowed."""
    del at

    def generate(
        context: BaseContext, builder: ir.IRBuilder, kinds: Signature, values: Sequence[ir.Value]
    ) -> ir.Value:
        data = context.make_array(kinds.args[0])(context, builder, values[0]).data
        byte = ir.IntType(8).as_pointer()
        address = builder.bitcast(builder.gep(data, [values[1]]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, WORD, WORD, WORD])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        # For reading, to be kept in the cache, data.
        builder.call(function, [address, WORD(0), WORD(3), WORD(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


def _give_operator(symbol: Callable[..., object], instruction: str) -> None:
    """Let kernels use an operator between vectors of the same length."""

    @type_callable(symbol)
    def _typed(_: Context) -> Callable[[types.Type, types.Type], Signature | None]:

        def typed(one: types.Type, other: types.Type) -> Signature | None:
            return signature(one, one, other) if isinstance(one, Lanes) and one == other else None

        return typed

    def emit(builder: ir.IRBuilder, values: Sequence[ir.Value]) -> ir.Value:
        return getattr(builder, instruction)(*values)

    for kind in (EIGHT, FOUR):
        lower_builtin(symbol, kind, kind)(_calculated(emit))


_give_operator(operator.add, "fadd")
_give_operator(operator.sub, "fsub")
_give_operator(operator.mul, "fmul")
_give_operator(operator.truediv, "fdiv")
