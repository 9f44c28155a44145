"""Lists of what is to be taken down: lines of text, and lines of JSON for texts with line ends."""

import json
import shutil

import pytest

pytest.importorskip("deltalake", reason="needs the extra refresh")

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.takedown_list import read_list
from tests.makers import corpora, nightly, runs

PARTS = ["The first line of it.", "And the second line."]
TWO_LINES = "\n".join(PARTS)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a directory with the table of pairs in JSON, one of which has a line end."""
    directory = tmp_path_factory.mktemp("lists")
    (directory / "json").mkdir()
    rows = [corpora.sentence(number) for number in range(10)]
    rows.append((TWO_LINES, "Die erste Zeile davon.\nUnd die zweite Zeile."))
    lines = "".join(json.dumps({"source": one, "target": two}) + "\n" for one, two in rows)
    (directory / "json/a.jsonl").write_text(lines)
    nightly.write_config(directory, of='corpora:\n- {corpus: json, input: "json/*.jsonl"}\n')
    nightly.good_night(directory)
    assert any(source == TWO_LINES for source in nightly.sources(directory / "table"))
    return directory


@pytest.fixture
def directory(made, tmp_path):
    """Return a copy of it, whose files have their times."""
    copied = tmp_path / "copy"
    shutil.copytree(made, copied)
    return copied


@pytest.mark.parametrize("side", ["source", "target", "id"])
def test_a_text_with_a_line_end_is_taken_down_by_a_list_of_json(directory, side):
    row = next(
        actual
        for actual in map(json.loads, nightly.rows(directory / "table"))
        if actual["source"] == TWO_LINES
    )
    entry = {"id": row["id"]} if side == "id" else {"text": row[side]}
    (directory / "list.jsonl").write_text(json.dumps(entry) + "\n\n")
    words = ("refresh", "takedown", "table", "list.jsonl")
    assert "removed 1 pair;" in runs.run_well_here(*words, cwd=directory)
    assert TWO_LINES not in nightly.sources(directory / "table")
    (directory / "json/b.jsonl").write_text((directory / "json/a.jsonl").read_text())
    nightly.good_night(directory)
    assert TWO_LINES not in nightly.sources(directory / "table")


def test_a_line_end_may_be_written_as_a_space_because_white_space_is_joined(directory):
    (directory / "list.txt").write_text(" ".join(PARTS) + "\n")
    words = ("refresh", "takedown", "table", "list.txt")
    assert "removed 1 pair;" in runs.run_well_here(*words, cwd=directory)


def test_a_night_takes_a_list_of_json_too(directory):
    (directory / "list.jsonl").write_text(json.dumps({"text": TWO_LINES}) + "\n")
    assert "removed 1 pair;" in nightly.good_night(directory, "--takedown", "list.jsonl")


def test_a_list_of_json_says_whether_a_word_is_an_id_or_a_text(tmp_path):
    path = tmp_path / "list.jsonl"
    word = "A" * 32
    path.write_text(f'{{"id": "{word}"}}\n{{"text": "{word}"}}\n{{"text": " x\\ny "}}\n')
    actual = read_list(str(path))
    assert actual.ids == {word.lower(): 1}
    assert actual.texts == {word: 2, "x\ny": 3}


@pytest.mark.parametrize(
    "line",
    [
        "text",
        "[]",
        '"a"',
        "{}",
        '{"text": 1}',
        '{"text": " "}',
        '{"id": "a"}',
        '{"text": "a", "id": ""}',
    ],
)
def test_a_line_of_json_that_says_nothing_is_refused_by_its_number(tmp_path, line):
    path = tmp_path / "list.JSONL"
    path.write_text(f'{{"text": "a"}}\n{line}\n')
    with pytest.raises(InputError, match=r"list\.JSONL:2: expected a JSON object with an id or a"):
        read_list(str(path))


def test_a_list_of_json_without_a_line_is_refused(tmp_path):
    (tmp_path / "list.jsonl").write_text("\n")
    with pytest.raises(ConfigError, match="is empty"):
        read_list(str(tmp_path / "list.jsonl"))
