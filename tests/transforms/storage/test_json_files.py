"""Tests of `transforms.storage.json_files`."""

from pathlib import Path
from typing import Literal

import pytest
from pydantic import Field

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.storage.json_files import JsonFile, read_model


class Part(JsonFile):
    name: str = Field(min_length=1)
    bytes: int = Field(ge=0)


class Whole(JsonFile):
    ADVICE = "restore it"

    kind: Literal["a", "b"]
    files: list[Part] = Field(min_length=1)
    counts: dict[str, int]
    note: str | None = None


GOOD = '{"kind": "a", "files": [{"name": "x", "bytes": 1}], "counts": {"rows": 1}}'


def _read(tmp_path: Path, text: str) -> Whole:
    path = tmp_path / "whole.json"
    path.write_text(text, encoding="utf-8")
    return read_model(str(path), Whole)


def test_a_file_is_read_into_its_model(tmp_path: Path) -> None:
    actual = _read(tmp_path, GOOD)
    assert (actual.kind, actual.files[0].name, actual.counts) == ("a", "x", {"rows": 1})


def test_fields_of_a_later_version_are_left_alone(tmp_path: Path) -> None:
    assert _read(tmp_path, GOOD[:-1] + ', "later": 3}').kind == "a"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        (GOOD[:-5], "not JSON"),
        ("[]", "expected a JSON object, found []"),
        (GOOD.replace('"a"', '"c"'), "kind: expected 'a' or 'b', found \"c\""),
        (GOOD.replace('"a"', "1"), "kind: expected 'a' or 'b', found 1"),
        (GOOD.replace('"bytes": 1', '"bytes": "1"'), "files[0].bytes: expected a whole number"),
        (GOOD.replace('"bytes": 1', '"bytes": true'), "files[0].bytes: expected a whole number"),
        (GOOD.replace('"bytes": 1', '"bytes": 1.0'), "files[0].bytes: expected a whole number"),
        (GOOD.replace('"bytes": 1', '"bytes": -1'), "files[0].bytes: expected 0 or more, found -1"),
        (GOOD.replace(', "bytes": 1', ""), "files[0].bytes: is missing"),
        (GOOD.replace('"x"', '""'), "files[0].name: expected text that is not empty"),
        (GOOD.replace('{"name": "x", "bytes": 1}', ""), "files: expected at least 1 of them"),
        (GOOD.replace('{"name": "x", "bytes": 1}', "7"), "files[0]: expected an object, found 7"),
        (GOOD.replace('{"rows": 1}', "[1]"), "counts: expected an object, found [1]"),
        (GOOD.replace('{"rows": 1}', '{"rows": null}'), "counts.rows: expected a whole number"),
        (GOOD[:-1] + ', "note": 1}', "note: expected text, found 1"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        _read(tmp_path, text)
    said = str(refused.value)
    assert said.startswith(f"{tmp_path}/whole.json: {message}")
    assert said.endswith("; restore it")
    assert "\n" not in said


def test_a_long_value_is_shortened(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r'found "x{50,60}…; restore it'):
        _read(tmp_path, GOOD.replace("1}]", '"' + "x" * 5_000 + '"}]'))


def test_a_missing_file_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_model(str(tmp_path / "none.json"), Whole)
