"""The options of tags that are drawn, as in ``augment`` and ``stream``."""

from typing import Annotated, Literal

from pydantic import Field

from pairweave.pipelines.options.base import Patterns
from pairweave.transforms.links.link_options import PhraseOptions
from pairweave.transforms.option_marks import UNSAID, listed_after, not_by
from pairweave.transforms.option_places import FILE_OF_LAUNCHER, Metavar
from pairweave.transforms.tags.injection_options import TagOptions


class DrawnTagOptions(TagOptions, PhraseOptions):
    """The phrase pairs that tags are put around, and how tags look."""

    representation: Literal["indexed", "xliff", "masked", "html", "raw", "template"] = Field(
        "indexed",
        description="how tags look: indexed <a_0> ... </a_0>, xliff <g id=...>, masked "
        "XLF_OPENG,1, html <b>, raw with the names of --tag_profile, or a --template",
        json_schema_extra=listed_after("unaligned_words"),
    )
    template: Annotated[Patterns, Metavar("TAG")] = Field(
        (),
        max_length=3,
        description="with --representation template: forms of opening, closing and self-closing "
        "tags, such as '⟦{index}⟧' '⟦/{index}⟧' '⟦{index}/⟧'",
        json_schema_extra={**UNSAID, **listed_after("representation")},
    )
    tag_profile: Annotated[str | None, FILE_OF_LAUNCHER] = Field(
        None,
        description="file of tags profile: draw numbers, forms, lengths, positions and nesting of "
        "tags from it, and with --representation raw their names",
        json_schema_extra={
            **UNSAID,
            **listed_after("split_share"),
            **not_by(
                fragment="lengths, positions and numbers of tags follow from the fragments found",
                glossary="lengths, positions and numbers of tags follow from the terms",
            ),
        },
    )
