import gzip
import tempfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import ReadLimits
from tests.makers.reading import normal, pairs, read_all, read_plan, reasons, single, slow_lines


def write(directory: Path, data: bytes, name: str = "a.tsv") -> Path:
    path = directory / name
    path.write_bytes(data)
    return path


def test_fields_are_what_stands_between_tabs_and_nothing_is_a_dialect(tmp_path):
    data = b'"one\t"eins\n"two\nlines"\tNA\ntrue\t1\nnull\t\n\tempty\n\'\\t\\N\t#\n'
    rows = read_all(single(write(tmp_path, data)))
    assert pairs(rows) == [
        ('"one', '"eins'),
        ('lines"', "NA"),
        ("true", "1"),
        ("null", ""),
        ("", "empty"),
        ("'\\t\\N", "#"),
    ]
    assert reasons(rows) == [None, "field_count", None, None, None, None, None]


def test_a_wrong_number_of_fields_rejects_the_row_with_both_numbers(tmp_path):
    rows = read_all(single(write(tmp_path, b"a\tb\tc\nd\te\nf\n\ng\th\ti\tj\nk\tl\tm\n")))
    assert pairs(rows) == [("a", "b"), ("k", "l")]
    assert [(row["detail"], row["raw"]) for row in rows[1:5]] == [
        ("2 fields, expected 3", b"d\te"),
        ("1 fields, expected 3", b"f"),
        ("1 fields, expected 3", b""),
        ("4 fields, expected 3", b"g\th\ti\tj"),
    ]


def test_the_expected_number_of_fields_can_be_given(tmp_path):
    path = write(tmp_path, b"a\tb\tc\nd\te\n")
    assert reasons(read_all(single(path, field_count=2))) == ["field_count", None]


@pytest.mark.parametrize("last", [b"x", b"x\n", b"x\ty", b""])
def test_a_last_line_may_have_fewer_fields_than_a_column_needs(tmp_path, last):
    path = write(tmp_path, b"1\tmt\tde\ten\n" + last)
    rows = read_all(single(path, source_field="4", target_field="3", translation_field="2"))
    assert (rows[0]["source"], rows[0]["target"], rows[0]["translation"]) == ("en", "de", "mt")
    assert reasons(rows[1:]) == ["field_count"] * bool(last)


def test_columns_are_chosen_by_number(tmp_path):
    path = write(tmp_path, b"1\tmt\tde\ten\n")
    fields = {"source_field": "4", "target_field": "3", "translation_field": "2"}
    [row] = read_all(single(path, **fields))
    assert (row["source"], row["target"], row["translation"]) == ("en", "de", "mt")
    [row] = read_all(single(path))
    assert (row["source"], row["target"], row["translation"]) == ("1", "mt", None)


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_columns_are_chosen_by_the_names_of_a_header(tmp_path, suffix):
    pack = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}[suffix]
    data = b"\xef\xbb\xbfid\ten\tde\r\n1\tone\teins\r\n2\ttwo\tzwei\r\n"
    path = write(tmp_path, pack(data), f"a.tsv{suffix}")
    rows = read_all(single(path, source_field="en", target_field="de"), unit_rows=1)
    assert pairs(rows) == [("one", "eins"), ("two", "zwei")]
    assert [row["line"] for row in rows] == [2, 3]


@pytest.mark.parametrize("fields", [{}, {"score_field": "score"}])
def test_the_names_source_and_target_are_a_header_unless_numbers_are_given(tmp_path, fields):
    path = write(tmp_path, b"score\tsource\ttarget\n0.5\ta\tb\n")
    assert pairs(read_all(single(path, **fields))) == [("a", "b")]
    assert pairs(read_all(single(path, source_field="2", target_field="3")))[0] == (
        "source",
        "target",
    )
    path = write(tmp_path, b"source\ttarget\na\tb\n")
    assert pairs(read_all(single(path))) == [("a", "b")]
    assert pairs(read_all(single(write(tmp_path, b"source\tb\n")))) == [("source", "b")]


def test_a_first_line_is_a_pair_if_another_column_is_given_by_its_number(tmp_path):
    path = write(tmp_path, b"source\ttarget\t0.5\na\tb\t0.5\n")
    assert pairs(read_all(single(path, score_field="3"))) == [("source", "target"), ("a", "b")]


def test_a_header_alone_is_no_rows(tmp_path):
    path = write(tmp_path, b"en\tde")
    plan = make_plan([single(path, source_field="en", target_field="de")])
    assert plan.rows == 0
    assert [notice.code for notice in plan.notices] == ["empty_file"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "wanted columns 1, 2; the first line has 1 field"),
        ({"source_field": "en", "target_field": "de"}, "wanted en, de in the header; found one"),
        ({"source_field": "0", "target_field": "1"}, "wanted columns 0, 1"),
    ],
)
def test_columns_that_are_not_there_are_an_error_that_lists_what_is(tmp_path, fields, message):
    with pytest.raises(InputError) as caught:
        make_plan([single(write(tmp_path, b"one\n"), **fields)])
    assert caught.value.code == "missing_column"
    assert message in str(caught.value)


def test_a_name_that_several_columns_have_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(InputError, match="the header has 2 columns named source; rename all but"):
        make_plan([single(write(tmp_path, b"source\tsource\ttarget\na\tb\tc\n"))])


def test_numbers_and_names_cannot_be_mixed(tmp_path):
    with pytest.raises(ConfigError, match="all fields by number or all by name"):
        make_plan([single(write(tmp_path, b"en\tde\n"), source_field="en")])


def test_a_first_line_too_long_to_count_asks_for_the_count(tmp_path):
    path = write(tmp_path, b"a" * 99 + b"\tb\nc\td\n")
    limits = ReadLimits(max_line_bytes=50)
    with pytest.raises(InputError, match="give field_count"):
        make_plan([single(path)], limits)
    rows = read_all(single(path, field_count=2), limits=limits)
    assert reasons(rows) == ["line_too_long", None]
    assert rows[0]["detail"] == "line: 101 bytes, max_line_bytes is 50"


@pytest.mark.parametrize("batch_rows", [1, 2, 4])
def test_a_line_over_the_limit_rejects_its_row_in_any_batch(tmp_path, batch_rows):
    path = write(tmp_path, b"a\tb\nc\td\n" + b"x" * 99 + b"\ty\ne\tf\n")
    rows = read_all(single(path), limits=ReadLimits(max_line_bytes=50), batch_rows=batch_rows)
    assert reasons(rows) == [None, None, "line_too_long", None]


def test_bad_bytes_are_placed_in_the_line_and_spare_the_other_side(tmp_path):
    rows = read_all(single(write(tmp_path, b"ab\tc\xffd\ne\0f\tg\n\xff\x01\tx\n")))
    assert reasons(rows) == ["invalid_utf8", "control_char", "invalid_utf8"]
    assert [row["detail"] for row in rows] == [
        "target: 0xFF at byte 4 of the line, byte 4 of the file",
        "source: U+0000 at byte 1 of the line",
        "source: 0xFF at byte 0 of the line, byte 13 of the file",
    ]
    assert [(row["source"], row["target"]) for row in rows] == [
        ("ab", None),
        (None, "g"),
        (None, "x"),
    ]


def test_bad_bytes_in_a_column_that_is_not_read_do_no_harm(tmp_path):
    rows = read_all(single(write(tmp_path, b"a\tb\t\xff\0\nc\td\te\n")))
    assert pairs(rows) == [("a", "b"), ("c", "d")]


FIELDS = [b"a", b"", b"\xc3\xbc", b"\xff", b"\0", b"x" * 30, b"\r"]


@settings(max_examples=60)
@given(
    rows=st.lists(st.lists(st.sampled_from(FIELDS), min_size=1, max_size=4), max_size=20),
    unit_rows=st.integers(1, 7),
    batch_rows=st.integers(1, 7),
)
def test_rows_are_what_splitting_each_line_gives_however_they_are_cut(rows, unit_rows, batch_rows):
    data = b"".join(b"\t".join(row) + b"\n" for row in [[b"s", b"t", b"u"], *rows])
    limits = ReadLimits(max_line_bytes=40)
    expected = []
    for raw in data.split(b"\n")[:-1]:
        raw = raw.removesuffix(b"\r")
        if len(raw) > 40:
            expected.append((None, None, "line_too_long"))
        elif raw.count(b"\t") != 2:
            expected.append((None, None, "field_count"))
        else:
            (source, first), (target, second) = (
                slow_lines(field + b"\n\n", 99)[0]
                if not field.endswith(b"\r")
                else (None, "control_char")
                for field in raw.split(b"\t")[:2]
            )
            expected.append((source, target, first or second))
    with tempfile.TemporaryDirectory() as name:
        path = write(Path(name), data)
        actual = read_all(single(path), limits=limits, unit_rows=unit_rows, batch_rows=batch_rows)
        assert [(row["source"], row["target"], row["reason"]) for row in actual] == expected
        packed = write(Path(name), gzip.compress(data), "a.tsv.gz")
        assert normal(read_all(single(packed), limits=limits)) == normal(actual)


def test_zero_bytes_are_no_rows_and_zero_bytes_of_gzip_an_error(tmp_path):
    plan = make_plan([single(write(tmp_path, b""))])
    assert read_plan(plan) == []
    with pytest.raises(InputError, match="gzip_truncated"):
        make_plan([single(write(tmp_path, b"", "a.tsv.gz"))])
