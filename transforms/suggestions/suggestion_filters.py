"""Rules that filter examples: one function each, over all masks of a shard."""

import dataclasses
from collections.abc import Callable

import numpy as np

from pairweave.transforms.kernels.masks.mask_borders import DELETE
from pairweave.transforms.suggestions.masks import METHODS, Masks
from pairweave.transforms.suggestions.suggestion_options import FilterConfig

RANDOM, ALIGNMENT, PARALLEL = range(len(METHODS))


@dataclasses.dataclass(frozen=True, slots=True)
class Examples:
    """The data that the rules check.

    Attributes:
        masks: The masks.
        source_words: Number of words of each mask's source, int64 ``[mask]``.
        identical: Whether the suggestion equals the masked text, bool ``[mask]``.
        reserved: Whether the pair's texts already contain the mask token, bool ``[mask]``.
    """

    masks: Masks
    source_words: np.ndarray
    identical: np.ndarray
    reserved: np.ndarray


Rule = Callable[[Examples, FilterConfig], np.ndarray]


def contains_mask(examples: Examples, _config: FilterConfig) -> np.ndarray:
    """Flag examples whose texts already contain the mask token, since a row has exactly one."""
    return examples.reserved


def splits_tag(examples: Examples, _config: FilterConfig) -> np.ndarray:
    """Flag masks that contain half an inline tag whose other half is not in the text."""
    return examples.masks.parted


def source_length(examples: Examples, config: FilterConfig) -> np.ndarray:
    """Flag examples whose source is too short or too long."""
    words = examples.source_words
    return (words < config.min_source_words) | (words > config.max_source_words)


def suggestion_length(examples: Examples, config: FilterConfig) -> np.ndarray:
    """Flag suggestions that are too short or too long; whole sentences may have any length."""
    words = examples.masks.suggestion_words
    short = (words < config.min_suggestion_words) & (examples.masks.operation != DELETE)
    return (short | (words > config.max_suggestion_words)) & (examples.masks.method != PARALLEL)


def masked_share(examples: Examples, config: FilterConfig) -> np.ndarray:
    """Flag masks that cover or suggest too much of their text; whole sentences are exempt."""
    masks = examples.masks
    masked = np.maximum(masks.words, masks.suggestion_words)
    around = masks.before + masks.behind
    limit = config.max_masked_share * (masked + around) + 1e-9
    return (masked > np.maximum(1, limit)) & (masks.method != PARALLEL)


def identical(examples: Examples, _config: FilterConfig) -> np.ndarray:
    """Flag suggestions equal to the masked text of a machine translation."""
    return examples.identical & (examples.masks.method == ALIGNMENT)


def punctuation(examples: Examples, config: FilterConfig) -> np.ndarray:
    """Flag suggestions, or deletions, without a letter or digit."""
    if config.keep_punctuation:
        return np.zeros(len(examples.masks), np.bool_)
    return ~examples.masks.wordlike


def confidence(examples: Examples, config: FilterConfig) -> np.ndarray:
    """Flag masks based on a link with too low a probability, or on no link."""
    masks = examples.masks
    if config.min_confidence == 0:
        return np.zeros(len(masks), np.bool_)
    return ~(masks.confidence >= config.min_confidence) & (masks.method == ALIGNMENT)


def outside_scores(scores: np.ndarray, config: FilterConfig) -> np.ndarray:
    """Return whether each score is outside the limits, or missing if there is a limit."""
    outside = np.zeros(len(scores), np.bool_)
    if config.min_score is not None:
        outside |= ~(scores >= config.min_score)
    if not np.isinf(config.max_score):
        outside |= ~(scores <= config.max_score)
    return outside


RULES: dict[str, Rule] = {
    "contains the mask token": contains_mask,
    "splits a tag": splits_tag,
    "source length": source_length,
    "identical": identical,
    "punctuation only": punctuation,
    "suggestion length": suggestion_length,
    "masked share": masked_share,
    "confidence": confidence,
}
"""The rules in the order in which they are checked; the first that flags a mask is counted."""

SCORE = len(RULES)
"""Number of the check that follows the rules: the limits of the score."""

RULE_NAMES = (*RULES, "score")


def first_rules(examples: Examples, config: FilterConfig) -> np.ndarray:
    """Return the index in `RULES` of the first rule that flags each mask, -1 for none."""
    rules = np.full(len(examples.masks), -1, np.int8)
    for place, rule in enumerate(RULES.values()):
        rules[rule(examples, config) & (rules < 0)] = place
    return rules
