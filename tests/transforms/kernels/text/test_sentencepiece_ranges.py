"""Spans of pieces, read out of messages that are written field by field."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.kernels.text.sentencepiece_ranges import find_pieces
from pairweave.transforms.text import codepoints

VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5  # wire types of Protocol Buffers


def varint(value):
    more = value > 0x7F
    return bytes([value & 0x7F | more << 7]) + (varint(value >> 7) if more else b"")


def field(number, wire, value):
    if wire == VARINT:
        value = varint(value)
    elif wire == BYTES:
        value = varint(len(value)) + value
    return varint(number << 3 | wire) + value


def piece(begin, end, *others):
    return b"".join([*others, field(4, VARINT, begin), field(5, VARINT, end)])


# Fields that the reader has no use for, of every wire type.
unknown = st.one_of(
    st.integers(0, 1 << 40).map(lambda value: field(3, VARINT, value)),
    st.binary(min_size=8, max_size=8).map(lambda value: field(9, EIGHT, value)),
    st.binary(max_size=200).map(lambda value: field(1, BYTES, value)),
    st.binary(min_size=4, max_size=4).map(lambda value: field(7, FOUR, value)),
)


def found(texts, messages, *, marks_behind=False):
    data = [text.encode() for text in texts]
    offsets, message_offsets = (np.cumsum([0, *map(len, each)]) for each in (data, messages))
    flat, packed = (np.frombuffer(b"".join(each), np.uint8) for each in (data, messages))
    spans = find_pieces(
        packed, message_offsets, flat, offsets, codepoints.properties(), marks_behind
    )
    starts, ends = spans[1].tolist(), spans[2].tolist()
    return [
        list(zip(starts[first:stop], ends[first:stop], strict=True))
        for first, stop in zip(spans[0][:-1], spans[0][1:], strict=True)
    ]


@given(st.data())
def test_fields_of_any_wire_type_are_passed_over(data):
    texts, messages, expected = [], [], []
    for _ in range(data.draw(st.integers(0, 3))):
        words = data.draw(st.lists(st.text("aé漢𝄞", min_size=1, max_size=40), max_size=4))
        parts, spans, at, position = [], [], 0, 0
        for word in words:
            parts += data.draw(st.lists(unknown, max_size=2))
            end = at + len(word.encode())
            others = data.draw(st.lists(unknown, max_size=2))
            parts.append(field(2, BYTES, piece(at, end, *others)))
            spans.append((position, position + len(word)))
            at, position = end, position + len(word)
        texts.append("".join(words))
        messages.append(b"".join(parts))
        expected.append(spans)
    assert found(texts, messages) == expected


@pytest.mark.parametrize(
    ("marks_behind", "spans"), [(False, [(0, 1), (2, 2), (2, 3)]), (True, [(0, 1), (1, 1), (2, 3)])]
)
def test_a_lone_mark_has_an_empty_span(marks_behind, spans):
    message = b"".join(field(2, BYTES, piece(*at)) for at in [(0, 1), (1, 2), (2, 3)])
    assert found(["a b"], [message], marks_behind=marks_behind) == [spans]


def test_white_space_at_the_ends_of_a_piece_is_left_out():
    text = " é\u3000 b "
    message = field(2, BYTES, piece(0, len(text.encode())))
    assert found([text], [message]) == [[(1, 5)]]
