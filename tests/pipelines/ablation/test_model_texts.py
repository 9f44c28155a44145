"""What models of an arm read and write: as the data have it, shifted, or with raw tags."""

import pytest

from pairweave.pipelines.ablation.ablation_config import Ablation, Arm, DataItem
from pairweave.pipelines.ablation.model_texts import (
    evaluated_pairs,
    training_pairs,
    written_texts,
)
from pairweave.pipelines.ablation.prepared import prepare
from pairweave.pipelines.ablation.task_kind import EvaluationSet
from pairweave.transforms.indexed_tag import INDICES
from pairweave.transforms.symbols import representations
from pairweave.transforms.symbols.raw_tags import RAW_CHARACTERS
from tests.makers.ablations import configuration

PAIRS = [("The <a_0>green</a_0> witch", "Die <a_0>grüne</a_0> Hexe"), ("plain", "einfach")]
SHIFTED = [("The<a_0> green</a_0> witch", "Die<a_0> grüne</a_0> Hexe"), ("plain", "einfach")]
RAW = [('The <g id="1">green</g> witch', 'Die <g id="1">grüne</g> Hexe'), ("plain", "einfach")]
DATA = (DataItem(source="a", target="b"),)


@pytest.mark.parametrize(
    ("options", "made"),
    [({}, PAIRS), ({"whitespace_shift": True}, SHIFTED), ({"raw_tags": True}, RAW)],
)
def test_pairs_and_tests_have_the_form_of_the_arm_and_translations_come_back(options, made):
    arm = Arm(data=DATA, **options)
    assert training_pairs(arm, PAIRS) == made
    test = EvaluationSet("help", *map(tuple, zip(*PAIRS, strict=True)))
    assert evaluated_pairs(arm, test) == made
    assert written_texts(arm, [output for _, output in made]) == [text for _, text in PAIRS]


def test_raw_tags_nest_and_what_was_not_opened_stays_text():
    pairs = [("<a_0>a <a_1>b</a_1></a_0> <a_2/>", "<a_9>x</a_9>")]
    raw = [('<g id="1">a <g id="2">b</g></g> <x id="3"/>', '<g id="10">x</g>')]
    arm = Arm(data=DATA, raw_tags=True)
    assert training_pairs(arm, pairs) == raw
    assert written_texts(arm, raw[0]) == list(pairs[0])
    odd = ['a</g> <g id="0">b</g>', '<x id="0"/> <g id=" 1">', '<g id="1">a']
    assert written_texts(arm, odd) == [*odd[:2], "<a_0>a"]


def test_raw_tags_have_the_characters_that_vocabularies_need():
    symbols = [(one, "") for one in representations.symbols("indexed", INDICES)]
    raw = training_pairs(Arm(data=DATA, raw_tags=True), symbols)
    assert set("".join(text for text, _ in raw)) == {*RAW_CHARACTERS, " "}


def test_a_hint_is_given_in_training_and_tests():
    arm = Arm(data=DATA, hint_letters=2)
    assert training_pairs(arm, [("cat <sep> <MASK_REP>", "Katze")]) == [
        ("cat <sep> <MASK_REP> <sep> Ka", "Katze")
    ]


def test_an_arm_is_prepared_with_shifted_pairs(tmp_path):
    value = configuration(tmp_path)
    value["arms"]["shifted"] = {**value["arms"]["own"], "whitespace_shift": True}
    made = prepare(Ablation.model_validate(value), tmp_path / "made")
    (own,), (shifted,) = made.passes("own"), made.passes("shifted")
    assert shifted != own
    assert shifted == training_pairs(made.ablation.arms["shifted"], own)
    assert made.arms["shifted"]["data"] != made.arms["own"]["data"]
