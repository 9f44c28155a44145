"""Settings of tag injection."""

from typing import Literal, Self

import pydantic

from pairweave.transforms.config import Seed
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.link_options import Draw
from pairweave.transforms.symbols.representations import NAMES, find_representation
from pairweave.transforms.tags.injection_options import SHAPES, TagOptions
from pairweave.transforms.tags.named_tags import FORMS
from pairweave.transforms.tags.tag_profile import TagProfile
from pairweave.transforms.tags.tag_rendering import Name
from pairweave.transforms.text.segmenter import NONE


class TagConfig(TagOptions):
    """Settings of tag injection.

    Attributes:
        draw: How phrase pairs are drawn (`transforms.links.confidence`).
        words: How `tag_share` counts words: ``words``, or ``whitespace`` for text that is already
            tokenised (`transforms.text.whole_words.word_counts`).
        segmenter: Finds words in scripts without spaces (`transforms.text.segmenter`).
        profile: Distribution of shapes to draw from, instead of the shares.
        take_all: Tag every phrase pair of the table, in one row per pair that has any, instead of
            drawing pairs and phrase pairs (`transforms.tags.fragments` chose them).
        representation: How tags are written (`transforms.symbols.representations`), or the three
            forms of a template. ``raw``: with names drawn from the profile.
    """

    seed: Seed = 1
    draw: Draw = "uniform"
    words: Literal["words", "whitespace"] = "words"
    segmenter: str = NONE
    profile: pydantic.InstanceOf[TagProfile] | None = None
    take_all: bool = False
    representation: pydantic.SkipValidation[Name] = "indexed"

    @pydantic.model_validator(mode="after")
    def _check_shapes(self) -> Self:
        if self.profile is not None and self._shaped:
            raise ConfigError(
                f"give either {self._shaped[0]} or a tag profile, which has its own shares"
            )
        find_representation(self.representation)
        if self.max_id is not None and self.representation != "xliff":
            raise ConfigError("max_id applies to representation xliff only; leave it out")
        if self.representation == "raw":
            self._check_raw()
        return self

    def _check_raw(self) -> None:
        if self.profile is None or not self.profile.names.counts:
            others = ", ".join(name for name in NAMES if name != "raw")
            raise ConfigError(
                "representation raw needs a tag profile with names (tag_profile); give one, or "
                f"choose {others} or a template"
            )
        if self.profile.names.syntax not in ("xml", "html"):
            raise ConfigError(
                f"raw writes XML or HTML tags, but the tag profile has {self.profile.names.syntax} "
                "tags; choose xliff or indexed, or learn a profile from other text"
            )
        named = {form for form, *_ in self.profile.names.counts}
        for form in FORMS:
            classes = (form, "empty") if form == "pair" else (form,)
            if form not in named and self.profile.shares("form", classes).any():
                raise ConfigError(f"the tag profile has tags of form {form}, but no names for them")
        if self.nesting != "proper":
            raise ConfigError("raw tags with the same name need proper nesting to be paired")

    @property
    def _shaped(self) -> list[str]:
        """Return the shares of forms that are not 0."""
        return [name for name in SHAPES if getattr(self, name)]

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
        """Return True if every tag is a whole pair in one part and there is no profile."""
        return self.profile is None and not self._shaped

    @property
    def self_closing(self) -> bool:
        """Return True if tags can be self-closing."""
        if self.profile is not None:
            return bool(self.profile.shares("form", ("self_closing",))[0])
        return self.self_closing_share > 0
