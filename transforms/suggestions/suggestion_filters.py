"""Rules that examples must pass: one function each, over all masks of a shard."""

import dataclasses
from collections.abc import Callable

import numpy as np

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.kernels.masks.mask_borders import DELETE
from pairweave.transforms.suggestions.masks import METHODS, Masks

RANDOM, ALIGNMENT, PARALLEL = range(len(METHODS))


@dataclasses.dataclass(frozen=True, slots=True)
class FilterConfig:
    """Limits of an example. A word here is a token of `transforms.text.tokens`.

    Attributes:
        min_source_words: Fewest words of the source (Zhu et al., section 4, have 50 to 200).
        max_source_words: Most words of the source.
        min_suggestion_words: Fewest words of a suggestion; a deletion has none and is exempt.
        max_suggestion_words: Most words of a suggestion.
        max_masked_share: Largest share of the masked text's words, or as many suggested ones,
            under the mask; one word may always be.
        keep_punctuation: Whether a suggestion may hold no letter and no digit.
        min_confidence: Least probability of the links that a mask rests on: those inside it and
            those of the kept words beside it. A mask that rests on none passes if this is 0.
        min_score: Least score, of the pair (`transforms.reading.given_scores`) or of the example
            (`transforms.suggestions.suggestion_scores`); None for any, and for none.
        max_score: Largest score; inf for any, and for none.
    """

    min_source_words: int = 1
    max_source_words: int = 250
    min_suggestion_words: int = 1
    max_suggestion_words: int = 32
    max_masked_share: float = 0.5
    keep_punctuation: bool = False
    min_confidence: float = 0.0
    min_score: float | None = None
    max_score: float = np.inf

    def __post_init__(self) -> None:
        for side in ("source", "suggestion"):
            least, most = getattr(self, f"min_{side}_words"), getattr(self, f"max_{side}_words")
            if not 1 <= least <= most:
                raise ConfigError(
                    f"min_{side}_words must be 1 to max_{side}_words ({most}), got {least}"
                )
        if not 0 < self.max_masked_share <= 1:
            raise ConfigError(
                f"max_masked_share must be over 0 and at most 1, got {self.max_masked_share}"
            )
        if not 0 <= self.min_confidence <= 1:
            raise ConfigError(f"min_confidence must be 0 to 1, got {self.min_confidence}")
        least = -np.inf if self.min_score is None else self.min_score
        if not least <= self.max_score:
            raise ConfigError(
                f"min_score must be at most max_score ({self.max_score}), got {self.min_score}"
            )


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
