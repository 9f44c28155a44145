"""The command `tags profile` learns from the texts that it is given."""

import json

import pytest

from tests.makers import runs

SOURCE = ["one <g id='1'>two</g> three", "no tags", "<x id='1'/> four"]
TARGET = ["<g id='1'>zwei</g> eins <g id='1'>drei</g>", "keine", "vier <x id='1'/>"]


@pytest.fixture
def directory(tmp_path):
    for name, lines in (("s.txt", SOURCE), ("t.txt", TARGET)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
        texts = {f"k{number}": line for number, line in enumerate(lines)}
        (tmp_path / name.replace("txt", "json")).write_text(json.dumps({"text": texts}))
    return tmp_path


def profile(directory, *words):
    """Return what the command says, and the profile that it writes."""
    words = ("tags", "profile", *words, "--output", "profile.json")
    said = json.loads(runs.run_well_here(*words, cwd=directory))
    assert said.pop("output") == "profile.json"
    return said, json.loads((directory / "profile.json").read_text())


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
@pytest.mark.parametrize("ending", ["txt", "json"])
def test_lines_and_lxm_are_the_same_texts(directory, ending, mark):
    file = directory / f"s.{ending}"
    file.write_text(mark + file.read_text())
    said, made = profile(directory, "--input", f"s.{ending}", "--source_lang", "en")
    assert said == {"texts": 3, "tagged_texts": 2, "tags": 2}
    assert {name: made[name] for name in said} == said


def test_the_translation_and_the_syntax_are_read(directory):
    _, alone = profile(directory, "--input", "s.txt")
    _, both = profile(directory, "--input", "s.txt", "--target_input", "t.txt")
    assert alone != both
    (directory / "i.txt").write_text("<a_1>b</a_1>\n<g id='1'>c</g>\n")
    said, _ = profile(directory, "--input", "i.txt", "--syntax", "indexed")
    assert said == {"texts": 2, "tagged_texts": 1, "tags": 1}


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("s.json", '{"text": {"k": 1}}', "expected LXM JSON with texts by id under 'text'"),
        ("s.json", "{}", "expected LXM JSON with texts by id under 'text'"),
        ("t.txt", "one\n", "has 1 texts, s.txt has 3; 2 is in only one of them"),
    ],
)
def test_texts_that_do_not_fit_are_refused_with_their_file(directory, name, text, told):
    (directory / name).write_text(text)
    source = "s.json" if name == "s.json" else "s.txt"
    words = ("--input", source, "--target_input", "t.txt", "--output", "p.json")
    status, _, errors = runs.run_here("tags", "profile", *words, cwd=directory)
    assert status == 2
    assert name in errors
    assert told in errors
    assert not (directory / "p.json").exists()


def test_text_without_tags_is_refused_with_its_file(directory):
    (directory / "s.txt").write_text("no tags\n")
    words = ("--input", "s.txt", "--output", "p.json")
    status, _, errors = runs.run_here("tags", "profile", *words, cwd=directory)
    assert status == 2
    assert "s.txt: a tag profile must count at least one tag" in errors


@pytest.mark.parametrize(
    "words",
    [
        ("tags", "profile", "--input", "s.txt", "--output", "s.txt"),
        ("tags", "profile", "--input", "s.txt", "--target_input", "t.txt", "--output", "./t.txt"),
        ("tags", "vocabulary", "--train", "s.txt", "t.txt", "--output_model", "t.txt"),
        ("tags", "vocabulary", "--output", "new", "--self_translations", "new"),
        ("evaluate", "tags", "s.txt", "t.txt", "--lines", "s.txt"),
    ],
)
def test_no_file_that_is_read_or_written_is_written_over(directory, words):
    before = {path.name: path.read_bytes() for path in directory.iterdir()}
    status, _, errors = runs.run_here(*words, cwd=directory)
    assert (status, "is named twice" in errors) == (2, True), errors
    assert {path.name: path.read_bytes() for path in directory.iterdir()} == before


def test_text_on_which_no_vocabulary_can_be_trained_is_named(directory):
    (directory / "empty.txt").write_text("")
    words = ("--train", "empty.txt", "--output_model", "m.spm")
    status, _, errors = runs.run_here("tags", "vocabulary", *words, cwd=directory)
    assert status == 2
    assert "empty.txt: no SentencePiece model of 32000 pieces can be trained" in errors
