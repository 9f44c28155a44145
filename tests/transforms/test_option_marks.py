"""The order of options in help."""

from pydantic import Field

from pairweave.transforms.config import Config
from pairweave.transforms.option_marks import in_order, listed_after, listed_before


class First(Config):
    """Options of one step."""

    one: int = 1
    two: int = 2


class Both(First):
    """Options of another, which are listed among them."""

    before_two: int = Field(0, json_schema_extra=listed_before("two"))
    also_before_two: int = Field(0, json_schema_extra=listed_before("two"))
    after_one: int = Field(0, json_schema_extra=listed_after("one"))
    before_that: int = Field(0, json_schema_extra=listed_before("after_one"))
    last: int = Field(0, json_schema_extra=listed_before("absent"))


ORDER = ["one", "before_that", "after_one", "before_two", "also_before_two", "two", "last"]


def test_options_are_listed_beside_the_ones_that_they_name():
    assert in_order(Both.model_fields) == ORDER
    assert list(Both.model_fields) == ORDER
    assert list(First.model_fields) == ["one", "two"]
