"""Options of what is made of links: one set of links of two, phrase pairs, and their scores."""

from typing import Literal

from pydantic import Field

from pairweave.transforms.config import Share, StepOptions
from pairweave.transforms.option_facts import UNSAID

Heuristic = Literal[
    "intersection", "union", "grow", "grow-diag", "grow-diag-final", "grow-diag-final-and"
]
"""Och and Ney 2003; Koehn et al. 2005; in the visiting order of fast_align's ``atools``."""


UnalignedWords = Literal["forbid", "allow"]


class SymmetrizeOptions(StepOptions):
    """Symmetrization of the two directions of links."""

    heuristic: Heuristic = Field("grow-diag", description="how the two directions are combined")


class PhraseOptions(StepOptions):
    """Extraction of phrase pairs."""

    max_words: int = Field(64, ge=1, le=512, description="longest phrase, in tokens")
    unaligned_words: UnalignedWords = Field(
        "forbid", description="whether a phrase may contain unaligned words"
    )


class ConfidenceLimitOptions(StepOptions):
    """Minimum confidence of phrase pairs."""

    min_confidence: Share = Field(
        0.0,
        description="lowest score of a phrase pair, from its links' probabilities; 0: all",
        json_schema_extra=UNSAID,
    )


class DrawOptions(StepOptions):
    """Draws of phrase pairs."""

    draw: Literal["uniform", "confident"] = Field(
        "uniform",
        description="how phrase pairs are drawn: uniformly, or by the odds of their scores",
        json_schema_extra=UNSAID,
    )
