"""Lines are restored byte for byte with any line ending."""

import gzip

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from pairweave.transforms.errors import InputError
from pairweave.transforms.storage.text_lines import (
    count_lines,
    read_in_step,
    read_lines,
    read_text_lines,
)

PIECES = st.sampled_from(["a", "\r", "\n", "\r\n", "\u2028", "\x0b", "\ufeff", "é", " "])


@given(st.lists(PIECES).map("".join))
def test_a_file_is_written_as_it_was_read(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("lines")
    (folder / "in").write_bytes(text.encode())
    lines = list(read_lines(str(folder / "in")))
    assert b"".join(line.with_text(line.text) for line in lines) == text.encode()
    assert len(lines) == text.count("\n") + (not text.endswith("\n") and text != "")
    assert count_lines(str(folder / "in")) == len(lines)


def test_compression_follows_the_name(tmp_path):
    for name, pack in (("a.gz", gzip.compress), ("a.zst", zstandard.compress)):
        (tmp_path / name).write_bytes(pack(b"x\ny"))
        assert [line.text for line in read_lines(str(tmp_path / name))] == ["x", "y"]


def test_a_line_that_is_no_utf8_is_named(tmp_path):
    (tmp_path / "a").write_bytes(b"x\n\xff\n")
    with pytest.raises(InputError, match="a:2: expected UTF-8, found 0xFF as byte 1 of the line"):
        list(read_lines(str(tmp_path / "a")))


def test_files_of_unlike_length_are_refused(tmp_path):
    (tmp_path / "a").write_bytes(b"x\ny\n")
    (tmp_path / "b").write_bytes(b"x\n")
    with pytest.raises(InputError, match=r"b: ends after line 1, but .*a continues"):
        list(read_in_step(str(tmp_path / "a"), str(tmp_path / "b")))


def test_neither_the_byte_order_mark_nor_a_line_end_is_text(tmp_path):
    (tmp_path / "a").write_bytes("\ufeffa\r\n\ufeffb\r\r\n\nc\r".encode())
    assert read_text_lines(str(tmp_path / "a")) == ["a", "\ufeffb\r", "", "c"]
    kept = read_text_lines(str(tmp_path / "a"), keep_returns=True)
    assert kept == ["a\r", "\ufeffb\r\r", "", "c\r"]


def test_lines_that_are_kept_have_the_usual_bounds_on_expansion(tmp_path):
    (tmp_path / "a.zst").write_bytes(zstandard.compress((b"a" * 999 + b"\n") * 25_000))
    assert sum(1 for _ in read_lines(str(tmp_path / "a.zst"))) == 25_000
    with pytest.raises(InputError, match="expansion_limit"):
        read_text_lines(str(tmp_path / "a.zst"))


def test_what_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none: cannot be read: no such file \[no_match\]"):
        read_text_lines(str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"cannot be read: Is a directory \[unreadable\]"):
        read_text_lines(str(tmp_path))
