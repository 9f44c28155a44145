"""Options of the steps after alignment: symmetrization, phrase pairs, and their scores."""

from typing import Literal

from pydantic import Field

from pairweave.transforms.config import Config, Share
from pairweave.transforms.option_marks import UNSAID, in_short, not_by

NO_LINKS = "it finds translations without word links"
"""The reason why tagging by fragments has no options for links."""

_NO_SCORE = not_by(fragment="fragments have no score", glossary="terms have no score")

Heuristic = Literal[
    "intersection", "union", "grow", "grow-diag", "grow-diag-final", "grow-diag-final-and"
]
"""Och and Ney 2003; Koehn et al. 2005; in the visiting order of fast_align's ``atools``."""


UnalignedWords = Literal["forbid", "allow"]
Draw = Literal["uniform", "confident"]


class SymmetrizeConfig(Config):
    """Symmetrization of the two directions of links."""

    heuristic: Heuristic = Field(
        "grow-diag",
        description="how the two directions are combined",
        json_schema_extra={
            **not_by(fragment=NO_LINKS),
            **in_short("how both directions are combined (default grow-diag)"),
        },
    )


class PhraseOptions(Config):
    """Extraction of phrase pairs."""

    max_words: int = Field(
        64,
        ge=1,
        le=512,
        description="longest phrase, in tokens",
        json_schema_extra=not_by(glossary="the glossary sets how long a term is"),
    )
    unaligned_words: UnalignedWords = Field(
        "forbid",
        description="whether a phrase may contain unaligned words",
        json_schema_extra=not_by(fragment=NO_LINKS, glossary="a word of a term may lack a link"),
    )


class ConfidenceConfig(Config):
    """Scores of phrase pairs: the lowest that is kept, and their effect on draws."""

    min_confidence: Share = Field(
        0.0,
        description="lowest score of a phrase pair, from its links' probabilities; 0: all",
        json_schema_extra={**UNSAID, **_NO_SCORE},
    )
    draw: Draw = Field(
        "uniform",
        description="whether scores count in draws: uniform, they do not; confident, phrase pairs "
        "are drawn by the odds of their scores",
        json_schema_extra={**UNSAID, **_NO_SCORE},
    )

    @property
    def needs_scores(self) -> bool:
        """Return True if phrase pairs must be scored."""
        return self.min_confidence > 0 or self.draw == "confident"
