"""Sides without letters, and columns or fields of which others than those read hold text."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairweave.transforms.findings import Finding
from pairweave.transforms.inspection.column_look import text_columns_of, text_columns_of_parquet
from pairweave.transforms.inspection.column_names import side_of
from pairweave.transforms.inspection.look import look_at
from pairweave.transforms.planning.plan import make_plan
from pairweave.transforms.units import CorpusInput, ReadLimits
from tests.transforms.inspection.test_file_look import look, sentences

SOURCE, TARGET = sentences("en")[:600], sentences("de")[:600]
SCORES = [f"{score:.4f}" for score in np.random.default_rng(1).random(600)]
IDS = [f"news/2017-{number // 20}#{number}" for number in range(600)]
FIELDS = "--source_field 2 --target_field 3"


def units_of(directory, rows, name="a.tsv", languages=("en", "de"), **options):
    """Write rows as TSV or as lines, and return the units of the file."""
    lines = (row if isinstance(row, str) else "\t".join(row) for row in rows)
    (directory / name).write_text("".join(f"{line}\n" for line in lines))
    corpus = CorpusInput(*languages, input=(str(directory / name),), **options)
    return make_plan([corpus], unit_rows=200).units


def found_in(directory, rows, name="a.tsv", languages=("en", "de"), **options) -> list[Finding]:
    units = units_of(directory, rows, name, languages, **options)
    return list(look_at(units, ReadLimits()))


@pytest.mark.parametrize(("side", "named"), [(0, "a.en"), (1, "a.de")])
def test_a_side_of_numbers_is_told(tmp_path, side, named):
    sides = [SOURCE, TARGET]
    sides[side] = SCORES
    (finding,) = look(tmp_path, *sides)
    assert (finding.kind, finding.count) == ("no_letters", 600)
    assert (finding.first_line, finding.last_line) == (1, 600)
    assert finding.file.endswith(named)
    assert f"have no letter, such as '{SCORES[0]}'" in finding.evidence
    assert finding.option == f"give a file with text as the {('source', 'target')[side]}"


@pytest.mark.parametrize(("numbers", "told"), [(300, 0), (301, 1)])
def test_numbers_are_told_if_they_are_more_than_half_of_a_side(tmp_path, numbers, told):
    actual = look(tmp_path, [*SCORES[:numbers], *SOURCE[numbers:]], TARGET)
    assert [each.kind for each in actual].count("no_letters") == told


@pytest.mark.parametrize("line", ["你好", "Привет", "สวัสดี", "नमस्ते", "<b>", "é"])
def test_text_in_any_script_has_letters(tmp_path, line):
    actual = look(tmp_path, [line] * 40, TARGET[:40], ("und", "und"))
    assert "no_letters" not in {each.kind for each in actual}


def test_a_few_lines_of_numbers_may_be_text(tmp_path):
    assert look(tmp_path, ["1", "2", "3"], ["1.", "2.", "3."]) == []


@pytest.mark.parametrize("languages", [("en", "de"), ("und", "und"), ("en", "pl")])
@pytest.mark.parametrize("rows", [600, 3])
def test_a_column_of_scores_before_the_texts_names_the_fields(tmp_path, languages, rows):
    table = list(zip(SCORES, SOURCE, TARGET, strict=True))[:rows]
    (finding,) = found_in(tmp_path, table, languages=languages)
    assert (finding.kind, finding.count, finding.option) == ("no_letters", rows, FIELDS)
    assert "columns 2 and 3 hold text" in finding.evidence


def test_a_column_of_ids_before_the_texts_names_the_fields(tmp_path):
    (finding,) = found_in(tmp_path, zip(IDS, SOURCE, TARGET, strict=True))
    assert (finding.kind, finding.option) == ("other_columns", FIELDS)
    assert (finding.first_line, finding.last_line, finding.count) == (1, 600, 600)


@pytest.mark.parametrize("text", ["打开文件的设置", "ファイルを開く", "เปิดไฟล์"])
def test_text_without_spaces_is_no_id(tmp_path, text):
    table = [(f"{text}{number}", line) for number, line in enumerate(TARGET)]
    actual = found_in(tmp_path, [(*row, IDS[0]) for row in table], languages=("und", "de"))
    assert actual == []
    actual = found_in(tmp_path, zip(IDS, *zip(*table, strict=True), strict=True))
    assert actual[0].option == FIELDS


def test_labels_between_the_texts_are_passed_over(tmp_path):
    table = zip(SOURCE, ["news commentary", "europarl"] * 300, TARGET, SCORES, strict=True)
    (finding,) = found_in(tmp_path, table)
    assert finding.kind == "other_columns"
    assert finding.option == "--source_field 1 --target_field 3"


def test_columns_in_the_order_of_the_target_are_named_by_their_languages(tmp_path):
    (finding,) = found_in(tmp_path, zip(SCORES, TARGET, SOURCE, strict=True))
    assert finding.option == "--source_field 3 --target_field 2"


def test_columns_in_one_language_are_not_chosen(tmp_path):
    other = [f"and for the {line}" for line in SOURCE]
    actual = found_in(tmp_path, zip(SCORES, SOURCE, other, strict=True))
    (finding,) = [each for each in actual if each.kind == "no_letters"]
    assert finding.option == "--source_field and --target_field name those with the texts"
    assert "columns 2 and 3 hold text" in finding.evidence


@pytest.mark.parametrize(
    "table",
    [
        (SOURCE, TARGET),
        (SOURCE, TARGET, SCORES),
        (SOURCE, TARGET, SOURCE),
        ([line.split()[0] + chr(97 + n % 26) for n, line in enumerate(SOURCE)], TARGET, IDS),
    ],
)
def test_texts_in_the_first_columns_are_no_finding(tmp_path, table):
    assert found_in(tmp_path, zip(*table, strict=True)) == []


def test_fields_that_are_given_are_no_finding(tmp_path):
    table = list(zip(SCORES, SOURCE, TARGET, strict=True))
    fields = {"source_field": "2", "target_field": "3"}
    assert found_in(tmp_path, table, **fields) == []
    fields = {"source_field": "1", "target_field": "3", "score_field": "2"}
    (finding,) = found_in(tmp_path, zip(SOURCE, SCORES, SCORES, strict=True), **fields)
    assert finding.kind == "no_letters"
    assert finding.option == "--source_field and --target_field name those with the texts"


@pytest.mark.parametrize(
    ("head", "languages"),
    [
        (("en", "de"), ("en", "de")),
        (("English", "German"), ("und", "und")),
        (("src", "tgt"), ("en", "de")),
        (("text_en", "text_de"), ("und", "und")),
        (("en-GB", "de-AT"), ("en", "de")),
    ],
)
def test_a_header_that_is_read_as_a_pair_is_told(tmp_path, head, languages):
    (finding,) = found_in(tmp_path, [head, *zip(SOURCE, TARGET, strict=True)], languages=languages)
    assert (finding.kind, finding.place[-2:], finding.count) == ("header", ":1", 1)
    assert finding.option == f"--source_field {head[0]} --target_field {head[1]}"


@pytest.mark.parametrize("head", [("en", "it"), ("no", "ja"), ("en", "en"), ("English", "a house")])
def test_a_first_pair_of_short_words_is_no_header(tmp_path, head):
    assert found_in(tmp_path, [head, *zip(SOURCE, TARGET, strict=True)]) == []


def test_names_of_languages_below_each_other_are_no_header(tmp_path):
    languages = ("English", "German"), ("French", "Italian")
    rows = [*languages, *zip(SOURCE, TARGET, strict=True)]
    assert found_in(tmp_path, rows, languages=("und", "und")) == []


@pytest.mark.parametrize("names", [("id", "english", "german"), ("no.", "original", "third text")])
def test_fields_are_named_by_their_header(tmp_path, names):
    (finding,) = found_in(tmp_path, [names, *zip(SCORES, SOURCE, TARGET, strict=True)])
    given = names[2] if names[2] == "german" else "'third text'"
    assert finding.option == f"--source_field {names[1]} --target_field {given}"
    assert f"columns 2 ({names[1]}) and 3 ({names[2]}) hold text" in finding.evidence


@pytest.mark.parametrize(
    ("name", "word"), [(" german", "' german'"), ("german  text ", "'german  text '")]
)
def test_names_are_those_of_the_header_exactly(tmp_path, name, word):
    names = ("id", "english", name)
    (finding,) = found_in(tmp_path, [names, *zip(SCORES, SOURCE, TARGET, strict=True)])
    assert finding.option == f"--source_field english --target_field {word}"
    assert f"and 3 ({' '.join(name.split())}) hold text" in finding.evidence


@pytest.mark.parametrize("value", ["nan", "None"])
def test_a_missing_first_score_makes_no_header(tmp_path, value):
    rows = [(value, "a house", "ein Haus"), *zip(SCORES, SOURCE, TARGET, strict=True)]
    (finding,) = found_in(tmp_path, rows)
    assert finding.option == FIELDS


@pytest.mark.parametrize("languages", [("en", "de"), ("de", "en"), ("und", "und")])
def test_fields_of_json_lines_are_named_with_the_options(tmp_path, languages):
    rows = [
        json.dumps({"id": number, "en": one, "de": other})
        for number, (one, other) in enumerate(zip(SOURCE, TARGET, strict=True))
    ]
    actual = found_in(tmp_path, rows, "a.jsonl", languages)
    assert [each.kind for each in actual] == ["other_columns", "unreadable"]
    assert "the fields are id, en, de" in actual[0].evidence
    first, second = ("de", "en") if languages[0] == "de" else ("en", "de")
    assert actual[0].option == f"--source_field {first} --target_field {second}"


def test_fields_that_are_not_clear_are_listed(tmp_path):
    rows = [
        json.dumps({"a": one, "b": other, "c": f"{other} {one}"})
        for one, other in zip(SOURCE, TARGET, strict=True)
    ]
    finding, _ = found_in(tmp_path, rows, "a.jsonl")
    assert "the fields are a, b, c" in finding.evidence
    assert finding.option == "--source_field and --target_field name those with the texts"
    (unit, *_) = units_of(tmp_path, rows, "a.jsonl", ("und", "und"))
    columns = text_columns_of(unit, ReadLimits(), detect=lambda texts: texts[0][:3])
    assert columns.options == {}
    languages = {SOURCE[0]: "en", TARGET[0]: "de"}
    columns = text_columns_of(unit, ReadLimits(), detect=lambda texts: languages.get(texts[0]))
    assert columns.options == {"source_field": "a", "target_field": "b"}


def test_languages_of_a_field_are_named_with_the_options(tmp_path):
    rows = [
        json.dumps({"id": "a", "translation": {"en": one, "de": other}})
        for one, other in zip(SOURCE, TARGET, strict=True)
    ]
    finding, _ = found_in(tmp_path, rows, "a.jsonl", ("und", "und"))
    assert finding.kind == "other_columns"
    assert finding.option == "--source_lang en --target_lang de"
    assert "the fields are translation.en, translation.de" in finding.evidence
    assert found_in(tmp_path, rows, "a.jsonl") == []


def test_columns_of_parquet_are_named(tmp_path):
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table({"id": range(600), "de": TARGET, "en": SOURCE}), path)
    options = {"source_field": "de", "target_field": "en"}
    assert text_columns_of_parquet(path).options == options
    pq.write_table(pa.table({"id": pa.array([], pa.int64())}), path)
    assert text_columns_of_parquet(path) is None


@pytest.mark.parametrize("name", ["", "A house", "text", "en_de", "id", "EN_DE", "he said"])
def test_other_names_are_of_no_side(name):
    assert side_of(name) is None


def test_columns_beyond_those_that_are_looked_at_may_be_read(tmp_path):
    numbers = [str(number) for number in range(40)]
    table = [(text, *["1"] * 70, number) for text, number in zip(SOURCE, numbers, strict=False)]
    fields = {"source_field": "1", "target_field": "72"}
    (finding,) = found_in(tmp_path, table, **fields)
    assert (finding.kind, finding.count) == ("no_letters", 40)


def test_a_column_may_be_both_sides(tmp_path):
    table = list(zip(SOURCE, SCORES, strict=True))
    actual = found_in(tmp_path, table, source_field="2", target_field="2")
    assert [each.kind for each in actual][:2] == ["no_letters", "no_letters"]


@pytest.mark.parametrize(
    ("languages", "option"),
    [
        (("und", "und"), "--source_field en --target_field de"),
        (("en", "de"), "--source_field en --target_field de"),
    ],
)
def test_columns_that_are_given_in_another_order_keep_it(tmp_path, languages, option):
    table = [("de", "en"), *zip(TARGET, SOURCE, strict=True)]
    fields = {"source_field": "2", "target_field": "1"}
    (finding,) = found_in(tmp_path, table, languages=languages, **fields)
    assert (finding.kind, finding.option) == ("header", option)


def test_a_parquet_file_may_have_times_that_python_does_not_know_or_no_rows(tmp_path):
    columns = {"en": SOURCE, "time": pa.array([2**61] * 600, pa.timestamp("us")), "de": TARGET}
    path = str(tmp_path / "a.parquet")
    pq.write_table(pa.table(columns), path)
    actual = text_columns_of_parquet(path)
    assert actual.options == {"source_field": "en", "target_field": "de"}
    assert actual.held == "the fields are en, time, de"
    with pq.ParquetWriter(path, pa.schema({"en": pa.string(), "de": pa.string()})):
        pass
    assert text_columns_of_parquet(path) is None
