"""How tags are injected."""

import dataclasses

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.indexed_tag import INDICES, MOST_TAGS
from pairweave.transforms.links.confidence import DRAWS
from pairweave.transforms.option_values import require_choice
from pairweave.transforms.symbols.representations import NAMES, find_representation
from pairweave.transforms.tags.named_tags import FORMS
from pairweave.transforms.tags.tag_profile import TagProfile
from pairweave.transforms.tags.tag_rendering import Name
from pairweave.transforms.text.segmenter import NONE

MOST_IDS = 10_000
"""Ids that symbols can be listed of."""

NESTINGS = ("proper", "free")

_SHARES = ("self_closing_share", "damage_share", "empty_share", "split_share")


@dataclasses.dataclass(frozen=True, slots=True)
class TagConfig:
    """How tags are injected.

    Attributes:
        max_tags: Most tags in a row, 1 to 9 (Ryu et al. 2022, section 3.4: 9).
        tag_share: A row has fewer tags than this share of its words (section 2.3: 0.3).
        nesting: ``proper``: two tags are apart on both sides, or one holds the other on both.
            ``free``: they may cross (the paper's "violating HTML syntax").
        mix: Tagged rows to one plain row; 0 for plain rows only, inf for tagged rows only.
        variants: Tagged rows made of one pair.
        whitespace_shift: Move the white space before an opening tag behind it
            (`transforms.symbols.whitespace`).
        words: What the share is of: ``words``, or ``whitespace`` for text that is already
            tokenised (`transforms.text.tokens.word_counts`).
        segmenter: What finds words of scripts without spaces (`transforms.text.segmenter`).
        seed: The run's seed.
        self_closing_share: Share of tags that are self-closing instead of pairs (Hanneman and Dinu
            2020, section 3.1: a fixed probability; section 5.1: 0.27).
        damage_share: Share of pairs of which one half is skipped (likewise: 0.10).
        empty_share: Share of whole pairs with nothing inside.
        split_share: Share of whole pairs in two parts on one side, where phrases allow it; one at
            most in a row.
        profile: Shapes that tags are drawn to; it takes the place of the shares.
        punctuation_tags: Let a tag hold neither a letter nor a digit on a side, such as the full
            stop alone.
        draw: ``uniform``: phrase pairs are drawn alike. ``confident``: by the odds of their scores.
        take_all: Tag every phrase pair of the table, in a row for each pair that has any, instead
            of drawing pairs and phrase pairs (`transforms.tags.fragments` chose them).
        representation: What tags look like (`transforms.symbols.representations`), or the three
            forms of a template. ``raw``: with names drawn to the profile.
        max_id: Draw the ids of ``xliff`` from 1 to this (Hanneman and Dinu 2020, section 7); None
            to count them from 1.
    """

    max_tags: int = MOST_TAGS
    tag_share: float = 0.3
    nesting: str = "proper"
    mix: float = 1.0
    variants: int = 1
    whitespace_shift: bool = False
    words: str = "words"
    segmenter: str = NONE
    seed: int = 1
    self_closing_share: float = 0.0
    damage_share: float = 0.0
    empty_share: float = 0.0
    split_share: float = 0.0
    profile: TagProfile | None = None
    punctuation_tags: bool = False
    draw: str = "uniform"
    take_all: bool = False
    representation: Name = "indexed"
    max_id: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.max_tags <= MOST_TAGS:
            raise ConfigError(f"max_tags must be 1 to {MOST_TAGS}, got {self.max_tags}")
        if not 0 < self.tag_share <= 1:
            raise ConfigError(f"tag_share must be over 0 and at most 1, got {self.tag_share}")
        require_choice("nesting", self.nesting, NESTINGS)
        if not self.mix >= 0:
            raise ConfigError(f"mix must be 0 or more, got {self.mix}")
        if not 1 <= self.variants <= 100:
            raise ConfigError(f"variants must be 1 to 100, got {self.variants}")
        require_choice("words", self.words, ("words", "whitespace"))
        if not 0 <= self.seed < 1 << 63:
            raise ConfigError(f"seed must be 0 to {(1 << 63) - 1}, got {self.seed}")
        require_choice("draw", self.draw, DRAWS)
        self._check_shapes()

    def _check_shapes(self) -> None:
        for name in _SHARES:
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} must be 0 to 1, got {getattr(self, name)}")
            if self.profile is not None and getattr(self, name):
                raise ConfigError(f"give {name} or a tag profile, which has shares of its own")
        find_representation(self.representation)
        if self.max_id is not None and self.representation != "xliff":
            raise ConfigError("max_id is for ids of representation xliff; leave it out")
        if self.max_id is not None and not INDICES <= self.max_id <= MOST_IDS:
            raise ConfigError(f"max_id must be {INDICES} to {MOST_IDS}, got {self.max_id}")
        if self.representation == "raw":
            self._check_raw()

    def _check_raw(self) -> None:
        if self.profile is None or not self.profile.names.counts:
            others = ", ".join(name for name in NAMES if name != "raw")
            raise ConfigError(
                "injected tags have no names of their own: raw needs a tag profile that has; give "
                f"one, or choose {others} or a template"
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
        return self.profile is None and not any(getattr(self, name) for name in _SHARES)

    @property
    def self_closing(self) -> bool:
        """Tell whether a tag may be self-closing."""
        if self.profile is not None:
            return bool(self.profile.shares("form", ("self_closing",))[0])
        return self.self_closing_share > 0
