"""The options that say how tags look."""

from typing import Literal

from pydantic import Field

from pairweave.pipelines.options.base import Patterns
from pairweave.transforms.config import StepOptions
from pairweave.transforms.option_facts import UNSAID


class RepresentationOptions(StepOptions):
    """The representation of tags."""

    representation: Literal["indexed", "xliff", "masked", "html", "raw", "template"] = Field(
        "indexed",
        description="how tags look: indexed <a_0> ... </a_0>, xliff <g id=...>, masked "
        "XLF_OPENG,1, html <b>, raw with the names of --tag_profile, or a --template",
    )
    template: Patterns = Field(
        (),
        max_length=3,
        description="with --representation template: forms of opening, closing and self-closing "
        "tags, such as '⟦{index}⟧' '⟦/{index}⟧' '⟦{index}/⟧'",
        json_schema_extra={"metavar": "TAG", **UNSAID},
    )
