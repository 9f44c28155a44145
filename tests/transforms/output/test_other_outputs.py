"""A command that needs a run says what a directory without one is."""

import pytest

from tests.makers import runs

COMMANDS = [("status",), ("gc",), ("preview",), ("report",), ("export", "--format", "tsv")]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("_recipe.json", "it is the output of a recipe, so give the directory of one of its steps"),
        (
            "_refresh/nights/00000001.json",
            "it is a table of refresh, and pairweave refresh --help lists the commands for it",
        ),
    ],
)
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_a_recipe_and_a_table_are_told_from_a_run(tmp_path, words, path, said):
    (tmp_path / "out" / path).parent.mkdir(parents=True)
    (tmp_path / "out" / path).write_text("{}")
    more = ("--output", "written") if words[0] == "export" else ()
    status, _, errors = runs.run_here(words[0], "out", *words[1:], *more, cwd=tmp_path)
    assert (status, errors.strip().endswith(said)) == (2, True), errors


@pytest.mark.parametrize("words", COMMANDS[:3], ids=lambda words: words[0])
def test_what_is_neither_is_not_called_so(tmp_path, words):
    status, _, errors = runs.run_here(words[0], tmp_path, *words[1:])
    assert (status, "recipe" in errors, "table" in errors) == (2, False, False), errors
