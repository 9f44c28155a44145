"""Rows as messages for the fine-tuning of language models."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from pairweave.transforms import schemas
from tests.makers import finished_runs, runs

EXAMPLE = {
    "id": f"{1:032x}",
    "variant": 0,
    "method": "alignment",
    "operation": "replace",
    "source": "a {masked} house",
    "masked": "ein <MASK_REP> Haus",
    "suggestion": "altes",
    "hint": "a",
    "start": 4,
    "end": 9,
    "confidence": 0.5,
    "score": None,
    "source_lang": "en",
    "target_lang": "de",
    "corpus": "news",
}


@pytest.fixture
def tagged(tmp_path):
    """Return the directory of a run of `augment`."""
    finished_runs.write_run(str(tmp_path / "run"))
    return tmp_path / "run"


def suggestions(directory, *rows):
    """Write a run of `suggest` with these rows in its first shard; return its directory."""
    shards = [list(rows), []]

    def data(_kept):
        return pa.Table.from_pylist(shards.pop(0), schema=schemas.SUGGESTIONS)

    finished_runs.write_run(str(directory), data, {}, job="suggest")
    return directory


def messages(run, output, *more):
    """Export a run; return the messages of each line as (role, text)."""
    runs.run_well_here("export", run, "--format", "chat", "--output", output, *more)
    (path,) = Path(output).iterdir()
    assert path.name.endswith(".chat.jsonl")
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert all(list(line) == ["messages"] for line in lines)
    return [[(each["role"], each["content"]) for each in line["messages"]] for line in lines]


def test_a_tagged_pair_is_an_instruction_with_its_source_and_an_answer_with_its_target(
    tagged, tmp_path
):
    source, target = (text for text in finished_runs.PAIRS[1][2:])
    (pair,) = [each for each in messages(tagged, tmp_path / "out") if each[1][1] == target]
    assert pair[0] == (
        "user",
        "Translate from en to de. Keep every tag, and place it around the words that translate "
        f"those inside it in the source:\n\n{source}",
    )
    assert pair[1] == ("assistant", target)


def test_a_pair_without_tags_is_asked_for_without_a_word_of_tags(tagged, tmp_path):
    source, target = finished_runs.PAIRS[1][:2]
    actual = messages(tagged, tmp_path / "out", "--kinds", "plain")
    assert [
        ("user", f"Translate from en to de:\n\n{source}"),
        ("assistant", target),
    ] in actual


def test_a_suggestion_is_asked_for_with_its_source_and_its_masked_translation(tmp_path):
    deleted = {**EXAMPLE, "variant": 1, "operation": "delete", "suggestion": ""}
    run = suggestions(tmp_path / "run", EXAMPLE, deleted)
    first, second = messages(run, tmp_path / "out")
    assert first[0][1].endswith("Text: a {masked} house\n\nTranslation: ein <MASK_REP> Haus")
    assert first[1] == ("assistant", "altes")
    assert second[1] == ("assistant", "")


def test_own_messages_have_the_texts_of_the_row_and_braces_in_those_are_text(tmp_path):
    run = suggestions(tmp_path / "run", EXAMPLE)
    own = ("--instruction", '{hint}: {source} {"x"} {masked}', "--system", "Into {target_lang}.")
    (actual,) = messages(run, tmp_path / "out", *own)
    assert actual == [
        ("system", "Into de."),
        ("user", 'a: a {masked} house {"x"} ein <MASK_REP> Haus'),
        ("assistant", "altes"),
    ]


def test_unknown_languages_are_left_out(tmp_path):
    run = suggestions(tmp_path / "run", {**EXAMPLE, "source_lang": "und"})
    ((user, _),) = messages(run, tmp_path / "out")
    assert user[1].startswith("In this translation, <MASK_REP> marks text")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--instruction", "{source} {masked}"), "--instruction: rows of augment have no {masked}"),
        (("--system", "{x}", "--instruction", "{source}"), "--system: rows of augment have no {x}"),
        (("--instruction", "Translate."), "--instruction: expected {source} in it"),
        (("--format", "tsv", "--system", "x"), "--system: tsv has no messages; leave it out"),
        (("--format", "tmx", "--system", "x"), "--system: tmx has no messages; leave it out"),
    ],
)
def test_a_message_that_cannot_be_filled_is_refused(tagged, tmp_path, words, message):
    words = words if "--format" in words else ("--format", "chat", *words)
    status, _, errors = runs.run_here("export", tagged, *words, "--output", tmp_path / "out")
    assert status == 2
    assert message in errors
    assert not (tmp_path / "out").exists()


def test_trainers_of_language_models_read_the_lines(tmp_path):
    datasets = pytest.importorskip("datasets", reason="needs the extra datasets")
    run = suggestions(tmp_path / "run", EXAMPLE)
    messages(run, tmp_path / "out")
    (path,) = (tmp_path / "out").iterdir()
    rows = datasets.load_dataset(
        "json", data_files=str(path), cache_dir=str(tmp_path / "cache"), split="train"
    )
    assert [each["role"] for each in rows[0]["messages"]] == ["user", "assistant"]
