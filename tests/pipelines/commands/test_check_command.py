"""The command ``check``."""

import json

import pytest

from pairweave.pipelines import cli
from tests.makers import runs


def write(directory, lines=40):
    (directory / "a.en").write_text("".join(f"This is line {n}.\n" for n in range(lines)))
    (directory / "a.de").write_text("".join(f"Das ist <b>Zeile</b> {n}.\n" for n in range(lines)))


def test_findings_are_shown_with_their_lines_and_what_mends_them(tmp_path):
    write(tmp_path)
    out = runs.run_well_here("check", "a.en", "a.de", cwd=tmp_path)
    assert "inline_tags: tags in texts" in out
    assert "a.en:1-40" in out
    assert "-> --inline_tags index" in out
    assert out.endswith("40 pairs read: 1 finding\n")


def test_findings_are_objects_in_json(tmp_path):
    write(tmp_path)
    words = ("check", "a.en", "a.de", "--log_format", "json")
    (finding,) = map(json.loads, runs.run_well_here(*words, cwd=tmp_path).splitlines())
    assert (finding["kind"], finding["file"], finding["count"]) == ("inline_tags", "a.en", 40)


def test_a_kind_can_end_the_command_with_a_failure(tmp_path):
    write(tmp_path)
    words = ("check", "a.en", "a.de", "--fail_on")
    assert runs.run_here(*words, "encoding", "inline_tags", cwd=tmp_path)[0] == 1
    assert runs.run_here(*words, "encoding,empty", cwd=tmp_path)[0] == 0


def test_files_can_be_named_by_the_options_of_jobs(tmp_path):
    write(tmp_path)
    expected = runs.run_well_here("check", "a.en", "a.de", cwd=tmp_path)
    words = ("check", "--source_input", "a.en", "--target_input", "a.de")
    assert runs.run_well_here(*words, cwd=tmp_path) == expected
    (tmp_path / "a.tsv").write_text("a house\tein Haus\n")
    out = runs.run_well_here("check", "--input", "a.tsv", cwd=tmp_path)
    assert out == "1 pairs read: nothing found\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.en", "a.de", "--source_input", "a.en"], "not both"),
        (["--source_input", "a.en"], "--target_input is missing"),
        (["--input", "a.tsv", "--source_input", "a.en"], "give one of them"),
        ([], "give files with both sides"),
    ],
)
def test_options_that_name_no_corpus_are_one_message(tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["check", *words]) == 2
    assert said in capsys.readouterr().err


def test_tables_are_read_in_their_format(tmp_path):
    (tmp_path / "a.csv").write_text("source;target\n" + "a house;ein Haus\n" * 3)
    out = runs.run_well_here("check", "a.csv", "--csv_delimiter", "semicolon", cwd=tmp_path)
    assert out == "3 pairs read: nothing found\n"


@pytest.mark.parametrize("words", [["a.en"], ["a.en", "a.tsv"], ["a.en", "a.de", "a.fr"]])
def test_files_that_are_no_corpus_are_one_message(tmp_path, monkeypatch, capsys, words):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["check", *words]) == 2
    assert "two files of text" in capsys.readouterr().err
