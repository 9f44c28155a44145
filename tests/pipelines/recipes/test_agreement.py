"""The steps of a recipe share the limits of the pairs that one of them has chosen."""

import math
from pathlib import Path

import pytest

from pairweave.pipelines.recipes import recipe
from pairweave.transforms.errors import ConfigError

LANGS = "source_lang: en\ntarget_lang: de\n"
OWN = "source_input: a.en, target_input: a.de"
CHAIN = (
    "- {{job: filter, {own}, {filter}}}\n"
    "- {{job: fit, corpora: [{{input: {{from: filter}}}}, {{corpus: clean, {own}}}], {fit}}}\n"
    "- {{job: augment, input: {{from: filter}}, model: {{from: fit}}, {augment}}}\n"
)


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Return a function that reads a recipe, given keys at its top and of its steps."""
    monkeypatch.chdir(tmp_path)
    for side in ("en", "de"):
        (tmp_path / f"a.{side}").write_text("a b\n")

    def read(top="", **keys):
        own = {name: keys.get(name, "seed: 1") for name in ("filter", "fit", "augment")}
        text = f"{LANGS}{top}steps:\n{CHAIN.format(own=OWN, **own)}"
        (tmp_path / "r.yaml").write_text(text)
        return recipe.read_recipe("r.yaml", "out", {})

    return read


def limits(steps, name):
    return [getattr(step.options, name) for step in steps]


def test_steps_that_read_chosen_pairs_have_the_limits_they_were_chosen_by(read):
    assert limits(read(), "max_ratio") == [3.0] * 3
    steps = read(filter="max_ratio: 9, max_tokens: 700, max_token_chars: 200")
    assert limits(steps, "max_ratio") == [9.0] * 3
    assert limits(steps, "max_tokens") == [700] * 3
    assert limits(steps, "max_token_chars") == [200] * 3


def test_pairs_of_several_filters_have_the_widest_limits(read):
    read()  # makes the corpus
    Path("r.yaml").write_text(
        f"{LANGS}steps:\n- {{job: filter, name: a, {OWN}, max_ratio: 9}}\n"
        f"- {{job: filter, name: b, {OWN}, max_ratio: 5, max_tokens: 700}}\n"
        "- {job: fit, input: [{from: a}, {from: b}]}\n"
    )
    steps = recipe.read_recipe("r.yaml", "out", {})
    assert (limits(steps, "max_ratio")[2], limits(steps, "max_tokens")[2]) == (9.0, 700)


def test_a_limit_at_the_top_is_that_of_every_step(read):
    assert limits(read("max_ratio: .inf\n"), "max_ratio") == [math.inf] * 3


def test_a_step_may_have_wider_limits(read):
    assert limits(read(fit="max_ratio: 5"), "max_ratio") == [3.0, 5.0, 3.0]


@pytest.mark.parametrize(
    ("steps", "tokens"),
    [
        (
            f"- {{job: filter, {OWN}, tokens: whitespace}}\n"
            "- {job: finetune, model: m, input: {from: filter}}\n",
            ["whitespace", "words"],
        ),
        (
            f"- {{job: finetune, model: m, {OWN}}}\n- {{job: align, {OWN}, aligner: encoder, "
            "model: {from: finetune}, tokens: whitespace}\n",
            ["words", "whitespace"],
        ),
        (
            f"- {{job: filter, {OWN}, tokens: whitespace}}\n"
            "- {job: augment, input: {from: filter}, tokens: null}\n",
            ["whitespace", None],
        ),
    ],
)
def test_a_step_may_leave_open_what_another_step_sets(read, steps, tokens):
    read()  # makes the corpus
    Path("r.yaml").write_text(f"{LANGS}steps:\n{steps}")
    assert limits(recipe.read_recipe("r.yaml", "out", {}), "tokens") == tokens


def test_steps_that_read_no_chosen_pairs_or_choose_have_the_limits_of_their_jobs(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for side in ("en", "de"):
        (tmp_path / f"a.{side}").write_text("a b\n")
    (tmp_path / "r.yaml").write_text(
        f"{LANGS}steps:\n- {{job: filter, {OWN}, max_ratio: 9}}\n- {{job: fit, {OWN}}}\n"
        f"- {{job: bitext, {OWN}, model: {{from: fit}}}}\n"
        "- {name: best, job: filter, input: {from: bitext}}\n"
        "- {name: narrow, job: filter, input: {from: filter}}\n"
        "- {job: augment, input: {from: bitext}}\n"
    )
    steps = recipe.read_recipe("r.yaml", "out", {})
    assert limits(steps, "max_ratio") == [9.0, 3.0, math.inf, 3.0, 3.0, 3.0]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"fit": "max_ratio: 1.5"}, "step fit: max_ratio: 1.5 is less than the 3 of the step filt"),
        ({"augment": "max_tokens: 99"}, "step augment: max_tokens: 99 is less than the 250 of the"),
        ({"augment": "target_lang: fr"}, "target_lang: fr differs from the de of the step f"),
        ({"filter": "tokens: whitespace", "fit": "tokens: words"}, "tokens: words differs from"),
    ],
)
def test_steps_that_disagree_are_refused_before_anything_runs(read, keys, message):
    with pytest.raises(ConfigError, match=message) as error:
        read(**keys)
    assert "at the top of the recipe" in str(error.value)
