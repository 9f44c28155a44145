"""Footers of Parquet files, written field by field in Thrift's compact protocol."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.reading.parquet.parquet_footer import encrypted_columns

TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
ROW_GROUPS, COLUMNS, META_DATA, CRYPTO_METADATA, ENCRYPTED_METADATA = 4, 1, 3, 8, 9
INTEGERS = {I16: 15, I32: 31, I64: 63}


def varint(value):
    """Seven bits a byte, the lowest first; the top bit says that more follow."""
    more = value > 0x7F
    return bytes([value & 0x7F | more << 7]) + (varint(value >> 7) if more else b"")


def zigzag(value):
    return varint(value << 1 if value >= 0 else -value * 2 - 1)


def list_of(kind, items):
    short = len(items) < 15
    head = bytes([(len(items) if short else 15) << 4 | kind])
    return head + (b"" if short else varint(len(items))) + b"".join(items)


def struct_of(fields):
    """Encode ``(number, type, value)``; the number is a step from the one before, if it can be."""
    out, before = b"", 0
    for number, kind, value in fields:
        step = number - before
        out += bytes([step << 4 | kind]) if 0 < step < 16 else bytes([kind]) + zigzag(number)
        out += value
        before = number
    return out + b"\0"


@st.composite
def values(draw, depth=2):
    """Draw a type and a value of it."""
    kinds = [TRUE, FALSE, BYTE, *INTEGERS, DOUBLE, BINARY]
    kind = draw(st.sampled_from(kinds + [LIST, SET, MAP, STRUCT] * (depth > 0)))
    return kind, draw(value_of(kind, depth))


@st.composite
def value_of(draw, kind, depth, *, inside=False):
    if kind in (TRUE, FALSE):
        return bytes([draw(st.sampled_from([1, 2]))]) if inside else b""
    if kind == BYTE:
        return bytes([draw(st.integers(0, 255))])
    if kind in INTEGERS:
        bits = INTEGERS[kind]
        return zigzag(draw(st.integers(-(1 << bits), (1 << bits) - 1)))
    if kind == DOUBLE:
        return struct.pack("<d", draw(st.floats(allow_nan=False)))
    if kind == BINARY:
        data = draw(st.binary(max_size=200))
        return varint(len(data)) + data
    if kind == STRUCT:
        numbers = sorted(draw(st.sets(st.integers(1, 60), max_size=3)))
        return struct_of([(number, *draw(values(depth - 1))) for number in numbers])
    item = draw(st.sampled_from([TRUE, BYTE, I32, DOUBLE, BINARY] + [STRUCT, LIST] * (depth > 1)))
    if kind == MAP:
        key = draw(st.sampled_from([TRUE, I16, BINARY]))
        size = draw(st.integers(0, 3))
        pairs = b"".join(
            draw(value_of(one, depth - 1, inside=True)) for _ in range(size) for one in (key, item)
        )
        return varint(size) + (bytes([key << 4 | item]) if size else b"") + pairs
    items = draw(st.lists(value_of(item, depth - 1, inside=True), max_size=20))
    return list_of(item, items)


@st.composite
def structs_with(draw, known, unknown):
    """Draw a struct of known fields, ``(number, type, value)``, and others of any type."""
    others = draw(st.sets(st.sampled_from(unknown), max_size=3))
    fields = [*known, *((number, *draw(values())) for number in others)]
    order = draw(st.permutations(fields)) if draw(st.booleans()) else sorted(fields)
    return struct_of(order)


@given(st.data())
def test_columns_that_need_a_key_are_found_whatever_else_the_footer_holds(data):
    groups, expected = [], set()
    for _ in range(data.draw(st.integers(0, 2))):
        columns = []
        for number in range(data.draw(st.integers(0, 17))):
            marks = data.draw(
                st.sampled_from([{META_DATA}] * 3 + [set(), {META_DATA, CRYPTO_METADATA}])
                | st.just({META_DATA, ENCRYPTED_METADATA})
            )
            known = [(mark, STRUCT, struct_of([])) for mark in sorted(marks)]
            columns.append(data.draw(structs_with(known, [1, 2, 4, 7, 30, 300])))
            if marks != {META_DATA}:
                expected.add(number)
        known = [(COLUMNS, LIST, list_of(STRUCT, columns))]
        groups.append(data.draw(structs_with(known, [2, 3, 7, 20])))
    known = [(ROW_GROUPS, LIST, list_of(STRUCT, groups))]
    footer = data.draw(structs_with(known, [1, 2, 3, 5, 6, 8, 9, 40]))
    assert encrypted_columns(footer) == expected


@pytest.mark.parametrize(
    ("footer", "message"),
    [
        (b"", "not in Thrift's compact protocol"),
        (struct_of([(1, I32, zigzag(1))])[:-1], "not in Thrift's compact protocol"),
        (struct_of([(1, 13, b"")]), "a value of the unknown type 13"),
        (struct_of([(1, I64, b"\xff" * 10 + b"\x01")]), "a number of more than 64 bits"),
        (struct_of([(ROW_GROUPS, LIST, list_of(I32, [b"\x02"]))]), "a list of type 5, expected 12"),
    ],
)
def test_a_damaged_footer_is_an_error(footer, message):
    with pytest.raises(ValueError, match=message):
        encrypted_columns(footer)
