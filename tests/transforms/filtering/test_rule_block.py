"""Rules that a flag gives as YAML are read as those of a file."""

import pydantic
import pytest

from pairweave.transforms.filtering.rule_block import RuleBlockOptions
from tests.makers import odd_yaml


def refusal(text):
    with pytest.raises(pydantic.ValidationError) as refused:
        RuleBlockOptions.model_validate({"filter": text})
    (problem,) = refused.value.errors()
    assert problem["loc"] == ("filter",)
    return str(problem["ctx"]["error"])


@pytest.mark.parametrize(("text", "message"), odd_yaml.REFUSED)
def test_what_a_file_cannot_have_a_flag_cannot_have(text, message):
    said = refusal(text)
    assert message in said
    assert said.endswith("; expected a map of rules and limits, such as {max_copied: 0.3}")


@pytest.mark.parametrize("name", odd_yaml.BOMBS)
def test_aliases_in_a_flag_do_not_multiply(name):
    assert "more than 100,000" in refusal(odd_yaml.BOMBS[name])


def test_rules_may_be_merged():
    block = RuleBlockOptions(filter="{<<: {max_copied: 0.3, max_mojibake: 1}, max_copied: 0.2}")
    assert (block.filter.max_copied, block.filter.max_mojibake) == (0.2, 1)


@pytest.mark.parametrize("limit", ["0.5", True, float("nan")])
def test_the_limit_of_a_rule_of_another_package_is_a_number(limit):
    with pytest.raises(pydantic.ValidationError, match="plugin_rules"):
        RuleBlockOptions.model_validate({"filter": {"plugin_rules": {"shouting": limit}}})
