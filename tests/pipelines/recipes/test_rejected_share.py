"""A step that rejects most of its input stops a recipe."""

import pytest

from pairweave.pipelines.recipes import recipe, rejected_share
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.option_marks import REJECTS, mark_of
from pairweave.transforms.screen import ScreenReject
from pairweave.transforms.screen_options import ScreenLimits

FIT = "{job: fit, source_input: a.en, target_input: a.de, source_lang: en, target_lang: de"


def manifest(kept, **rejected):
    counts = {"read": kept + sum(rejected.values()), "kept": kept}
    return {"rows": counts, "rejected": rejected}


def check(job, most, kept, **rejected):
    rejected_share.check(job, manifest(kept, **rejected), most, "out/step")


def test_the_message_names_the_share_the_reasons_and_what_to_change():
    with pytest.raises(ConfigError) as error:
        check("fit", 0.5, 6, length_ratio=20, too_long=5, invalid_utf8=2, empty_target=1)
    assert "rejected 28 of 34 pairs (82 %), more than max_rejected allows (0.5)" in str(error.value)
    assert "length_ratio 20, too_long 5, invalid_utf8 2;" in str(error.value)
    assert "change max_ratio or max_tokens at the top" in str(error.value)
    assert "out/step/report.html" in str(error.value)
    with pytest.raises(ConfigError, match="change max_target_foreign at the top"):
        check("filter", 0.5, 1, target_foreign=2)
    with pytest.raises(ConfigError, match="change plugin_rules at the top"):
        check("filter", 0.5, 1, rule_no_digits=2)


@pytest.mark.parametrize(("most", "lost"), [(0.5, 5), (0.9, 9), (1.0, 10), (0.0, 0)])
def test_a_share_up_to_the_limit_is_allowed_and_one_pair_more_is_not(most, lost):
    check("fit", most, 10 - lost, length_ratio=lost)
    if lost < 10:
        with pytest.raises(ConfigError, match="more than max_rejected"):
            check("fit", most, 9 - lost, length_ratio=lost + 1)


def test_repetitions_and_a_selection_do_not_count():
    check("filter", 0.5, 5, low_score=500, duplicate=100, masked_duplicate=9, length_ratio=5)
    with pytest.raises(ConfigError, match=r"rejected 6 of 11 pairs \(55 %\)"):
        check("filter", 0.5, 5, low_score=0, duplicate=500, length_ratio=6)
    with pytest.raises(ConfigError, match="low_score 500"):
        check("bitext", 0.5, 5, low_score=500)
    with pytest.raises(ConfigError, match="rejected 5 of 5 pairs"):
        check("fit", 0.5, 0, duplicate=500, length_ratio=5)


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Return a function that returns the limits of the steps of a recipe."""
    monkeypatch.chdir(tmp_path)
    for side in ("en", "de"):
        (tmp_path / f"a.{side}").write_text("a b\n")

    def read(text, most=None):
        (tmp_path / "r.yaml").write_text(text)
        return [step.max_rejected for step in recipe.read_recipe("r.yaml", "out", {}, most)]

    return read


def test_the_limit_is_the_command_lines_else_the_steps_else_the_recipes(read):
    steps = f"steps:\n- {FIT}}}\n- {FIT}, name: b, max_rejected: 0.9}}\n"
    assert read(steps) == [0.5, 0.9]
    assert read(f"max_rejected: 0.2\n{steps}") == [0.2, 0.9]
    assert read(f"max_rejected: 0.2\n{steps}", 1.0) == [1.0, 1.0]


@pytest.mark.parametrize("value", ["1.5", "-1", "most", "true", "null"])
def test_what_is_no_share_is_refused(read, value):
    with pytest.raises(ConfigError, match=r"step fit: max_rejected: expected a share from 0 to 1"):
        read(f"steps:\n- {FIT}, max_rejected: {value}}}\n")
    with pytest.raises(ConfigError, match=r"r.yaml: max_rejected: expected a share"):
        read(f"max_rejected: {value}\nsteps:\n- {FIT}}}\n")


def test_a_limit_of_the_screen_names_a_reason_that_there_is():
    named = [mark_of(field, REJECTS) for field in ScreenLimits.model_fields.values()]
    assert {each for each in named if each} == {"too_long", "length_ratio", "long_token"}
    assert set(named) - {None} <= set(ScreenReject)
