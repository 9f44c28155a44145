"""What models of an arm read and write: as the data have it, or with white space after tags."""

import pytest

from pairweave.pipelines.ablation.ablation_config import Ablation, Arm
from pairweave.pipelines.ablation.model_texts import (
    evaluated_pairs,
    training_pairs,
    written_texts,
)
from pairweave.pipelines.ablation.prepared import prepare
from pairweave.pipelines.ablation.task_kind import EvaluationSet
from tests.makers.ablations import configuration

PAIRS = [("The <a_0>green</a_0> witch", "Die <a_0>grüne</a_0> Hexe"), ("plain", "einfach")]
SHIFTED = [("The<a_0> green</a_0> witch", "Die<a_0> grüne</a_0> Hexe"), ("plain", "einfach")]
DATA = [{"source": "a", "target": "b"}]


@pytest.mark.parametrize(("shift", "made"), [(False, PAIRS), (True, SHIFTED)])
def test_pairs_and_tests_are_shifted_if_the_arm_says_so_and_translations_back(shift, made):
    arm = Arm(data=DATA, whitespace_shift=shift)
    assert training_pairs(arm, PAIRS) == made
    test = EvaluationSet("help", *map(tuple, zip(*PAIRS, strict=True)))
    assert evaluated_pairs(arm, test) == made
    assert written_texts(arm, [output for _, output in made]) == [text for _, text in PAIRS]


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
