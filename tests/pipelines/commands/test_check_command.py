"""The command ``check``."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pytest

from pairweave.pipelines import cli
from pairweave.pipelines.run import input_look
from pairweave.transforms.text import text_tables
from tests.makers import runs


def write(directory, lines=40):
    (directory / "a.en").write_text("".join(f"This is line {n}.\n" for n in range(lines)))
    (directory / "a.de").write_text("".join(f"Das ist <b>Zeile</b> {n}.\n" for n in range(lines)))


def test_findings_are_shown_with_their_lines_and_what_mends_them(tmp_path):
    write(tmp_path)
    out = runs.run_well_here("check", "a.en", "a.de", cwd=tmp_path)
    assert "inline_tags: tags in texts" in out
    assert "a.de:1-40" in out
    assert "-> --inline_tags index" in out
    assert out.endswith("40 pairs read: 1 finding\n")


def test_findings_are_objects_in_json(tmp_path):
    write(tmp_path)
    words = ("check", "a.en", "a.de", "--log_format", "json")
    (finding,) = map(json.loads, runs.run_well_here(*words, cwd=tmp_path).splitlines())
    assert (finding["kind"], finding["file"], finding["count"]) == ("inline_tags", "a.de", 40)


def test_a_kind_can_end_the_command_with_a_failure(tmp_path):
    write(tmp_path)
    words = ("check", "a.en", "a.de", "--fail_on")
    assert runs.run_here(*words, "encoding", "inline_tags", cwd=tmp_path)[0] == 1
    assert runs.run_here(*words, "encoding,empty", cwd=tmp_path)[0] == 0


def test_a_fitted_aligner_shows_stretches_that_lines_do_not(tmp_path):
    draws = np.random.default_rng(5)
    names = ["".join(draws.permutation([*"bcdfghjk"])[:5]) for _ in range(60)]
    rows = draws.choice(names, (600, 6)).tolist()
    source = [" ".join(row) for row in rows]
    target = [" ".join(f"{name[::-1]}o" for name in row) for row in rows]
    target[300:330] = target[317:330] + target[300:317]
    for name, lines in (("a.en", source), ("a.de", target)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    texts = ("--source_input", "a.en", "--target_input", "a.de")
    languages = ("--source_lang", "en", "--target_lang", "de", "--check", "none")
    runs.run_well_here("fit", *texts, *languages, "--output", "model", cwd=tmp_path)
    assert "misaligned" not in runs.run_well_here("check", "a.en", "a.de", cwd=tmp_path)
    out = runs.run_well_here("check", "a.en", "a.de", "--model", "model", cwd=tmp_path)
    assert "lines that are not translations of their counterparts\n  a.en:301-330" in out


def test_pairs_are_judged_alike_in_any_number_at_once(tmp_path, monkeypatch):
    texts = pa.array(["a b c", "b c", "c a", "a x y z"]), pa.array(["A B C", "B C", "C A", "A"])
    for name, side in zip(("a.en", "a.de"), texts, strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in side.to_pylist() * 30))
    files = ("--source_input", "a.en", "--target_input", "a.de", "--check", "none")
    languages = ("--source_lang", "en", "--target_lang", "de")
    runs.run_well_here("fit", *files, *languages, "--output", "model", cwd=tmp_path)
    asked, made = set(), text_tables.token_table

    def noted(sides, tokens, given):
        asked.add(given)
        return made(sides, tokens, given)

    monkeypatch.setattr(text_tables, "token_table", noted)
    judge = input_look._coverage_by(str(tmp_path / "model"))
    whole = judge(texts, ("en", "de"))
    assert whole[3] == whole.min() < 0.5
    monkeypatch.setattr(input_look, "_PAIRS_AT_ONCE", 3)
    np.testing.assert_array_equal(judge(texts, ("und", "fr")), whole)
    assert asked == {("en", "de"), ("en", "fr")}


def test_an_aligner_that_is_not_there_is_told(tmp_path):
    write(tmp_path)
    status, _, errors = runs.run_here("check", "a.en", "a.de", "--model", "model", cwd=tmp_path)
    assert status == 2
    assert "--model model: no fitted aligner there" in errors


def test_an_empty_file_is_a_finding(tmp_path):
    for name in ("a.en", "a.de"):
        (tmp_path / name).write_text("")
    status, out, errors = runs.run_here("check", "a.en", "a.de", cwd=tmp_path)
    assert (status, errors) == (0, "")
    assert "empty_file: files without a pair\n  a.en\n    zero bytes; nothing was read" in out
    assert out.endswith("0 pairs read: 2 findings\n")
    words = ("check", "a.en", "a.de", "--fail_on", "empty_file", "--log_format", "json")
    status, out, _ = runs.run_here(*words, cwd=tmp_path)
    assert status == 1
    assert [json.loads(line)["file"] for line in out.splitlines()] == ["a.en", "a.de"]


def test_one_file_on_both_sides_is_one_finding(tmp_path):
    (tmp_path / "a.en").write_text("".join(f"This is sentence {n}.\n" for n in range(100)))
    status, out, errors = runs.run_here("check", "a.en", "a.en", cwd=tmp_path)
    assert (status, errors) == (0, "")
    assert "copied: pairs with the same text on both sides\n  a.en\n    the target is" in out
    assert out.endswith("100 pairs read: 1 finding\n")
    status = runs.run_here("check", "a.en", "a.en", "--fail_on", "copied", cwd=tmp_path)[0]
    assert status == 1


def test_files_can_be_named_by_the_options_of_jobs(tmp_path):
    write(tmp_path)
    expected = runs.run_well_here("check", "a.en", "a.de", cwd=tmp_path)
    words = ("check", "--source_input", "a.en", "--target_input", "a.de")
    assert runs.run_well_here(*words, cwd=tmp_path) == expected
    (tmp_path / "a.tsv").write_text("a house\tein Haus\n")
    out = runs.run_well_here("check", "--input", "a.tsv", cwd=tmp_path)
    assert out == "1 pair read: nothing found\n"


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


@pytest.mark.parametrize("command", ["check", "init"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["folder"], "folder: is a directory; give files with both sides"),
        (["nothing"], "nothing: no such file; give files"),
        (["a.json"], "a.json: is JSON, which is read as lines (.jsonl, or --format jsonl)"),
        (["a.tsv", "a.en"], "a.en: its name does not tell its format (--format does), and text"),
    ],
)
def test_what_is_no_corpus_is_named_with_what_it_is(tmp_path, command, words, said):
    (tmp_path / "folder").mkdir()
    for name in ("a.en", "a.tsv", "a.json"):
        (tmp_path / name).write_text("[]")
    status, _, errors = runs.run_here(command, *words, cwd=tmp_path)
    assert status == 2
    assert errors.startswith(f"pairweave: {said}")


@pytest.mark.parametrize("command", ["check", "init"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["n.zip.en", "n.de"], "n.zip.en: this is a zip archive"),
        (["n.de", "n.zip.en"], "n.zip.en: this is a zip archive"),
        (["n.zip.en"], "n.zip.en: is a zip archive; give one of OPUS for Moses with input, and"),
        (["n.fr", "n.de", "n.zip.en"], "n.zip.en: is a zip archive; give one of OPUS"),
    ],
)
def test_a_file_that_is_no_text_is_named_and_not_the_other(tmp_path, command, words, said):
    for name, content in (("n.zip.en", b"PK\x03\x04"), ("n.de", b"ja\n"), ("n.fr", b"oui\n")):
        (tmp_path / name).write_bytes(content)
    status, _, errors = runs.run_here(command, *words, cwd=tmp_path)
    assert status == 2
    assert errors.startswith(f"pairweave: {said}")


@pytest.mark.parametrize("command", ["check", "init"])
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.dat", "b.dat"], "a.dat: this is a binary file, not text: "),
        (["a.dat"], "a.dat: is a binary file, not text: "),
        (["a.txt", "a.txt"], "a.txt: this is a TMX file, which has both sides; give it as input"),
        (["a.txt"], "a.txt: is a TMX file, which has both sides; give it as input with --format"),
        (["a.log", "a.log"], "a.log: this is JSON lines, each an object; give one file with both"),
        (["a.log"], "a.log: is JSON lines, each an object; give one file with both sides as input"),
    ],
)
def test_what_is_no_text_is_told_before_lines_are_compared(tmp_path, command, words, said):
    (tmp_path / "a.dat").write_bytes(bytes(range(256)) * 20)
    (tmp_path / "b.dat").write_bytes(bytes(range(256)) * 30)
    (tmp_path / "a.txt").write_text('<?xml version="1.0"?>\n<tmx version="1.4">\n</tmx>\n')
    (tmp_path / "a.log").write_text('{"source": "a", "target": "b"}\n' * 3)
    status, out, errors = runs.run_here(command, *words, cwd=tmp_path)
    assert (status, out) == (2, "")
    assert errors.startswith(f"pairweave: {said}")


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_json_is_told_alike_by_check_and_by_jobs(tmp_path, name):
    (tmp_path / name).write_bytes(b"[]" if name == "a.json" else gzip.compress(b"[]"))
    out = "--source_lang", "en", "--target_lang", "de", "--output", "out"
    for words in (("check", name), ("augment", "--input", name, *out)):
        status, _, errors = runs.run_here(*words, cwd=tmp_path)
        assert status == 2
        assert errors.startswith(
            f"pairweave: {name}: is JSON, which is read as lines (.jsonl, or --format jsonl), each "
            "an object with source and target; "
        )


@pytest.mark.parametrize("command", ["check", "init"])
def test_json_documents_of_the_two_sides_are_no_text(tmp_path, command):
    for name in ("en.json", "de.json"):
        (tmp_path / name).write_text('{\n  "hello": "Hello",\n  "bye": "Bye"\n}\n')
    status, _, errors = runs.run_here(command, "en.json", "de.json", cwd=tmp_path)
    assert status == 2
    assert errors.startswith("pairweave: en.json: this is one JSON object, and text must have a")


def test_try_names_the_options_for_files(tmp_path):
    status, _, errors = runs.run_here("try", "a.en", "a.de", cwd=tmp_path)
    assert status == 2
    assert "unexpected argument 'a.en': files are given by options: --source_input" in errors
