"""The options of a first run, from a look at the files."""

import csv
import json
import re
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from pairweave.pipelines import cli
from pairweave.transforms.filtering import detectors
from tests.makers import corpora, runs
from tests.transforms.inspection.test_file_look import sentences


def write(directory, pairs=30):
    rows = [corpora.sentence(number) for number in range(pairs)]
    for side, name in enumerate(("corpus.en", "corpus.de")):
        (directory / name).write_text("".join(f"{row[side]}\n" for row in rows))
    (directory / "both.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))


def test_two_files_of_text_are_the_sides_of_a_corpus(tmp_path):
    write(tmp_path)
    out = runs.run_well_here(
        "init", "corpus.en", "corpus.de", "--output", "first.yaml", cwd=tmp_path
    )
    options = yaml.safe_load((tmp_path / "first.yaml").read_text())
    assert options["source_input"] == ["corpus.en"]
    assert options["target_input"] == ["corpus.de"]
    assert (options["source_lang"], options["target_lang"]) == ("en", "de")
    assert "# corpus.en: moses, 30 rows" in out
    assert "These options are in first.yaml now" in out
    assert out.splitlines()[-1] == (
        "pairweave augment --config first.yaml --keep_links --output first/"
    )
    for job in ("augment", "filter", "align", "fit"):
        runs.run_well_here(
            job, "--config", "first.yaml", "--output", "out", "--plan_only", cwd=tmp_path
        )


def test_a_file_with_both_sides_is_named_and_its_tags_are_seen(tmp_path):
    (tmp_path / "a.tsv").write_text("a <b>red</b> house\tein <b>rotes</b> Haus\n" * 3)
    out = runs.run_well_here("init", "a.tsv", cwd=tmp_path)
    options = yaml.safe_load((tmp_path / "pairweave.yaml").read_text())
    assert options["input"] == ["a.tsv"]
    assert options["inline_tags"] == "strip"
    assert "# 6 of the first 6 texts contain tags" in out


def test_the_delimiter_of_a_csv_file_is_found(tmp_path):
    (tmp_path / "a.csv").write_text("source;target\n" + '"a; b";c d\n' * 3)
    out = runs.run_well_here("init", "a.csv", cwd=tmp_path)
    options = yaml.safe_load((tmp_path / "pairweave.yaml").read_text())
    assert (options["input"], options["csv_delimiter"]) == (["a.csv"], "semicolon")
    assert "# a.csv: csv, 3 rows" in out
    (tmp_path / "b.csv").write_text('a,"b\n')
    status, _, errors = runs.run_here("init", "b.csv", "--output", "b.yaml", cwd=tmp_path)
    assert status == 2
    assert "b.csv:1: the record that begins here" in errors


def test_exchanged_sides_are_seen(tmp_path):
    pytest.importorskip("py3langid")
    write(tmp_path)
    (tmp_path / "corpus.de").rename(tmp_path / "x")
    (tmp_path / "corpus.en").rename(tmp_path / "corpus.de")
    (tmp_path / "x").rename(tmp_path / "corpus.en")
    out = runs.run_well_here("init", "corpus.en", "corpus.de", cwd=tmp_path)
    assert "source_lang: de  # detected, but the file's name says en" in out


@pytest.fixture
def no_detector(monkeypatch):
    """Have no detector of languages installed."""

    def load(name):
        raise detectors.ConfigError(name)

    monkeypatch.setattr(detectors, "load", load)


@pytest.mark.usefixtures("no_detector")
def test_without_a_detector_names_of_files_count(tmp_path):
    write(tmp_path)
    out = runs.run_well_here("init", "corpus.en", "corpus.de", cwd=tmp_path)
    assert "source_lang: en  # by the file's name" in out
    for old, new in (("corpus.en", "Corpus.de-en.en"), ("corpus.de", "Corpus.de-en.de")):
        (tmp_path / old).rename(tmp_path / new)
    (tmp_path / "pairweave.yaml").unlink()
    out = runs.run_well_here("init", "Corpus.de-en.en", "Corpus.de-en.de", cwd=tmp_path)
    assert "source_lang: en  # by the file's name" in out
    assert "target_lang: de  # by the file's name" in out
    (tmp_path / "pairweave.yaml").unlink()
    assert "source_lang: und  # not known" in runs.run_well_here("init", "both.tsv", cwd=tmp_path)


@pytest.mark.parametrize("words", [["corpus.en"], ["corpus.en", "both.tsv"]])
def test_files_that_are_no_corpus_are_one_message(tmp_path, monkeypatch, words, capsys):
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["init", *words]) == 2
    assert "two files of text" in capsys.readouterr().err


def test_a_file_is_not_written_over(tmp_path, monkeypatch, capsys):
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pairweave.yaml").write_text("seed: 3\n")
    assert cli.main(["init", "both.tsv"]) == 2
    assert "already exists" in capsys.readouterr().err
    assert (tmp_path / "pairweave.yaml").read_text() == "seed: 3\n"


NOTHING = {"zero bytes": b"", "a byte order mark": b"\xef\xbb\xbf", "NUL": b"\0" * 50}
NOTHING |= {"blanks": b"  \n\n \t\n", "a header": b"source,target\n"}


@pytest.mark.parametrize("content", NOTHING)
@pytest.mark.parametrize("ending", ["tsv", "csv", "po", "jsonl", "tmx", "xlf", "parquet", "en"])
def test_files_without_pairs_are_one_message_or_options(tmp_path, ending, content):
    names = ["a.en", "a.de"] if ending == "en" else [f"a.{ending}"]
    for name in names:
        (tmp_path / name).write_bytes(NOTHING[content])
    status, _, errors = runs.run_here("init", *names, cwd=tmp_path)
    assert status in (0, 2)
    assert (tmp_path / "pairweave.yaml").exists() == (status == 0)
    if status:
        assert errors.startswith(f"pairweave: {names[0]}")
        assert errors.count("\n") == 1


@pytest.mark.parametrize("names", [["a.tsv"], ["a.csv"], ["a.po"], ["a.jsonl"], ["a.en", "a.de"]])
def test_files_of_zero_bytes_have_no_pair_to_look_at(tmp_path, names):
    for name in names:
        (tmp_path / name).write_bytes(b"")
    status, _, errors = runs.run_here("init", *names, cwd=tmp_path)
    assert status == 2
    assert errors == (
        f"pairweave: {' '.join(names)}: has no pair to look at; give files with at least one\n"
    )


def test_an_empty_file_before_others_is_passed_over(tmp_path):
    write(tmp_path)
    (tmp_path / "a.tsv").write_bytes(b"")
    (tmp_path / "b.tsv").write_bytes((tmp_path / "both.tsv").read_bytes())
    out = runs.run_well_here("init", "a.tsv", "b.tsv", cwd=tmp_path)
    assert "# a.tsv: tsv, 0 rows" in out


def test_rows_of_which_none_is_a_pair_are_refused_with_the_first_reason(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"x": 1}\n')
    status, _, errors = runs.run_here("init", "x.jsonl", cwd=tmp_path)
    assert status == 2
    assert "x.jsonl:1: source: field 'source' is missing [missing_field]" in errors
    assert not (tmp_path / "pairweave.yaml").exists()


def write_columns(directory):
    """Write the same pairs as tables and as rows with other names, and return the files."""
    rows = [(n, *corpora.sentence(n)[:2]) for n in range(30)]
    names = ("id", "english", "german")
    lines = ("\t".join(map(str, row)) for row in rows)
    (directory / "a.tsv").write_text("".join(f"{line}\n" for line in lines))
    lines = (";".join(map(str, row)) for row in [names, *rows])
    (directory / "b.csv").write_text("".join(f"{line}\n" for line in lines))
    objects = [dict(zip(names, row, strict=True)) for row in rows]
    (directory / "c.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in objects))
    pq.write_table(pa.Table.from_pylist(objects), directory / "d.parquet")
    nested = ({"translation": {"en": source, "de": target}} for _, source, target in rows)
    (directory / "e.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in nested))
    return rows


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("a.tsv", {"source_field": "2", "target_field": "3"}),
        ("b.csv", {"source_field": "english", "target_field": "german"}),
        ("c.jsonl", {"source_field": "english", "target_field": "german"}),
        ("d.parquet", {"source_field": "english", "target_field": "german"}),
        ("e.jsonl", {}),
    ],
)
def test_the_fields_with_the_texts_are_written_and_told(tmp_path, name, fields):
    write_columns(tmp_path)
    out = runs.run_well_here("init", name, "--output", "o.yaml", cwd=tmp_path)
    options = yaml.safe_load((tmp_path / "o.yaml").read_text())
    assert {key: value for key, value in options.items() if key.endswith("_field")} == fields
    assert (options["source_lang"], options["target_lang"]) == ("en", "de")
    assert f"# {name}: {name.split('.')[1]}, 30 rows" in out
    assert "# by the contents of the first rows, " in out
    assert "no_letters" not in out
    assert "other_columns" not in out
    words = ("filter", "--config", "o.yaml", "--output", "out", "--plan_only")
    runs.run_well_here(*words, cwd=tmp_path)


@pytest.mark.parametrize(
    "names", [("id", " English", "German "), ("id", "English\ntext", "German")]
)
def test_fields_have_the_names_of_the_header_exactly(tmp_path, names):
    rows = [(number, *corpora.sentence(number)) for number in range(30)]
    with (tmp_path / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    runs.run_well_here("init", "a.csv", "--output", "o.yaml", cwd=tmp_path)
    options = yaml.safe_load((tmp_path / "o.yaml").read_text())
    assert (options["source_field"], options["target_field"]) == names[1:]
    words = ("filter", "--config", "o.yaml", "--output", "out", "--plan_only")
    runs.run_well_here(*words, cwd=tmp_path)


@pytest.mark.parametrize("stem", ["two\nlines", "two\u2028lines", "two\x85lines"])
def test_names_of_files_stay_within_a_comment(tmp_path, stem):
    for side, language in enumerate(("en", "de")):
        text = "".join(f"{corpora.sentence(number)[side]}\n" for number in range(30))
        (tmp_path / f"{stem}.{language}").write_text(text)
    names = [f"{stem}.{language}" for language in ("en", "de")]
    runs.run_well_here("init", *names, "--output", "o.yaml", cwd=tmp_path)
    options = yaml.safe_load((tmp_path / "o.yaml").read_text())
    assert [*options["source_input"], *options["target_input"]] == names
    words = ("filter", "--config", "o.yaml", "--output", "out", "--plan_only")
    runs.run_well_here(*words, cwd=tmp_path)


def test_a_damaged_parquet_file_with_other_columns_is_named(tmp_path):
    table = pa.table({"english": ["a house " * 50], "german": ["ein Haus " * 50]})
    pq.write_table(table, tmp_path / "a.parquet", compression="gzip", use_dictionary=False)
    data = bytearray((tmp_path / "a.parquet").read_bytes())
    place = pq.ParquetFile(tmp_path / "a.parquet").metadata.row_group(0).column(0).data_page_offset
    data[place : place + 60] = bytes(60)
    (tmp_path / "a.parquet").write_bytes(data)
    status, _, errors = runs.run_here("init", "a.parquet", cwd=tmp_path)
    assert status == 2
    assert errors.startswith("pairweave: a.parquet: its first rows cannot be read (")
    assert errors.endswith("; fetch or write the file again [parquet_corrupt]\n")


def test_files_with_other_columns_each_have_no_fields_in_common(tmp_path):
    rows = write_columns(tmp_path)
    lines = (f"{source}\t{target}\tx\n" for _, source, target in rows)
    (tmp_path / "f.tsv").write_text("".join(lines))
    out = runs.run_well_here("init", "a.tsv", "f.tsv", "--output", "o.yaml", cwd=tmp_path)
    assert "source_field" not in (tmp_path / "o.yaml").read_text()
    assert "-> --source_field 2 --target_field 3" in out


def test_fields_that_are_not_clear_are_named_with_the_options(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"x": 1, "text": "a house"}\n')
    status, _, errors = runs.run_here("init", "x.jsonl", cwd=tmp_path)
    assert status == 2
    assert "the fields are x, text, and --source_field and --target_field name those" in errors


@pytest.mark.usefixtures("no_detector")
def test_without_a_detector_names_of_fields_count(tmp_path):
    write_columns(tmp_path)
    out = runs.run_well_here("init", "c.jsonl", cwd=tmp_path)
    assert "source_lang: en  # by the field's name" in out
    assert "target_lang: de  # by the field's name" in out


def test_lxm_is_recognized_by_its_content(tmp_path):
    for name, text in (("en", "a house"), ("de", "ein Haus")):
        content = {"lang": name, "type": "source", "text": {"1": text}}
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    runs.run_well_here("init", "en.json", "de.json", "--output", "o.yaml", cwd=tmp_path)
    assert "format: lxm" in (tmp_path / "o.yaml").read_text()


def test_what_is_wrong_with_the_files_is_said(tmp_path):
    for name in ("en", "de"):
        lines = (f"<b>This</b> is {name} {number}.\n" for number in range(40))
        (tmp_path / f"a.{name}").write_text("".join(lines))
    said = runs.run_well_here("init", "a.en", "a.de", "--output", "o.yaml", cwd=tmp_path)
    assert "inline_tags: tags in texts" in said
    assert "\nThese options are in o.yaml now. To run" in said


def test_what_mends_a_finding_is_in_the_file_as_a_comment(tmp_path):
    source, target = sentences("en"), sentences("de")
    for first in (300, 900):
        block = target[first : first + 200]
        target[first : first + 200] = np.random.default_rng(first).permutation(block).tolist()
    target = [
        f"{line} \x93OK\x94" if number % 9 == 0 else line for number, line in enumerate(target)
    ]
    source[1_200:], target[1_200:] = target[1_200:], target[1_200:]
    for name, lines in (("a.en", source), ("a.de", target)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    out = runs.run_well_here("init", "a.en", "a.de", "--output", "o.yaml", cwd=tmp_path)
    assert "-> --misaligned reject leaves these lines out" in out
    assert "These options are in o.yaml now, those that mend findings as comments." in out
    text = (tmp_path / "o.yaml").read_text()
    assert re.search(
        r"^# misaligned: reject  # leaves lines (29\d|30\d) to (49\d|50\d) and \d+ to 1,\d+ out$",
        text,
        re.MULTILINE,
    )
    assert "\n# c1_controls: mend  # reads C1 control characters" in text
    assert "\n# drop_identical: true  # rejects pairs with the same text" in text
    assert not {"misaligned", "c1_controls", "drop_identical"} & yaml.safe_load(text).keys()
    used = re.sub(r"^# (\w+: \w+  #)", r"\1", text, flags=re.MULTILINE)
    (tmp_path / "used.yaml").write_text(used)
    assert yaml.safe_load(used)["misaligned"] == "reject"
    assert yaml.safe_load(used)["drop_identical"] is True
    for job in ("augment", "filter", "align", "fit"):
        words = (job, "--config", "used.yaml", "--output", "out", "--plan_only")
        runs.run_well_here(*words, cwd=tmp_path)


def test_languages_of_an_archive_are_those_of_its_names(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.cs-en.cs", "dům\n")
        archive.writestr("a.cs-en.en", "house\n")
    runs.run_well_here("init", "a.zip", "--output", "o.yaml", cwd=tmp_path)
    assert "source_lang: cs" in (tmp_path / "o.yaml").read_text()
