"""Settings accept their minimum and maximum, and nothing beyond."""

import functools
import math

import pytest

from pairweave.models.encoder.encoder_config import EncoderConfig, HeadConfig
from pairweave.models.encoder.encoder_options import Hosting
from pairweave.models.external.external_programs import ExternalConfig
from pairweave.models.finetune.finetune_config import FinetuneConfig
from pairweave.models.hmm.hmm_config import HmmConfig
from pairweave.models.translators.translator import TranslatorConfig
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.links.link_options import ConfidenceConfig
from pairweave.transforms.links.phrase_extraction import PhraseConfig
from pairweave.transforms.screen import ScreenConfig
from pairweave.transforms.suggestions.suggestion_options import (
    AlignedConfig,
    FilterConfig,
    HintConfig,
    RandomConfig,
)
from pairweave.transforms.suggestions.suggestions import SuggestionConfig
from pairweave.transforms.tags.fragments import FragmentConfig
from pairweave.transforms.tags.tag_config import TagConfig
from pairweave.transforms.units import ReadLimits

SEED = (0, (1 << 63) - 1)
Encoder = functools.partial(EncoderConfig, "model")
Transport = functools.partial(HeadConfig, "ot")
Translator = functools.partial(TranslatorConfig, "transformers", "model")


def filters_of_examples(**limits):
    """Return limits of examples, checked against each other as those of a run are."""
    return SuggestionConfig(filters=FilterConfig(**limits)).filters


WHOLE = [
    (ReadLimits, "max_line_bytes", 1, 256 << 20),
    (ReadLimits, "max_expansion", 1, 1 << 20),
    (ReadLimits, "expansion_floor_bytes", 0, 1 << 40),
    (ReadLimits, "max_file_bytes", 1, 1 << 60),
    (ReadLimits, "max_json_depth", 1, 256),
    (ScreenConfig, "max_tokens", 1, 32_000),
    (ScreenConfig, "max_token_chars", 1, None),
    (PhraseConfig, "max_words", 1, 512),
    (FragmentConfig, "max_words", 1, 64),
    (FragmentConfig, "max_tags", 1, 9),
    (FragmentConfig, "seed", *SEED),
    (TagConfig, "max_tags", 1, 9),
    (TagConfig, "variants", 1, 100),
    (TagConfig, "seed", *SEED),
    (functools.partial(TagConfig, representation="xliff"), "max_id", 10, 10_000),
    (SuggestionConfig, "seed", *SEED),
    (RandomConfig, "variants", 1, 100),
    (AlignedConfig, "max_placeholders", 1, None),
    (filters_of_examples, "min_source_words", 1, 250),
    (filters_of_examples, "min_suggestion_words", 1, 32),
    (HintConfig, "hint_letters", 1, 100),
    (HmmConfig, "model1_iterations", 1, 100),
    (HmmConfig, "hmm_iterations", 1, 100),
    (HmmConfig, "max_vocabulary", 1, 100_000_000),
    (HmmConfig, "max_translations", 1, 1_000_000),
    (Encoder, "layer", -200, 200),
    (Encoder, "window_overlap", 0, 4096),
    (Transport, "max_iterations", 1, 1_000_000),
    (Hosting, "model_copies", 1, None),
    (functools.partial(ExternalConfig, "fast_align"), "timeout_seconds", 1, None),
    (Translator, "beam_size", 1, 100),
    (Translator, "max_translation_tokens", 1, 4096),
    (Translator, "translator_source_tokens", 2, 4096),
    (Translator, "translator_batch_tokens", 1, 1 << 24),
    (FinetuneConfig, "batch_pairs", 1, 1 << 20),
    (FinetuneConfig, "steps", 1, 1 << 40),
    (FinetuneConfig, "epochs", 1, 1 << 20),
    (FinetuneConfig, "warmup_steps", 0, 1 << 40),
    (FinetuneConfig, "max_pieces", 1, 1 << 15),
    (FinetuneConfig, "token_budget", 1, 1 << 24),
    (FinetuneConfig, "checkpoint_steps", 1, 1 << 40),
    (FinetuneConfig, "threads", 1, 4096),
    (FinetuneConfig, "seed", *SEED),
]

NUMBERS = [
    (ScreenConfig, "max_ratio", 1.0, math.inf),
    (FragmentConfig, "share", 0.0, 1.0),
    (TagConfig, "tag_share", math.ulp(0), 1.0),
    (TagConfig, "mix", 0.0, math.inf),
    (TagConfig, "self_closing_share", 0.0, 1.0),
    (TagConfig, "damage_share", 0.0, 1.0),
    (TagConfig, "empty_share", 0.0, 1.0),
    (TagConfig, "split_share", 0.0, 1.0),
    (SuggestionConfig, "mix", 0.0, math.inf),
    (RandomConfig, "start_probability", math.ulp(0), 1.0),
    (AlignedConfig, "max_placeholder_share", math.ulp(0), 1.0),
    (FilterConfig, "max_masked_share", math.ulp(0), 1.0),
    (FilterConfig, "min_confidence", 0.0, 1.0),
    (ConfidenceConfig, "min_confidence", 0.0, 1.0),
    (HmmConfig, "threshold", 1e-4, 1.0),
    (HmmConfig, "null_probability", 0.001, 0.999),
    (HmmConfig, "word_prior", 0.01, 1e4),
    (HeadConfig, "head_threshold", 0.0, 1.0),
    (Transport, "distortion", 0.0, 1.0),
    (Transport, "regularization", 0.005, 10.0),
    (Transport, "tolerance", 1e-15, 1e-2),
    (functools.partial(HeadConfig, "unbalanced_ot"), "relaxation", 1e-4, 1e4),
    (functools.partial(HeadConfig, "partial_ot"), "moved_mass", 1e-3, 1.0),
    (FinetuneConfig, "threshold", 0.0, 1.0),
    (FinetuneConfig, "learning_rate", 1e-9, 1.0),
    (FinetuneConfig, "weight_decay", 0.0, 1.0),
    (FinetuneConfig, "max_gradient", 1e-6, 1e9),
    (FinetuneConfig, "mask_share", 1e-3, 0.9),
]


def name_of(value):
    """Return the name of a test's setting."""
    return getattr(getattr(value, "func", value), "__name__", None)


def word_of(setting):
    """Return how an error names a setting."""
    titles = {"timeout_seconds": "program_timeout", "head_threshold": "threshold"}
    return titles.get(setting, setting)


@pytest.mark.parametrize(("config", "setting", "least", "most"), WHOLE, ids=name_of)
def test_a_whole_number_is_taken_up_to_its_limits(config, setting, least, most):
    for value in (least, most if most is not None else 1 << 40):
        assert getattr(config(**{setting: value}), setting) == value
    for value in (least - 1, *([most + 1] if most is not None else [])):
        with pytest.raises(ConfigError, match=rf"\b{word_of(setting)}.*{value}$"):
            config(**{setting: value})


@pytest.mark.parametrize(("config", "setting", "least", "most"), NUMBERS, ids=name_of)
def test_a_number_is_taken_up_to_its_limits(config, setting, least, most):
    for value in (least, most):
        assert getattr(config(**{setting: value}), setting) == value
    beyond = [math.nextafter(least, -math.inf), math.nan]
    for value in [*beyond, *([math.nextafter(most, math.inf)] if most < math.inf else [])]:
        with pytest.raises(ConfigError, match=word_of(setting)):
            config(**{setting: value})


@pytest.mark.parametrize("config", [FragmentConfig, SuggestionConfig, TagConfig])
def test_a_seed_s_limits_are_named(config):
    with pytest.raises(ConfigError, match=r"^seed must be 0 to 9223372036854775807, got -1$"):
        config(seed=-1)


@pytest.mark.parametrize("config", [Encoder, Translator])
def test_a_device_is_one_that_torch_knows(config):
    for device in ("auto", "cpu", "cuda", "cuda:3"):
        assert config(device=device).device == device
    for device in ("gpu", "cuda:", "cpu:0"):
        with pytest.raises(ConfigError, match="device must be auto, cpu, cuda or cuda:N"):
            config(device=device)


def test_a_program_names_the_heads_that_it_has():
    with pytest.raises(
        ConfigError, match=r"^--program simalign knows itermax or argmax or match, "
    ):
        ExternalConfig("simalign", model="model", head="softmax")
    with pytest.raises(ConfigError, match=r"^--program fast_align knows no head at all, got"):
        ExternalConfig("fast_align", head="softmax")


def test_defaults_are_those_that_the_papers_and_the_readme_name():
    hmm = HmmConfig()
    assert (hmm.model1_iterations, hmm.hmm_iterations, hmm.max_vocabulary) == (2, 4, 500_000)
    assert (HintConfig().hint_letters, PhraseConfig().max_words) == (1, 64)
    fragments = FragmentConfig()
    assert (fragments.max_words, fragments.max_tags) == (6, 2)
    assert (TagConfig().max_tags, TagConfig().tag_share, TagConfig().variants) == (9, 0.3, 1)
    screen = ScreenConfig()
    assert (screen.max_tokens, screen.max_ratio, screen.max_token_chars) == (250, 3.0, 100)
    assert FinetuneConfig().learning_rate == 2e-5
    assert FinetuneConfig().batch_pairs == 8
