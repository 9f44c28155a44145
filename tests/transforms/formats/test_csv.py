import csv
import gzip
import io
import tempfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import ReadLimits
from tests.makers.reading import pairs, read_all, read_plan, reasons, single


def write(directory, data, name="a.csv"):
    path = directory / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def rows_of(directory, data, **options):
    return read_all(single(write(directory, data), **options))


def test_quoted_fields_may_have_delimiters_quotes_and_line_ends(tmp_path):
    rows = rows_of(
        tmp_path,
        '"One, two","Eins, zwei"\r\n"a ""b""","c\r\nd\n\ne"\r\nf,"g"\r\nno "quote",5" ist kurz\r\n',
    )
    assert pairs(rows) == [
        ("One, two", "Eins, zwei"),
        ('a "b"', "c\nd\n\ne"),
        ("f", "g"),
        ('no "quote"', '5" ist kurz'),
    ]
    assert [row["line"] for row in rows] == [1, 2, 6, 7]


def test_columns_are_chosen_by_the_names_of_the_header(tmp_path):
    data = '\ufeffid,"the\nde",en,score\n1,Eins,One,0.5\n2,Zwei,Two,x\n'
    names = {"source_field": "en", "target_field": "the\nde", "score_field": "score"}
    rows = rows_of(tmp_path, data, **names)
    assert [(row["source"], row["target"], row["score"]) for row in rows] == [
        ("One", "Eins", 0.5),
        ("Two", "Zwei", None),
    ]
    assert reasons(rows) == [None, "wrong_type"]
    assert [row["line"] for row in rows] == [3, 4]
    with pytest.raises(InputError, match=r"wanted en, x in the header; found id, the\nde, en, sc"):
        rows_of(tmp_path, data, source_field="en", target_field="x")
    with pytest.raises(ConfigError, match="all fields by number or all by name"):
        rows_of(tmp_path, data, source_field="en", target_field="2")


@pytest.mark.parametrize(("name", "sign"), [("semicolon", ";"), ("tab", "\t")])
def test_the_delimiter_can_be_chosen(tmp_path, name, sign):
    rows = rows_of(tmp_path, f'"a{sign}b"{sign}c,d\n', csv_delimiter=name)
    assert pairs(rows) == [(f"a{sign}b", "c,d")]


def test_rows_with_problems_are_rejected_and_the_others_are_read(tmp_path):
    rows = rows_of(tmp_path, b'a,b\n\nc\nd,e,f\n"\xff\n",g\n"\x00",h\ni\rj,"\r"\n')
    assert reasons(rows) == [
        None,
        *["field_count"] * 3,
        "invalid_utf8",
        "control_char",
        None,
    ]
    assert [row["line"] for row in rows] == [1, 2, 3, 4, 5, 7, 8]
    assert rows[3]["detail"] == "3 fields, expected 2"
    assert rows[3]["raw"] == b"d,e,f"
    assert (rows[6]["source"], rows[6]["target"]) == ("i\rj", "\r")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('a,b\nc,"d\ne,f\n', "a.csv:2: the record that begins here: unexpected end of data"),
        ('a,b\n"c"d,e\n', "a.csv:2: the record that begins here: ',' expected after '\"'"),
        (
            f'a,b\n"{"c" * 30}\n{"d" * 30}",e\n',
            "a.csv:2: the record that begins here has more than 50 bytes",
        ),
        ("a,b\n" + '"\n",' * 20 + "c\n", "a.csv:2: the record that begins here has more than 50"),
        (f"a,b\n{'c' * 60},d\n", "a.csv:2: the record that begins here has more than 50 bytes"),
    ],
)
def test_a_file_whose_records_cannot_be_told_apart_is_refused(tmp_path, data, message):
    with pytest.raises(InputError, match="csv_syntax") as caught:
        make_plan([single(write(tmp_path, data))], ReadLimits(max_line_bytes=50))
    assert message in str(caught.value)


def test_the_size_of_a_record_is_that_of_all_its_bytes(tmp_path):
    path = write(tmp_path, f"a,b\n{'c' * 48},d\n")
    assert len(read_all(single(path), limits=ReadLimits(max_line_bytes=50))) == 2
    with pytest.raises(InputError, match="more than 49 bytes"):
        make_plan([single(path)], ReadLimits(max_line_bytes=49))
    path = write(tmp_path, f"a,b\n{'c' * 6000},d\n")
    with pytest.raises(InputError, match="more than 5000 bytes"):
        make_plan([single(path)], ReadLimits(max_line_bytes=5000))


def test_every_record_of_a_long_file_is_counted(tmp_path):
    path = write(tmp_path, "source,target\n" + "a,b\n" * 1_500)
    plan = make_plan([single(path)])
    assert plan.rows == len(read_plan(plan)) == 1_500


def test_a_compressed_file_is_read_like_a_plain_one(tmp_path):
    data = b'en,de\n"a\nb",c\nd,e\n'
    plain = rows_of(tmp_path, data, source_field="en", target_field="de")
    path = write(tmp_path, gzip.compress(data), "b.csv.gz")
    packed = read_all(single(path, source_field="en", target_field="de"))
    assert pairs(plain) == pairs(packed) == [("a\nb", "c"), ("d", "e")]


@pytest.mark.parametrize("data", ["", "\ufeff", "en,de\n"])
def test_a_file_without_records_has_no_rows(tmp_path, data):
    plan = make_plan([single(write(tmp_path, data), source_field="en", target_field="de")])
    assert plan.rows == 0


TEXTS = st.text(st.sampled_from(list('ab ,;"\n\té猫')), min_size=1, max_size=8)


@settings(deadline=None)
@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=12), st.integers(1, 4), st.booleans())
def test_what_the_library_writes_is_read_back(rows, batch_rows, quote_all):
    text = io.StringIO()
    quoting = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    csv.writer(text, quoting=quoting).writerows(rows)
    with tempfile.TemporaryDirectory() as directory:
        plan = make_plan([single(write(Path(directory), text.getvalue()))])
        assert pairs(read_plan(plan, batch_rows=batch_rows)) == rows


def test_a_first_record_of_the_names_source_and_target_is_a_header(tmp_path):
    rows = rows_of(tmp_path, "id,target,source\n1,Eins,One\n")
    assert pairs(rows) == [("One", "Eins")]
    given = rows_of(tmp_path, "source,target\nOne,Eins\n", source_field="1", target_field="2")
    assert pairs(given) == [("source", "target"), ("One", "Eins")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            "One;Eins\n",
            "a.csv:1: the first line has no comma, but a semicolon; give --csv_delimiter",
        ),
        ("\nOne,Eins\n", "a.csv:1: the first line is blank"),
    ],
)
def test_a_first_line_without_fields_is_refused_with_what_helps(tmp_path, data, message):
    with pytest.raises(InputError) as caught:
        rows_of(tmp_path, data)
    assert message in str(caught.value)


@pytest.mark.parametrize(("name", "sign"), [("semicolon", ";"), ("tab", "\t")])
def test_a_quoted_file_with_another_delimiter_is_refused_with_its_name(tmp_path, name, sign):
    with pytest.raises(InputError, match=f"divides it: give --csv_delimiter {name}. A quoted"):
        rows_of(tmp_path, f'"source"{sign}"target"\n"One, two"{sign}"Eins"\n')
    with pytest.raises(InputError, match=r"""expected after '"'\. A quoted field"""):
        rows_of(tmp_path, f'"One" two{sign}"Eins"\n')


def test_the_delimiter_of_a_refused_file_is_not_advised(tmp_path):
    with pytest.raises(InputError, match=r"a\.csv:2: .*unexpected end of data\. A quoted field"):
        rows_of(tmp_path, 'One,Eins\n"Two,\nThree,Drei\n')


SEMICOLONS = "two, white;zwei, weiße\n" + "a;b\n" * 8 + "c;d,e;f\n"


def test_a_file_that_another_delimiter_divides_better_is_refused_with_its_name(tmp_path):
    said = (
        "a.csv:1: the first record has 3 fields, but 9 of the first 10 have another number; "
        "divided at each semicolon, 9 have 2: give --csv_delimiter semicolon"
    )
    with pytest.raises(InputError, match=said):
        rows_of(tmp_path, SEMICOLONS)
    assert len(rows_of(tmp_path, SEMICOLONS, csv_delimiter="semicolon")) == 10


@pytest.mark.parametrize(
    "rows",
    [
        "a;b,c\n" * 5 + "d;e\n" * 5,  # half have the fields of the first
        "a,b\n" + "c;d\n" * 7 + "e;f;g\n" * 2,  # the other delimiter divides them unequally
    ],
)
def test_a_file_that_no_other_delimiter_divides_better_is_read(tmp_path, rows):
    assert len(rows_of(tmp_path, rows)) == 10


def test_fields_that_are_not_wanted_cost_no_memory(tmp_path):
    path = write(tmp_path, ("," * 100_000 + "\n") * 100)
    plan = make_plan([single(path)])
    tracemalloc.start()
    rows = read_plan(plan)
    assert len(rows) == 100
    assert tracemalloc.get_traced_memory()[1] < 45 << 20
    tracemalloc.stop()


def test_the_raw_line_of_a_reject_has_the_delimiter(tmp_path):
    (row,) = rows_of(tmp_path, "a;b\nc;d;e\n", csv_delimiter="semicolon")[1:]
    assert (row["reason"], row["raw"]) == ("field_count", b"c;d;e")
