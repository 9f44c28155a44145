"""Models are used on pairs of the languages that they were learned from."""

from types import SimpleNamespace

import pytest

from pairweave.models.learned_languages import Learned, check_languages, other_languages
from pairweave.transforms.errors import ConfigError

ABOUT = {"source_lang": ["en"], "target_lang": ["de"]}


def plan_of(*languages):
    """Return a plan with a unit for each pair of languages."""
    units = [SimpleNamespace(source_lang=one, target_lang=other) for one, other in languages]
    return SimpleNamespace(units=units)


def model(about=ABOUT, **given):
    return Learned("--model", "m", "a model", about, **given)


def notices(plan, learned, refuses=None, *, translations=False):
    return check_languages(plan, [learned], refuses, translations=translations)


@pytest.mark.parametrize(
    ("languages", "about"),
    [
        ([("en", "de")], ABOUT),
        ([("en-GB", "de-AT"), ("en", "und")], ABOUT),
        ([("fr", "fr")], {}),
        ([("fr", "de")], {"source_lang": ["und"], "target_lang": ["de"]}),
        ([("en", "de"), ("en", "fr")], {"source_lang": ["en"], "target_lang": ["de", "fr"]}),
    ],
)
def test_pairs_of_the_languages_of_a_model_or_of_unknown_ones_are_not_noticed(languages, about):
    assert notices(plan_of(*languages), model(about)) == ()
    assert notices(plan_of(*languages), model(about), "pairs") == ()


@pytest.mark.parametrize(
    ("languages", "side"),
    [
        ([("fr", "de")], "source_lang"),
        ([("en", "fr")], "target_lang"),
        ([("en", "de"), ("en", "fr")], "target_lang"),
        ([("de", "en")], "source_lang"),
    ],
)
def test_pairs_of_another_language_are_noticed_or_refused(languages, side):
    plan = plan_of(*languages)
    (notice,) = notices(plan, model())
    assert notice.message.startswith(f"--model was fitted with {side} ")
    with pytest.raises(ConfigError, match=f"--model m: was fitted with {side} .* but the pairs"):
        notices(plan, model(), "pairs")
    with pytest.raises(ConfigError, match=f"was fitted with {side} "):
        notices(plan, model(refused=True))


def test_exchanged_sides_fit_a_model_that_serves_either_way():
    assert notices(plan_of(("de", "en")), model(either_way=True), "pairs") == ()
    with pytest.raises(ConfigError, match="source and target in either order"):
        notices(plan_of(("de", "en"), ("en", "de")), model(either_way=True), "pairs")


def test_of_translations_and_references_only_the_target_s_language_counts():
    assert notices(plan_of(("de", "de")), model(), translations=True) == ()
    (notice,) = notices(plan_of(("fr", "fr")), model(), translations=True)
    assert "target_lang de, but the pairs have fr" in notice.message


def test_a_single_text_is_compared_by_its_own_side():
    assert other_languages(model(), {"target_lang": "de-CH"}) is None
    assert other_languages(model({}), {"target_lang": "fr"}) is None
    assert "with target_lang de, " in other_languages(model(), {"target_lang": "fr"})
