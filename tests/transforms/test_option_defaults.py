"""The defaults that the documentation names: another value would change what a run writes."""

import math

import pytest

from pairweave.models.translators.translation_options import TranslationOptions
from pairweave.transforms.links.link_options import (
    ConfidenceConfig,
    PhraseOptions,
    SymmetrizeConfig,
)
from pairweave.transforms.metrics.significance_options import Significance
from pairweave.transforms.screen_options import ScreenLimits
from pairweave.transforms.suggestions.suggestion_options import (
    AlignedConfig,
    FilterConfig,
    HintConfig,
    MaskOptions,
    RandomConfig,
)
from pairweave.transforms.tags.fragments import FragmentConfig
from pairweave.transforms.tags.injection_options import (
    FRAGMENT_DEFAULTS,
    MethodOptions,
    TagOptions,
)
from pairweave.transforms.units import FileLimitOptions

DEFAULTS = {
    ScreenLimits: {
        "max_tokens": 250,
        "max_ratio": 3.0,
        "max_token_chars": 100,
        "drop_identical": False,
    },
    FileLimitOptions: {
        "max_line_bytes": 1 << 20,
        "max_expansion": 200,
        "max_file_bytes": 1 << 40,
        "max_json_depth": 64,
    },
    SymmetrizeConfig: {"heuristic": "grow-diag"},
    PhraseOptions: {"max_words": 64, "unaligned_words": "forbid"},
    ConfidenceConfig: {"min_confidence": 0.0, "draw": "uniform"},
    TagOptions: {
        "max_id": None,
        "max_tags": 9,
        "tag_share": 0.3,
        "nesting": "proper",
        "mix": 1.0,
        "variants": 1,
        "whitespace_shift": False,
        "punctuation_tags": False,
        "phrase_pairs": "sound",
        "tag_numbers": "in_order",
        "self_closing_share": 0.0,
        "damage_share": 0.0,
        "empty_share": 0.0,
        "split_share": 0.0,
    },
    FragmentConfig: {
        "nesting": "proper",
        "max_words": 6,
        "max_tags": 2,
        "seed": 1,
        "segmenter": "none",
        "punctuation": False,
        "share": 1.0,
    },
    MethodOptions: {"method": "alignment", "glossary": None, "glossary_match": "stem"},
    MaskOptions: {"methods": ("random", "alignment", "parallel"), "mix": 1.0},
    RandomConfig: {
        "start_probability": 0.15,
        "lengths": None,
        "mean_words": 3.0,
        "max_mask_words": 16,
        "variants": 1,
    },
    AlignedConfig: {"max_placeholders": 20, "max_placeholder_share": 0.5, "deletions": False},
    FilterConfig: {
        "min_source_words": 1,
        "max_source_words": 250,
        "min_suggestion_words": 1,
        "max_suggestion_words": 32,
        "max_masked_share": 0.5,
        "keep_punctuation": False,
        "min_confidence": 0.0,
        "min_score": None,
        "max_score": math.inf,
    },
    HintConfig: {"hint": "none", "hint_letters": 1},
    Significance: {"resamples": 1_000, "trials": 10_000, "seed": 12345},
    TranslationOptions: {
        "translator_revision": None,
        "beam_size": 4,
        "max_translation_tokens": 256,
        "translator_source_tokens": 512,
        "translator_batch_tokens": 4096,
        "translator_precision": "fp32",
    },
}


LIMITS = {
    PhraseOptions: {"max_words": (1, 512)},
    TagOptions: {
        "max_id": (10, 10_000),
        "max_tags": (1, 9),
        "tag_share": (None, 1),
        "mix": (0, None),
        "variants": (1, 100),
        **{f"{form}_share": (0, 1) for form in ("self_closing", "damage", "empty", "split")},
    },
    FragmentConfig: {
        "max_words": (1, 64),
        "max_tags": (1, 9),
        "share": (0, 1),
        "seed": (0, (1 << 63) - 1),
    },
    RandomConfig: {
        "mean_words": (1, None),
        "max_mask_words": (1, 512),
        "start_probability": (None, 1),
        "variants": (1, 100),
    },
    HintConfig: {"hint_letters": (1, 100)},
    Significance: {
        "resamples": (1, 1_000_000),
        "trials": (1, 10_000_000),
        "seed": (1, None),
    },
}


@pytest.mark.parametrize("options", LIMITS, ids=lambda options: options.__name__)
def test_limits_are_the_documented_ones(options):
    actual = {}
    for name, field in options.model_json_schema()["properties"].items():
        known = dict(pair for part in [field, *field.get("anyOf", [])] for pair in part.items())
        limits = known.get("minimum"), known.get("maximum")
        if limits != (None, None):
            actual[name] = limits
    assert actual == LIMITS[options]


@pytest.mark.parametrize("options", DEFAULTS, ids=lambda options: options.__name__)
def test_every_default_is_the_documented_one(options):
    assert options().model_dump() == DEFAULTS[options]


def test_fragments_have_defaults_of_their_own():
    # Hanneman and Dinu 2020, section 5.1.
    assert FRAGMENT_DEFAULTS == {
        "max_words": 6,
        "max_tags": 2,
        "self_closing_share": 0.27,
        "damage_share": 0.10,
    }
