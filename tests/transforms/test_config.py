"""Configurations that are made by a call: what is refused, and copies with other values."""

from typing import Literal

import numpy as np
import pydantic
import pytest
from pydantic import Field

from pairweave.transforms.config import Config
from pairweave.transforms.errors import ConfigError


class Settings(Config):
    """Some settings."""

    words: int = Field(3, ge=1, le=512)
    share: float = 0.5
    names: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"words": np.int64(3)}, "words must be a whole number, 1 to 512, got np.int64(3)"),
        ({"words": 3.0}, "words must be a whole number, 1 to 512, got 3.0"),
        ({"words": 513}, "words must be 1 to 512, got 513"),
        ({"share": "0.5"}, "share must be a number, got '0.5'"),
        ({"names": ["a"]}, "names must be a tuple, got ['a']"),
    ],
)
def test_a_refused_value_is_named_with_what_is_expected(values, message):
    with pytest.raises(ConfigError) as caught:
        Settings(**values)
    assert str(caught.value) == message


def test_a_changed_copy_knows_what_was_set():
    changed = Settings(share=0.25).changed(words=7)
    assert changed == Settings(words=7, share=0.25)
    assert changed.model_fields_set == {"words", "share"}
    with pytest.raises(ConfigError, match="1 to 512"):
        changed.changed(words=0)


class Limits(Config):
    """Numbers as a file may give them."""

    words: int | None = None
    shares: dict[str, float] = Field(default_factory=dict)
    seeds: tuple[int, ...] = ()
    most: float | Literal["all"] = "all"
    reads: bool | int = False


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("words", True),
        ("shares", {"too_long": False}),
        ("seeds", [1, True]),
        ("most", False),
    ],
)
def test_a_switch_of_a_file_is_no_number(name, value):
    with pytest.raises(pydantic.ValidationError, match="expected a number; yes, no"):
        Limits.model_validate({name: value})


def test_numbers_and_switches_of_a_file_are_read():
    given = {"words": "3", "shares": {"a": 1}, "seeds": [0], "most": 0.5, "reads": True}
    assert Limits.model_validate(given).reads is True
