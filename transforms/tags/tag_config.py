"""How tags are injected."""

from typing import Literal, Self

import pydantic

from pairweave.transforms.config import Seeded
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.link_options import DrawOptions
from pairweave.transforms.symbols.representations import NAMES, find_representation
from pairweave.transforms.tags.injection_options import (
    MaxIdOptions,
    MaxTagsOptions,
    NestingOptions,
    ShapeOptions,
    TaggedRowOptions,
    TagShareOptions,
)
from pairweave.transforms.tags.named_tags import FORMS
from pairweave.transforms.tags.tag_profile import TagProfile
from pairweave.transforms.tags.tag_rendering import Name
from pairweave.transforms.text.segmenter import NONE


class TagConfig(
    ShapeOptions,
    DrawOptions,
    TaggedRowOptions,
    NestingOptions,
    TagShareOptions,
    MaxTagsOptions,
    MaxIdOptions,
    Seeded,
):
    """How tags are injected.

    Attributes:
        words: What `tag_share` is of: ``words``, or ``whitespace`` for text that is already
            tokenised (`transforms.text.tokens.word_counts`).
        segmenter: What finds words of scripts without spaces (`transforms.text.segmenter`).
        profile: Shapes that tags are drawn to; it takes the place of the shares.
        take_all: Tag every phrase pair of the table, in a row for each pair that has any, instead
            of drawing pairs and phrase pairs (`transforms.tags.fragments` chose them).
        representation: What tags look like (`transforms.symbols.representations`), or the three
            forms of a template. ``raw``: with names drawn to the profile.
    """

    words: Literal["words", "whitespace"] = "words"
    segmenter: str = NONE
    profile: pydantic.InstanceOf[TagProfile] | None = None
    take_all: bool = False
    representation: pydantic.SkipValidation[Name] = "indexed"

    @pydantic.model_validator(mode="after")
    def _check_shapes(self) -> Self:
        if self.profile is not None and self._shaped:
            raise ConfigError(
                f"give {self._shaped[0]} or a tag profile, which has shares of its own"
            )
        find_representation(self.representation)
        if self.max_id is not None and self.representation != "xliff":
            raise ConfigError("max_id is for ids of representation xliff; leave it out")
        if self.representation == "raw":
            self._check_raw()
        return self

    def _check_raw(self) -> None:
        if self.profile is None or not self.profile.names.counts:
            others = ", ".join(name for name in NAMES if name != "raw")
            raise ConfigError(
                "injected tags have no names: raw needs a tag profile with names; give one, or "
                f"choose {others} or a template"
            )
        if self.profile.names.syntax not in ("xml", "html"):
            raise ConfigError(
                f"raw writes names of XML or HTML, the tag profile has {self.profile.names.syntax} "
                "tags; choose xliff or indexed, or learn a profile of other text"
            )
        named = {form for form, *_ in self.profile.names.counts}
        for form in FORMS:
            classes = (form, "empty") if form == "pair" else (form,)
            if form not in named and self.profile.shares("form", classes).any():
                raise ConfigError(
                    f"the tag profile has tags of the form {form}, but no names of any"
                )
        if self.nesting != "proper":
            raise ConfigError("raw tags of one name can be told apart only with proper nesting")

    @property
    def _shaped(self) -> list[str]:
        """Return the shares of forms that are not 0."""
        return [name for name in ShapeOptions.model_fields if getattr(self, name)]

    @property
    def tagged_share(self) -> float:
        """Return the share of pairs that get tagged rows."""
        return min(1.0, self.mix / self.variants)

    @property
    def plain_share(self) -> float:
        """Return the share of pairs that get a plain row."""
        return 1.0 if self.mix <= self.variants else self.variants / self.mix

    @property
    def plain_pairs_only(self) -> bool:
        """Tell whether every tag is a whole pair in one part, drawn to no profile."""
        return self.profile is None and not self._shaped

    @property
    def self_closing(self) -> bool:
        """Tell whether a tag may be self-closing."""
        if self.profile is not None:
            return bool(self.profile.shares("form", ("self_closing",))[0])
        return self.self_closing_share > 0
