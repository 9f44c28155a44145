"""What a file is by its first bytes, and what is left to the readers of lines."""

import io
import json
import os
import pickle
import struct
import tarfile

import numpy as np
import pyarrow as pa
import pytest

from pairweave.transforms.errors import InputError
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.reading.known_content import HEAD_BYTES, known_content
from pairweave.transforms.units import CorpusInput

TMX = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!-- exported -->\n'
    '<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">\n<header/>\n</tmx>\n'
)


def what(content):
    """Return what a file is, if it is no text."""
    data = content.encode() if isinstance(content, str) else content
    known = known_content(data[:HEAD_BYTES])
    return known and known[1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (TMX, "a TMX file, which has both sides; give it as input with --format tmx"),
        (TMX.encode("utf-16"), "a TMX file"),
        ('\ufeff\n\n<xliff version="1.2">\n</xliff>\n', "an XLIFF file"),
        ("<xliff version='2.0'/>", "with --format xliff, or under a name ending in .xlf"),
        ('<srcset setid="a" srclang="any">\n', "a test set in XML or SGML"),
        ('<refset setid="a">\n', "write the text of each <seg> as a line"),
        ("<tstset>\n", "a test set"),
        ('<?xml version="1.0"?>\n<mteval>\n', "a test set"),
        ('<?xml version="1.0"?><dataset id="a">\n', "an XML document of <dataset>"),
        ('<!DOCTYPE TEI [\n<!ENTITY a "b">\n]>\n<TEI>\n', "an XML document of <TEI>"),
        ('\n<!doctype HTML PUBLIC "a">\n<html>\n', "an HTML page"),
        ('<?xml version="1.0"?>\n<html xmlns="a">\n', "an HTML page"),
        ("\n<HTML>\n", "an HTML page"),
        ("<!DOCTYPE html>\n<title>A page</title>\n", "an HTML page"),
    ],
)
def test_documents_of_markup_are_recognised_after_what_precedes_their_first_element(content, said):
    assert said in what(content)


@pytest.mark.parametrize(
    "text",
    [
        '<?xml version="1.0"?>\nis the first line of such a file.\n',
        "<!DOCTYPE>\nThe declaration.\n",
        "<b>Bold</b> text\n",
        "<tmx",
        "<srcsets> are many.\n",
        "<?php echo 1 ?>\n<p>Text</p>\n",
        "<!-- never closed " * 9_000,
        "",
    ],
)
def test_lines_that_mention_markup_are_text(text):
    assert what(text) is None


def test_texts_that_are_divided_by_zero_bytes_are_no_utf_16():
    text = "\0".join(["some words here and there"] * 500)
    assert what(text).startswith("a binary file")


@pytest.mark.parametrize(
    "text",
    [
        "Привет, мир.\n",
        "Καλημέρα κόσμε\n",
        "नमस्ते दुनिया\n",
        "テキストです。\n",
        "他们在学校里学习汉语。然后回家吃饭。\n",
        "Hello\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_encodings_of_any_script_are_named(text, encoding):
    named = encoding.upper()[:6]
    assert what((text * 400).encode(encoding)).startswith(f"{named} text without")


def test_a_few_control_characters_in_a_small_text_are_damage():
    assert what(b"a\0\nb\0\n") is None
    assert what(b"a\0\n" * 63) is None
    assert what(b"a\0\n" * 64) is not None


def test_a_word_at_the_place_of_a_mark_of_tar_is_text():
    text = f"{'Ein' + ' ' * 252}Neustart hilft.\n"
    assert text[257:262] == "ustar"
    assert what(text) is None


def archive(kind=tarfile.GNU_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=kind) as files:
        entry = tarfile.TarInfo("a.txt")
        entry.size = 2
        files.addfile(entry, io.BytesIO(b"a\n"))
    return out.getvalue()


def array():
    out = io.BytesIO()
    np.save(out, np.arange(3))
    return out.getvalue()


def arrow(make):
    out, table = io.BytesIO(), pa.table({"a": ["b"]})
    with make(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (archive(), "a tar archive"),
        (archive(tarfile.PAX_FORMAT), "a tar archive"),
        (array(), "an array of NumPy"),
        (arrow(pa.ipc.new_file), "an Arrow file"),
        (arrow(pa.ipc.new_stream), "an Arrow file"),
        *((pickle.dumps(["a"], protocol), "a pickle of Python") for protocol in range(2, 6)),
        (struct.pack("<I", 0x950412DE) + bytes(24), "a compiled catalogue of gettext; msgunfmt"),
        (struct.pack(">I", 0x950412DE) + bytes(24), "a compiled catalogue of gettext; msgunfmt"),
        (bytes(100), "a binary file, not text: 100 of its first 100 bytes are control"),
        (np.random.default_rng(1).bytes(2_000), "a binary file, not text: "),
        (np.random.default_rng(1).bytes(200_000).replace(b"\0", b"\1"), "a binary file"),
        (np.arange(9_000, dtype="<u2").tobytes(), "a binary file"),
        (np.random.default_rng(1).normal(size=999).tobytes(), "a binary file"),
    ],
)
def test_binary_files_are_recognised_and_no_encoding_is_advised(content, said):
    assert said in what(content)
    assert "iconv" not in what(content)


@pytest.mark.parametrize("encoding", ["UTF-16LE", "UTF-16BE", "UTF-32LE", "UTF-32BE"])
@pytest.mark.parametrize("line", ["Ein Satz für alle.\n", "这是一个句子。\n"])
def test_text_in_units_of_several_bytes_is_no_binary_file(encoding, line):
    text = line * 9_000
    assert f"iconv -f {encoding} -t UTF-8" in what(text.encode(encoding))
    with_mark = f"\ufeff{text}".encode(encoding)
    assert f"iconv -f {encoding[:6]} -t UTF-8" in what(with_mark)


@pytest.mark.parametrize("encoding", ["latin-1", "koi8-r", "shift-jis", "gb18030", "iso2022-jp"])
def test_text_in_other_encodings_is_left_to_the_readers_of_lines(encoding):
    lines = {"latin-1": "Wörter für Übung.\n", "koi8-r": "Предложение.\n"}
    assert what((lines.get(encoding, "これは文です。\n") * 500).encode(encoding)) is None


def test_some_damaged_lines_make_no_binary_file():
    lines = ["This is a sentence of usual length.\n"] * 1_000
    assert what("".join([*lines, *["A\0\x01.\n"] * 20])) is None
    assert what("A sen\x01tence.\n" * 1_000) is None  # each line is rejected, with its reason


def test_lines_that_end_with_carriage_returns_alone_are_told():
    assert r"convert them to line feeds with tr '\r' '\n'" in what("One.\rTwo.\rThree.")
    assert "convert them to line feeds" in what('source,target\r"a","b"\r"c","d"\r')
    assert "a binary file" in what(b"\0\1\r\x02\xff\r" * 100)
    assert what("One stray\rreturn.") is None
    assert what("One.\r\r\r") is None
    assert what("One.\rTwo.\rThree.\n") is None


def corpus(directory, **contents):
    for name, content in contents.items():
        (directory / name).write_bytes(content)
    source, target = (str(directory / name) for name in contents)
    return CorpusInput("en", "de", source_input=(source,), target_input=(target,))


def refused(directory, **contents):
    with pytest.raises(InputError) as caught:
        make_plan([corpus(directory, **contents)])
    return caught.value


def test_binary_files_are_refused_before_their_lines_are_compared(tmp_path):
    error = refused(tmp_path, a=os.urandom(5_000), b=b"text\n" * 3)
    assert (error.code, error.path) == ("unsupported_format", "a")
    assert "this is a binary file" in str(error)


def test_json_lines_are_no_side(tmp_path):
    rows = b"".join(json.dumps({"source": "a", "target": "b"}).encode() + b"\n" for _ in range(3))
    error = refused(tmp_path, a=b"text\n" * 3, b=rows)
    assert (error.code, error.path) == ("json_as_text", "b")
    assert "--format jsonl" in str(error)
    error = refused(tmp_path, a=b"text\n" * 3, b=rows * 4_000)
    assert error.code == "json_as_text"


def test_lines_with_braces_are_text(tmp_path):
    for line in (b"{0} files\n", b'{"a": 1}\n', b"{}\n", b'{"a": "b"} is JSON\n', b'"a"\n'):
        assert make_plan([corpus(tmp_path, a=b"text\n" * 2, b=line * 2)]).rows == 2
    mixed = b'{"a": "b"}\n{"a": "b"}\nA sentence.\n'
    assert make_plan([corpus(tmp_path, a=b"text\n" * 3, b=mixed)]).rows == 3
