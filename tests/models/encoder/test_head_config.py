"""Which settings each head has, and the numbers that stand for what is not given. No torch."""

import pydantic
import pytest

from pairweave.models.encoder.encoder_config import HEADS, EncoderConfig, HeadConfig
from pairweave.transforms.errors import ConfigError

TRANSPORTS = {"ot", "unbalanced_ot", "partial_ot"}
OWNERS = {
    "head_threshold": {"softmax", *TRANSPORTS},
    "distortion": {*HEADS} - {"softmax", "entmax15"},
    "cost": TRANSPORTS,
    "mass": TRANSPORTS,
    "regularization": TRANSPORTS,
    "relaxation": {"unbalanced_ot"},
    "moved_mass": {"partial_ot"},
}
OTHER = {"head_threshold": 0.5, "distortion": 0.5, "cost": "euclidean", "mass": "norm"}


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("option", OWNERS)
def test_a_setting_is_taken_by_its_heads_and_refused_by_the_others(head, option):
    values = {"head": head, option: OTHER.get(option, 0.7)}
    if head in OWNERS[option]:
        assert getattr(HeadConfig(**values), option) == values[option]
    else:
        name = {"head_threshold": "threshold"}.get(option, option)
        with pytest.raises(ConfigError, match=f"^head {head} has no {name}, got "):
            HeadConfig(**values)


@pytest.mark.parametrize("head", HEADS)
def test_a_default_that_is_given_is_taken_by_every_head(head):
    default = HeadConfig().model_dump(exclude={"head"})
    assert HeadConfig(head=head, **default).model_dump(exclude={"head"}) == default


@pytest.mark.parametrize("head", HEADS)
def test_the_threshold_is_that_of_the_head_unless_it_is_given(head):
    expected = 0.001 if head == "softmax" else 0.3 if head in TRANSPORTS else 0.0
    assert HeadConfig(head=head).effective_threshold == expected
    if head in OWNERS["head_threshold"]:
        assert HeadConfig(head=head, head_threshold=0.0).effective_threshold == 0.0


@pytest.mark.parametrize(
    ("given", "pieces"), [("auto", None), (1, 1), ("4096", 4096), (1 << 24, 1 << 24)]
)
def test_a_batch_has_as_many_pieces_as_are_given_or_as_fit(given, pieces):
    assert EncoderConfig(model="m", token_budget=given).batch_pieces == pieces


@pytest.mark.parametrize("given", [0, -1, "0", "1.5", "all", "", (1 << 24) + 1, "01", True])
def test_what_is_no_number_of_pieces_is_refused(given):
    with pytest.raises((ConfigError, pydantic.ValidationError)):
        EncoderConfig(model="m", token_budget=given)
