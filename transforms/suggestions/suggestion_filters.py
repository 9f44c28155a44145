"""Rules that examples must pass: one function each, over all masks of a shard."""

import dataclasses
from collections.abc import Callable
from typing import Self

import numpy as np
import pydantic

from pairweave.transforms.config import Config
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels.masks.mask_borders import DELETE
from pairweave.transforms.suggestions.masks import METHODS, Masks
from pairweave.transforms.suggestions.suggestion_options import FilterOptions, ScoreLimitOptions

RANDOM, ALIGNMENT, PARALLEL = range(len(METHODS))


class FilterConfig(ScoreLimitOptions, FilterOptions, Config):
    """Limits of an example.

    Zhu et al., section 4, have sources of 50 to 200 words. A deletion suggests no word and is
    exempt from their least number; one word may always be masked. The confidence is that of the
    links that a mask rests on: those inside it and those of the kept words beside it; a mask that
    rests on none passes if 0 is asked for. The score is the pair's
    (`transforms.reading.given_scores`) or the example's
    (`transforms.suggestions.suggestion_scores`).
    """

    @pydantic.model_validator(mode="after")
    def _check_order(self) -> Self:
        for side in ("source", "suggestion"):
            least, most = getattr(self, f"min_{side}_words"), getattr(self, f"max_{side}_words")
            if not least <= most:
                raise ConfigError(
                    f"min_{side}_words must be 1 to max_{side}_words ({most}), got {least}"
                )
        if not (-np.inf if self.min_score is None else self.min_score) <= self.max_score:
            raise ConfigError(
                f"min_score must be at most max_score ({self.max_score}), got {self.min_score}"
            )
        return self


@dataclasses.dataclass(frozen=True, slots=True)
class Examples:
    """What the rules look at.

    Attributes:
        masks: The masks.
        source_words: Words of each mask's source, int64 ``[mask]``.
        identical: Whether the suggestion is what the mask covers, bool ``[mask]``.
        reserved: Whether the pair's texts hold the mask token already, bool ``[mask]``.
    """

    masks: Masks
    source_words: np.ndarray
    identical: np.ndarray
    reserved: np.ndarray


Rule = Callable[[Examples, FilterConfig], np.ndarray]


def holds_mask(examples: Examples, _config: FilterConfig) -> np.ndarray:
    """Tell which examples' texts hold the mask token already: one row has one."""
    return examples.reserved


def parts_tag(examples: Examples, _config: FilterConfig) -> np.ndarray:
    """Tell which masks hold half an inline tag whose other half is nowhere in the text."""
    return examples.masks.parted


def source_length(examples: Examples, config: FilterConfig) -> np.ndarray:
    """Tell which examples' sources are too short or too long."""
    words = examples.source_words
    return (words < config.min_source_words) | (words > config.max_source_words)


def suggestion_length(examples: Examples, config: FilterConfig) -> np.ndarray:
    """Tell which suggestions are too short or too long; whole sentences may have any length."""
    words = examples.masks.suggestion_words
    short = (words < config.min_suggestion_words) & (examples.masks.operation != DELETE)
    return (short | (words > config.max_suggestion_words)) & (examples.masks.method != PARALLEL)


def masked_share(examples: Examples, config: FilterConfig) -> np.ndarray:
    """Tell which masks cover too much of their text, or suggest as much; whole sentences may."""
    masks = examples.masks
    under = np.maximum(masks.words, masks.suggestion_words)
    around = masks.before + masks.behind
    most = config.max_masked_share * (under + around) + 1e-9
    return (under > np.maximum(1, most)) & (masks.method != PARALLEL)


def identical(examples: Examples, _config: FilterConfig) -> np.ndarray:
    """Tell which suggestions say again what a mask of a machine translation covers."""
    return examples.identical & (examples.masks.method == ALIGNMENT)


def punctuation(examples: Examples, config: FilterConfig) -> np.ndarray:
    """Tell which suggestions, or deletions, hold no letter and no digit."""
    if config.keep_punctuation:
        return np.zeros(len(examples.masks), np.bool_)
    return ~examples.masks.wordlike


def confidence(examples: Examples, config: FilterConfig) -> np.ndarray:
    """Tell which masks rest on a link that the aligner is not sure enough of, or on none."""
    masks = examples.masks
    if config.min_confidence == 0:
        return np.zeros(len(masks), np.bool_)
    return ~(masks.confidence >= config.min_confidence) & (masks.method == ALIGNMENT)


def outside_scores(scores: np.ndarray, config: FilterConfig) -> np.ndarray:
    """Tell which scores are outside the limits, or unknown where there is one ``[example]``."""
    found = np.zeros(len(scores), np.bool_)
    if config.min_score is not None:
        found |= ~(scores >= config.min_score)
    if not np.isinf(config.max_score):
        found |= ~(scores <= config.max_score)
    return found


RULES: dict[str, Rule] = {
    "holds the mask token": holds_mask,
    "parts a tag": parts_tag,
    "source length": source_length,
    "identical": identical,
    "punctuation only": punctuation,
    "suggestion length": suggestion_length,
    "masked share": masked_share,
    "confidence": confidence,
}
"""The rules in the order in which they are asked; the first that says yes counts."""

SCORE = len(RULES)
"""In the place of a rule: an example that passed them all has too bad a score."""

RULE_NAMES = (*RULES, "score")


def first_rules(examples: Examples, config: FilterConfig) -> np.ndarray:
    """Return the place in `RULES` of the first rule that turns each mask away, -1 for none."""
    found = np.full(len(examples.masks), -1, np.int8)
    for place, rule in enumerate(RULES.values()):
        found[rule(examples, config) & (found < 0)] = place
    return found
