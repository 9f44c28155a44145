"""Options of the look that a job takes at its input before the work."""

from typing import Literal

from pydantic import Field

from pairweave.transforms.config import Config
from pairweave.transforms.option_marks import UNPLANNED, UNSAID, in_short


class LookOptions(Config):
    """The look at the input before the work."""

    check: Literal["sample", "all", "none"] = Field(
        "sample",
        description="how much of the input the job looks at before it starts, for stretches of "
        "lines that are not translations, tags read as text, wrong languages and so on: sample, "
        "blocks of lines chosen by hash (32,768 pairs or a sixteenth of the input, at most "
        "250,000); all, every line; none, no line",
        json_schema_extra={**UNPLANNED, **in_short("look at a sample of the input first, or not")},
    )
    misaligned: Literal["keep", "reject"] = Field(
        "keep",
        description="pairs in stretches of lines that are not translations of each other, or that "
        "have moved; reject looks at every line",
        json_schema_extra=UNSAID,
    )
