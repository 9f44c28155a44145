"""Which options the plan of a run says: all that can change an output byte, and no others."""

import pytest
from pydantic import Field

from pairweave.pipelines.job_options.filter_options import FilterJobOptions
from pairweave.pipelines.job_options.pair_options import AlignOptions, AugmentOptions
from pairweave.pipelines.job_options.suggest_options import SuggestOptions
from pairweave.pipelines.options.base import Options, left_out_options
from pairweave.transforms.option_marks import PLANNED_OTHERWISE, UNPLANNED, UNSAID, marked


class MarkedOptions(Options):
    """Options with every kind of mark."""

    plain: int = 1
    place: int = Field(1, json_schema_extra=UNPLANNED)
    digested: int = Field(1, json_schema_extra=PLANNED_OTHERWISE)
    later: int = Field(1, json_schema_extra=UNSAID)


@pytest.mark.parametrize(
    ("given", "left_out"),
    [
        ({}, {"place", "digested", "later"}),
        ({"plain": 2, "place": 2}, {"place", "digested", "later"}),
        ({"later": 1}, {"place", "digested", "later"}),
        ({"later": 2}, {"place", "digested"}),
    ],
)
def test_an_option_that_came_later_is_in_the_plan_as_soon_as_it_is_not_the_default(given, left_out):
    assert left_out_options(MarkedOptions(**given)) == left_out


@pytest.mark.parametrize("kind", [AlignOptions, AugmentOptions, FilterJobOptions, SuggestOptions])
def test_every_option_of_a_job_is_planned_once_it_has_another_value(kind):
    unsaid = marked(kind, UNSAID)
    unplanned = marked(kind, UNPLANNED, PLANNED_OTHERWISE)
    assert unsaid
    assert left_out_options(kind.model_construct()) == unsaid | unplanned
    other = kind.model_construct(**dict.fromkeys(kind.model_fields, "another value"))
    assert left_out_options(other) == unplanned
