import gzip
import io
import os
import threading

import pyarrow as pa
import pytest
import zstandard

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.links import pharaoh
from pairweave.transforms.storage import text_lines
from tests.makers.linked_tables import symmetrized
from tests.makers.links import read_pharaoh

HEURISTICS = ["intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]


def symmetrize(forward, reverse, heuristic="grow-diag"):
    out = io.BytesIO()
    pharaoh.symmetrize_files(forward, reverse, heuristic, out)
    return out.getvalue().decode()


def phrases(links, *arguments, max_words=64, unaligned_words="forbid"):
    out = io.BytesIO()
    pharaoh.phrase_files(links, max_words, unaligned_words, out, *arguments)
    return out.getvalue().decode()


@pytest.fixture
def write(tmp_path):
    def write_file(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


@pytest.mark.parametrize("heuristic", HEURISTICS)
@pytest.mark.parametrize("aligner", ["giza", "fastalign"])
def test_two_real_files_become_the_file_of_atools(shared_data, aligner, heuristic):
    folder = shared_data / "symmetrize" / aligner
    expected = [
        " ".join(f"{i}-{j}" for i, j in sorted(links))
        for links in read_pharaoh(folder / f"roen.{heuristic}")
    ]
    actual = symmetrize(folder / "roen.forward", folder / "roen.reverse", heuristic)
    assert actual.splitlines() == expected


@pytest.mark.parametrize("aligner", ["giza", "fastalign"])
def test_real_links_become_the_file_of_phrases(shared_data, aligner):
    folder = shared_data / "symmetrize" / aligner
    expected = (folder / "roen.phrases").read_text()
    assert phrases(folder / "roen.grow-diag") == expected


def test_block_borders_do_not_show(shared_data, monkeypatch):
    folder = shared_data / "symmetrize" / "fastalign"
    files = folder / "roen.forward", folder / "roen.reverse"
    whole = symmetrize(*files)
    monkeypatch.setattr(text_lines, "BLOCK_BYTES", 101)
    assert symmetrize(*files) == whole


def test_line_ends_empty_lines_and_a_last_line_without_end(write):
    forward = write("f", "1-1 0-0\r\n\r\n2-2")
    assert symmetrize(forward, write("r", "0-0\t1-1\n\n2-2\n")) == "0-0 1-1\n\n2-2\n"
    assert phrases(forward) == "0-0:0-0 0-1:0-1 1-1:1-1\n\n2-2:2-2\n"


def test_a_byte_order_mark_is_no_link_and_no_word(write):
    mark, plain = b"\xef\xbb\xbf", b"0-0 1-1\n"
    marked = write("marked", mark + plain)
    assert symmetrize(marked, write("plain", plain)) == plain.decode()
    (lengths,) = pharaoh.read_lengths(write("text", mark + b"\r\nA\r\n"))
    assert lengths.tolist() == [0, 1]
    with pytest.raises(InputError, match="twice:2: "):  # it stands before the first line alone
        list(pharaoh.read_links(write("twice", plain + mark + plain)))


def test_empty_files_give_nothing(write):
    assert symmetrize(write("f", ""), write("r", "")) == ""
    assert phrases(write("l", "")) == ""


def test_compressed_files_are_unpacked(write):
    text = b"0-0 1-1\n\n2-2\n"
    packed = write("f.gz", gzip.compress(text)), write("r.zst", zstandard.compress(text))
    assert symmetrize(*packed) == text.decode()


def test_a_cut_off_compressed_file_is_an_error(write):
    path = write("links.gz", gzip.compress(b"0-0 1-1\n" * 1000)[:-9])
    with pytest.raises(InputError, match="gzip_truncated"):
        phrases(path)


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("0-0\n\n0-0 5:6\n", "invalid_link", ":3: '5:6' is not a link; expected i-j"),
        ("1p2\n", "invalid_link", ":1: '1p2'"),
        ("0-0 1-1-1\n", "invalid_link", ":1: '1-1-1'"),
        ("-1\n", "invalid_link", ":1: '-1'"),
        ("0-32767\n", "link_out_of_range", ":1: '0-32767' is not a link; word numbers go up"),
        ("0-0\n\u00fc\x1b\n", "invalid_link", r":2: \'ü\\x1b' is"),
        ("x" * 99, "invalid_link", f":1: '{'x' * 40}…'"),
    ],
)
def test_what_is_no_link_is_named_with_its_file_and_line(write, text, code, message):
    path = write("links.txt", text)
    with pytest.raises(InputError, match=message) as caught:
        phrases(path)
    assert caught.value.code == code
    assert caught.value.path == str(path)


def test_lines_are_counted_over_blocks(write, monkeypatch):
    monkeypatch.setattr(text_lines, "BLOCK_BYTES", 16)
    with pytest.raises(InputError, match=":100: 'x'"):
        phrases(write("links", "0-0 1-1\n" * 99 + "x\n"))


def test_unequal_line_counts_are_refused_before_anything_is_written(write):
    forward, reverse = write("f", "0-0\n" * 3), write("r", "0-0\n" * 2 + "1-1\n\n")
    out = io.BytesIO()
    with pytest.raises(InputError, match=r"f: has 3 lines, but .*r has 4; ") as caught:
        pharaoh.symmetrize_files(forward, reverse, "union", out)
    assert caught.value.code == "line_count_mismatch"
    assert out.getvalue() == b""


@pytest.mark.parametrize(("first", "second"), [(5, 3), (3, 5)])
def test_unequal_line_counts_of_a_pipe_are_found_at_its_end(
    write, tmp_path, monkeypatch, first, second
):
    monkeypatch.setattr(text_lines, "BLOCK_BYTES", 8)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"0-0\n" * first,))
    writer.start()
    with pytest.raises(InputError, match=f"has {first} lines, but .* has {second}; "):
        symmetrize(pipe, write("r", "0-0\n" * second))
    writer.join()


def test_a_pipe_can_be_read(write, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"0-0 1-1\n",))
    writer.start()
    assert symmetrize(pipe, write("r", "1-1\n"), "union") == "0-0 1-1\n"
    writer.join()


def test_a_missing_file_is_an_error_that_names_it(tmp_path):
    with pytest.raises(InputError, match=r"nowhere: cannot be read: no such file.*\[no_match\]"):
        phrases(tmp_path / "nowhere")


def test_an_unknown_heuristic_is_refused_before_files_are_read(tmp_path):
    with pytest.raises(ConfigError, match="did you mean 'union'"):
        symmetrize(tmp_path / "nowhere", tmp_path / "nowhere", "unison")


def test_without_texts_a_sentence_ends_with_its_last_link(write):
    links = write("l", "1-1\n")
    assert phrases(links, unaligned_words="allow") == "0-1:0-1 0-1:1-1 1-1:0-1 1-1:1-1\n"


def test_texts_tell_how_long_sentences_are(write):
    links, source, target = write("l", "0-0\n"), write("s", "a b\n"), write("t", "c  d\n")
    actual = phrases(links, source, target, unaligned_words="allow")
    assert actual == "0-0:0-0 0-0:0-1 0-1:0-0 0-1:0-1\n"
    assert phrases(links, None, target, unaligned_words="allow") == "0-0:0-0 0-0:0-1\n"


@pytest.mark.parametrize("block_bytes", [4, 1 << 20])
def test_a_link_outside_its_sentence_is_an_error(write, monkeypatch, block_bytes):
    monkeypatch.setattr(text_lines, "BLOCK_BYTES", block_bytes)
    links, text = write("l", "0-0\n0-2\n"), write("t", "a\nb c\n")
    with pytest.raises(InputError, match=r"l:2: links word 2, but that line of .*t has 2 words"):
        phrases(links, None, text)


def test_texts_must_have_a_line_for_each_line_of_links(write):
    with pytest.raises(InputError, match="line_count_mismatch"):
        phrases(write("l", "0-0\n0-0\n"), write("s", "a\n"))


def test_a_sentence_too_long_to_number_is_an_error(write):
    text = write("s", "a\n" + "a " * 32768)
    with pytest.raises(InputError, match=r":2: expected at most 32767 words.*found 32768"):
        phrases(write("l", "0-0\n0-0\n"), text)


def test_a_column_of_links_becomes_lines():
    table = symmetrized([(2, 2), (0, 0), (1, 40)], [[(0, 1), (1, 0)], [], [(0, 39)]])
    lines = pharaoh.format_links(table.column("links"))
    lines.validate(full=True)
    assert lines == pa.array(["0-1 1-0", "", "0-39"])
    assert pharaoh.format_links(table[1:].column("links")) == pa.array(["", "0-39"])
