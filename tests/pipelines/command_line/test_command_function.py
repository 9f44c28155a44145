"""Commands whose options are the parameters of a function."""

from typing import Annotated

import pytest
from pydantic import Field

from pairweave.pipelines.command_line.command_function import command
from pairweave.pipelines.options.base import Options
from pairweave.transforms.errors import ConfigError


class Limits(Options):
    """Options of a step."""

    most: int = Field(7, ge=1, description="the most")
    least: int = Field(0, description="the least")


@command("try parameters")
def main(
    place: Annotated[str, "a word"],
    *,
    pairs: Annotated[int, Field(ge=1), "pairs"] = 6,
    limits: Limits,
) -> int:
    seen.append((place, pairs, limits))
    return 3


seen = []


def called(*arguments):
    """Call the command and return what its function got, and its exit status."""
    seen.clear()
    status = main("status", arguments)
    return (*seen[0], status)


def test_words_flags_and_the_options_of_a_step_reach_the_function():
    place, pairs, limits, status = called("here", "--pairs", "2", "--most", "9")
    assert (place, pairs, status) == ("here", 2, 3)
    assert (limits.most, limits.least) == (9, 0)
    assert isinstance(limits, Limits)


def test_what_was_not_given_has_its_default_and_is_not_set():
    _, pairs, limits, _ = called("here", "--least", "0")
    assert (pairs, limits.most) == (6, 7)
    assert limits.model_fields_set == {"least"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "PLACE"),
        (("here", "--pairs", "0"), "pairs"),
        (("here", "--most", "0"), "most"),
        (("here", "--nothing", "1"), "nothing"),
        (("here", "there"), "there"),
    ],
)
def test_a_wrong_command_line_names_the_option(arguments, message):
    with pytest.raises(ConfigError, match=message):
        called(*arguments)


def test_help_has_each_parameter(capsys):
    with pytest.raises(SystemExit):
        main("status", ["--help"])
    out = capsys.readouterr().out
    assert "try parameters" in out
    for text in ("a word", "--pairs", "--most", "the least", "default 6"):
        assert text in out


@command("the other form")
def other(*, pattern: Annotated[str, "a pattern"]) -> int:
    return len(pattern)


@command("the first form", other_form=other)
def first(places: Annotated[tuple[str, ...], Field(min_length=1), "words"]) -> int:
    return len(places)


def test_help_of_a_command_with_two_forms_has_the_options_of_both(capsys):
    assert first("gc", ["--help"]) == 0
    out = capsys.readouterr().out
    for text in ("the first form", "PLACES [PLACES ...]", "the other form", "a pattern (required)"):
        assert text in out


@command("run places", beam=True)
def with_beam(places: Annotated[tuple[str, ...], Field(min_length=1), "words"]) -> int:
    return len(places)


def test_the_usage_of_a_command_with_options_of_beam_has_its_words(capsys):
    with pytest.raises(SystemExit):
        with_beam("gc", ["--help"])
    assert "usage: pairweave gc PLACES [PLACES ...] [--config" in capsys.readouterr().out
