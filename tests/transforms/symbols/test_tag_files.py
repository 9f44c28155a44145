"""Files of tags are encoded and decoded line by line, to the byte, or not at all."""

import bz2
import gzip
import json
import lzma

import pytest
import zstandard

from pairweave.pipelines import cli
from pairweave.transforms.storage.byte_streams import COMPRESSIONS
from pairweave.transforms.storage.text_lines import read_lines
from pairweave.transforms.storage.whole_files import open_whole
from tests.makers.marked_texts import TEMPLATE

SOURCE = "\ufeffthe <b>green <i>witch</i></b>\nplain < text\n\nsee <a_0> <br/>\r\nlast <b>é</b>"
TARGET = "la <b>bruja <i>verde</i></b>\ntexto\n<hr/>\nver <br/>\r\n<b>é</b> fin"


def run(capsys, *arguments):
    """Run a command; return its exit status and its last line as JSON, or its error."""
    status = cli.main(["tags", *map(str, arguments)])
    captured = capsys.readouterr()
    return status, json.loads(captured.out.splitlines()[-1]) if status == 0 else captured.err


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "src").write_bytes(SOURCE.encode())
    (tmp_path / "tgt").write_bytes(TARGET.encode())
    return tmp_path


def encode(capsys, folder, *more):
    return run(
        capsys,
        *("encode", "--input", folder / "src", "--output", folder / "out", "--table"),
        *(folder / "table", *more),
    )


def decode(capsys, folder, *more):
    return run(capsys, "decode", "--input", folder / "out", "--output", folder / "back", *more)


def test_a_file_comes_back_to_the_byte(capsys, folder):
    assert encode(capsys, folder, "--whitespace_shift") == (
        0,
        {
            "lines": 5,
            "tagged_lines": 3,
            "tags": 8,
            "literals": 0,
            "most_elements": 2,
            "lines_beyond_symbols": 0,
        },
    )
    assert (folder / "out").read_bytes() == (
        "\ufeffthe<a_0> green<a_1> witch</a_1></a_0>\nplain < text\n\nsee <a_0> <a_1/>\r\n"
        "last<a_0> é</a_0>"
    ).encode()
    assert len((folder / "table").read_text().splitlines()) == 5
    assert decode(capsys, folder, "--table", folder / "table")[1]["repaired_lines"] == 0
    assert (folder / "back").read_bytes() == SOURCE.encode()


def test_more_tags_than_a_model_knows_are_warned_of_with_their_number(capsys, folder):
    (folder / "src").write_text("<b/>" * 12 + "\n" + "<b/>" * 10 + "\n")
    arguments = ("tags", "encode", "--input", folder / "src", "--output", folder / "out")
    arguments = [str(value) for value in (*arguments, "--table", folder / "table")]
    assert cli.main(arguments) == 0
    warned = capsys.readouterr()
    assert json.loads(warned.out)["lines_beyond_symbols"] == 1
    assert "1 line has more than 10 tags, up to 12" in warned.err
    assert cli.main([*arguments, "--max_tags", "12"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("representation", "known"), [("xliff", 9), ("html", 9), ("indexed", 10)])
def test_each_representation_has_the_symbols_that_augment_lists(
    capsys, folder, representation, known
):
    how = ("--output", folder / "out", "--table", folder / "table")
    for number, beyond in ((known, 0), (known + 1, 1)):
        (folder / "src").write_text("<b/>" * number + "\n")
        words = ("--input", folder / "src", *how, "--representation", representation)
        assert cli.main(["tags", "encode", *map(str, words)]) == 0
        assert json.loads(capsys.readouterr().out)["lines_beyond_symbols"] == beyond


@pytest.mark.parametrize(
    "asked",
    [
        ("--representation", "indexed"),
        ("--representation", "xliff", "--whitespace_shift"),
        ("--representation", "masked"),
        ("--representation", "html", "--whitespace_shift"),
        ("--representation", "template", "--template", *TEMPLATE),
        ("--template", *TEMPLATE),
    ],
)
def test_the_table_or_the_source_says_what_was_there(capsys, folder, asked):
    for syntax in ("xml", "html", "xliff", "indexed"):
        how = (*asked, "--syntax", syntax)
        text = f'{SOURCE}\n<g id="1">x</g>' if syntax == "xliff" else SOURCE
        (folder / "src").write_bytes(text.encode())
        assert encode(capsys, folder, *how)[0] == 0
        assert decode(capsys, folder, "--table", folder / "table")[0] == 0
        assert (folder / "back").read_bytes() == text.encode()
        assert decode(capsys, folder, "--source", folder / "src", *how)[0] == 0
        assert (folder / "back").read_bytes() == text.encode()


def test_both_sides_of_pairs_are_encoded_together(capsys, folder):
    status, count = encode(
        capsys,
        folder,
        *("--target_input", folder / "tgt", "--target_output", folder / "tgt.out"),
        *("--target_table", folder / "tgt.table"),
    )
    assert (status, count["tags"], count["tagged_lines"]) == (0, 16, 4)
    assert (folder / "tgt.out").read_text().splitlines()[
        0
    ] == "la <a_0>bruja <a_1>verde</a_1></a_0>"
    assert (folder / "tgt.out").read_bytes().splitlines()[3] == b"ver <a_1/>"
    for text, table, raw in (("out", "table", SOURCE), ("tgt.out", "tgt.table", TARGET)):
        run(
            capsys,
            *("decode", "--input", folder / text, "--table", folder / table),
            *("--output", folder / "back"),
        )
        assert (folder / "back").read_bytes() == raw.encode()


def test_what_a_model_damaged_is_counted(capsys, folder):
    assert encode(capsys, folder)[0] == 0
    (folder / "out").write_text(
        "la bruja <a_1>verde <a_9>x\nplano\n\nver <a_0> <a_1/>\n</a_0>ultimo <a_0>é",
        encoding="utf-8",
    )
    assert decode(capsys, folder, "--table", folder / "table") == (
        0,
        {
            "lines": 5,
            "tags": 8,
            "dropped": 3,
            "spurious": 1,
            "moved": 2,
            "spaces": 0,
            "repaired_lines": 2,
        },
    )
    assert (folder / "back").read_text(encoding="utf-8").splitlines() == [
        "la bruja <i>verde x</i><b></b>",
        "plano",
        "",
        "ver <a_0> <br/>",
        "<b>ultimo </b>é",
    ]


def test_compressed_files_are_read_and_written(capsys, folder):
    (folder / "src.gz").write_bytes(gzip.compress(SOURCE.encode()))
    unpackers = (gzip.decompress, unzstd, lzma.decompress, bz2.decompress)
    for suffix, unpack in zip(COMPRESSIONS, unpackers, strict=True):
        names = [folder / f"{name}{suffix}" for name in ("out", "table", "back")]
        run(
            capsys,
            *("encode", "--input", folder / "src.gz", "--output", names[0], "--table", names[1]),
        )
        first = names[0].read_bytes()
        run(capsys, "encode", "--input", folder / "src", "--output", names[0], "--table", names[1])
        assert names[0].read_bytes() == first
        run(capsys, "decode", "--input", names[0], "--table", names[1], "--output", names[2])
        assert unpack(names[2].read_bytes()) == SOURCE.encode()


def test_text_that_repeats_itself_is_read_however_small_it_is(tmp_path):
    line = "x" * 999 + "\n"
    with open_whole(str(tmp_path / "text.zst")) as out:
        out.write(line.encode() * 20_000)
    assert (tmp_path / "text.zst").stat().st_size < 40_000
    assert sum(one.text + "\n" == line for one in read_lines(str(tmp_path / "text.zst"))) == 20_000


def unzstd(data):
    with zstandard.ZstdDecompressor().stream_reader(data) as reader:
        return reader.read()


def test_an_empty_file_gives_empty_files(capsys, folder):
    (folder / "src").write_bytes(b"")
    assert encode(capsys, folder)[1]["lines"] == 0
    assert (folder / "out").read_bytes() == (folder / "table").read_bytes() == b""


def refused(capsys, *arguments):
    status, message = run(capsys, *arguments)
    assert status == 2
    return message


def test_errors_name_the_file_and_the_line_and_leave_nothing_behind(capsys, folder):
    before = sorted(path.name for path in folder.iterdir())
    paths = ("--input", folder / "src", "--output", folder / "out", "--table", folder / "table")
    pair = ("--target_output", folder / "o", "--target_table", folder / "t")

    (folder / "tgt").write_bytes(b"a\n" * 7)
    message = refused(capsys, "encode", *paths, "--target_input", folder / "tgt", *pair)
    assert "src: ends after line 5" in message
    assert "tgt continues" in message

    (folder / "src").write_bytes(b"a\nb\nxy\xff\n")
    message = refused(capsys, "encode", *paths)
    assert "src:3: expected UTF-8, found 0xFF as byte 3 of the line; convert a file" in message
    assert "nothere: cannot be read" in refused(
        capsys, "encode", "--input", folder / "nothere", *paths[2:]
    )
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        "{",
        '{"whitespace_shift": false}',
        '{"whitespace_shift": false, "representation": "indexed"}',
        '{"whitespace_shift": false, "representation": 3, "order": "", "tags": []}',
        '{"whitespace_shift": false, "representation": [1, 2, 3], "order": "", "tags": []}',
        f'{{"whitespace_shift": 0, "representation": "html", "order": "<a_{"1" * 5_000}>"}}',
        '{"whitespace_shift": false, "representation": "indexed", "order": "<a_0>", "tags": [3]}',
        '{"whitespace_shift": 1, "representation": "indexed", "order": "", "tags": []}',
    ],
)
def test_a_line_that_is_no_table_is_named(capsys, folder, line):
    encode(capsys, folder)
    tables = (folder / "table").read_text().splitlines()
    (folder / "table").write_text("".join(f"{table}\n" for table in [tables[0], line, *tables[2:]]))
    assert "table:2: " in refused(
        capsys,
        *("decode", "--input", folder / "out", "--table", folder / "table"),
        *("--output", folder / "back"),
    )
    assert not (folder / "back").exists()


def test_options_that_contradict_each_other_are_refused(capsys, folder):
    paths = ("--input", folder / "src", "--output", folder / "out", "--table", folder / "table")
    decoded = ("--input", folder / "src", "--output", folder / "out")
    for arguments, message in (
        (("encode", *paths, "--target_input", folder / "tgt"), "belong together"),
        (("encode", *paths[:4], "--table", folder / "src"), "is named twice"),
        (("encode", *paths, "--representation", "template"), "needs --template"),
        (
            ("encode", *paths, "--representation", "html", "--template", *TEMPLATE),
            "exclude each other",
        ),
        (("encode", *paths, "--template", "<{index}>"), "three forms"),
        (("decode", *decoded), "give either --table"),
        (
            ("decode", *decoded, "--table", folder / "tgt", "--source", folder / "tgt"),
            "give either --table",
        ),
        (
            ("decode", *decoded, "--table", folder / "tgt", "--syntax", "html"),
            "--syntax applies only with --source",
        ),
        (("vocabulary",), "nothing to write"),
        (("vocabulary", "--sentencepiece", folder / "m"), "must be given together"),
        (("vocabulary", "--output", folder / "s", "--max_tags", 0), "greater than or equal to 1"),
    ):
        assert message in refused(capsys, *arguments)
    assert not (folder / "out").exists()


def test_a_source_in_another_syntax_is_refused_and_nothing_is_written(capsys, folder):
    (folder / "src").write_text("plain\n<b>one</b> two\n")
    status, errors = encode(capsys, folder, "--syntax", "xliff")
    assert status == 2
    assert f"{folder / 'src'}:2: expected tags of xliff, but 1 tag in 1 of 2 lines is xml" in errors
    assert not (folder / "out").exists()
    assert not (folder / "table").exists()


def test_the_translation_s_syntax_is_checked_by_itself(capsys, folder):
    (folder / "src").write_text('<g id="1">one</g>\n')
    (folder / "tgt").write_text("<b>eins</b>\n")
    sides = ("--target_input", folder / "tgt", "--target_output", folder / "out2")
    status, errors = encode(
        capsys, folder, "--syntax", "xliff", *sides, "--target_table", folder / "table2"
    )
    assert status == 2
    assert f"{folder / 'tgt'}:1: expected tags of xliff" in errors


def test_some_tags_in_another_syntax_are_warned_of(capsys, folder):
    (folder / "src").write_text('<g id="1">one</g>\n<b>two</b>\n')
    arguments = ("--input", folder / "src", "--output", folder / "out", "--table", folder / "table")
    assert cli.main(["tags", "encode", *map(str, arguments), "--syntax", "xliff"]) == 0
    errors = capsys.readouterr().err
    assert f"{folder / 'src'}:2: 1 tag in 1 of 2 lines is xml, not xliff" in errors


def test_decoding_by_a_source_in_another_syntax_is_refused(capsys, folder):
    (folder / "src").write_text("<b>one</b>\n")
    (folder / "out").write_text("<a_0>eins</a_0>\n")
    status, errors = decode(capsys, folder, "--source", folder / "src", "--syntax", "xliff")
    assert status == 2
    assert f"{folder / 'src'}:1: expected tags of xliff" in errors
    assert not (folder / "back").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("tags", "profile", "--input", "src", "--output", "profile.json"),
        ("evaluate", "tags", "src", "src"),
        ("evaluate", "judgements", "--source", "src", "--translation", "src", "--output", "sheet"),
    ],
)
def test_other_commands_refuse_files_in_another_syntax(capsys, folder, monkeypatch, command):
    monkeypatch.chdir(folder)
    (folder / "src").write_text("plain\n<b>one</b>\n")
    assert cli.main([*command, "--syntax", "xliff"]) == 2
    assert "src:2: expected tags of xliff, but 1 tag in 1 of 2 lines is xml" in (
        capsys.readouterr().err
    )
