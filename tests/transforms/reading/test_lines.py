import tracemalloc
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pairweave.transforms.reading.column_lines import decode, line_blocks, whole_lines
from pairweave.transforms.reading.rows import Problem
from pairweave.transforms.rejects import Reject
from tests.makers.reading import slow_lines

PIECES = [b"a", b"tab\there", "ü€😀".encode(), b"\n", b"\r", b"\r\n", b"\0", b"\x0b", b"\x7f"]
PIECES += [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\xc2\x85", "\u2028".encode()]
PIECES += [b"\xef\xbb\xbf", b"x" * 9]
texts = st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join)


def read(data: bytes, limit: int, chunk: int) -> list[tuple[str | None, str | None, str | None]]:
    """Return (text, reason, detail) of each line."""
    chunks = (data[start : start + chunk] for start in range(0, len(data), chunk))
    result = []
    for lines in line_blocks(chunks, limit):
        problems: dict[int, Problem] = {}
        decoded = decode(whole_lines(lines, 0, len(lines)), "source", limit, problems)
        for row, text in enumerate(decoded.to_pylist()):
            problem = problems.get(row)
            result.append((text, problem and problem.reason.value, problem and problem.detail))
            assert (problem is None) == (text is not None)
    return result


@given(data=texts, limit=st.integers(1, 30), chunk=st.integers(1, 50))
@example(data=b"\xef\xbb\xbf", limit=5, chunk=1)
@example(data=b"\xef\xbb", limit=5, chunk=1)
@example(data=b"12345\r\n", limit=5, chunk=3)
@example(data=b"12345\r", limit=5, chunk=100)
@example(data=b"123456\r\nabc", limit=5, chunk=7)
@example(data=b"\na\r", limit=5, chunk=7)
def test_lines_are_what_the_slow_reader_says_whatever_the_chunks(data, limit, chunk):
    expected = slow_lines(data, limit)
    actual = read(data, limit, chunk)
    assert [(text, reason) for text, reason, _ in actual] == expected
    assert actual == read(data, limit, len(data) + 1)


def test_lines_end_at_line_feeds_and_nowhere_else():
    data = "a\u2028b\u2029c\x85d\x7fe\n".encode()
    assert read(data, 100, 100) == [("a\u2028b\u2029c\x85d\x7fe", None, None)]
    for stray in (b"\x0b", b"\x0c", b"\x1c", b"\r"):
        [(text, reason, detail)] = read(b"a" + stray + b"b\n", 100, 100)
        assert (text, reason) == (None, "control_char")
        assert detail == f"source: U+{stray[0]:04X} at byte 1 of the line"


def test_one_carriage_return_is_dropped_and_a_second_is_a_control_character():
    actual = read(b"a\r\nb\r\r\n\r\nc\r", 100, 100)
    assert [row[:2] for row in actual] == [
        ("a", None),
        (None, "control_char"),
        ("", None),
        ("c", None),
    ]


@pytest.mark.parametrize(
    ("bad", "place"),
    [
        (b"ab\xff", 2),
        (b"\xed\xa0\x80", 0),
        ("ü".encode() + b"\xc0\xaf", 2),
        (b"a\xe2\x82", 1),
        (b"\xf4\x90\x80\x80", 0),
    ],
)
def test_bytes_that_are_no_utf8_are_found_in_line_and_file(bad, place):
    data = b"first\n" + bad + b"\nlast\n"
    actual = read(data, 100, 4)
    assert actual[0][0] == "first"
    assert actual[2][0] == "last"
    assert actual[1] == (
        None,
        "invalid_utf8",
        f"source: 0x{bad[place]:02X} at byte {place} of the line, byte {6 + place} of the file",
    )


def test_a_byte_order_mark_is_dropped_at_the_first_byte_only_and_counts_in_offsets():
    mark = b"\xef\xbb\xbf"
    actual = read(mark + b"a\n" + mark + b"b\n\xff\n", 100, 2)
    assert [row[0] for row in actual] == ["a", "\ufeffb", None]
    assert actual[2][2] == "source: 0xFF at byte 0 of the line, byte 10 of the file"
    (lines,) = line_blocks([mark + b"b\n"], 100, offset=5)
    assert lines.line(0) == mark + b"b"


def test_offsets_after_a_line_over_the_limit_are_those_of_the_file():
    for size in (3, 100):
        data = b"a\n" + b"x" * 20 + b"\r\n\xff\n"
        actual = read(data, 5, size)
        assert actual[2][2] == "source: 0xFF at byte 0 of the line, byte 24 of the file"


def test_a_line_over_the_limit_keeps_its_length_and_start_and_the_next_line_is_read():
    data = b"a\n" + b"x" * 50_000 + b"\r\nb\n"
    actual = []
    for lines in line_blocks([data[start : start + 999] for start in range(0, len(data), 999)], 10):
        problems: dict[int, Problem] = {}
        decoded = decode(whole_lines(lines, 0, len(lines)), "target", 10, problems)
        actual.extend(zip(decoded.to_pylist(), map(problems.get, range(len(lines))), strict=True))
    assert [text for text, _ in actual] == ["a", None, "b"]
    problem = actual[1][1]
    assert problem.reason is Reject.LINE_TOO_LONG
    assert problem.detail == "target: 50000 bytes, max_line_bytes is 10"
    assert problem.raw == b"x" * 4096


def test_a_long_last_line_has_its_length_with_a_line_feed_and_without():
    for end in (b"", b"\n", b"\r\n"):
        [(text, reason, detail)] = read(b"x" * 5000 + end, 10, 999)
        assert (text, reason) == (None, "line_too_long")
        assert detail == "source: 5000 bytes, max_line_bytes is 10"


def test_the_start_of_a_long_line_that_is_kept_has_no_line_end():
    for size in (3, 100):
        data = b"x" * 20 + b"\r\n"
        (lines,) = line_blocks([data[at : at + size] for at in range(0, len(data), size)], 5)
        assert lines.line(0) == b"x" * 20


def test_a_line_without_end_is_skipped_in_constant_memory():
    def endless():
        yield b"first\n"
        for _ in range(300):
            yield b"y" * (1 << 20)
        yield b"\nlast"

    tracemalloc.start()
    blocks = list(line_blocks(endless(), 1 << 20))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [len(block) for block in blocks] == [1, 1, 1]
    assert blocks[1].long[0].length == 300 << 20
    assert blocks[2].line(0) == b"last"
    assert peak < 16 << 20


def test_no_reader_splits_text_by_other_rules_than_bytes():
    root = Path(__file__).parents[3] / "transforms"
    sources = [
        path for room in ("reading", "formats", "planning") for path in root.glob(f"{room}/*.py")
    ]
    assert len(sources) > 8
    for source in sources:
        code = source.read_text(encoding="utf-8").replace("archive.open(", "")  # bytes of a zip
        for wrong in ("splitlines(", "TextIOWrapper", "newline=", ".open("):
            assert wrong not in code, source
