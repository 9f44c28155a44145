"""Sizes, learning rates, and the processors on which bf16 is quicker."""

import pytest

from pairweave.models.translation.arithmetic import has_bf16
from pairweave.models.translation.translation_config import SIZES
from pairweave.transforms.errors import ConfigError


def test_the_learning_rate_rises_to_its_highest_and_then_falls():
    config = SIZES["toy"].changed(learning_rate=0.1, warmup_steps=10)
    rates = [config.rate(step) for step in range(40)]
    assert rates[9] == max(rates) == pytest.approx(0.1)
    assert rates[0] == pytest.approx(0.01)
    assert rates[39] == pytest.approx(0.05)


def test_a_number_out_of_range_is_refused():
    with pytest.raises(ConfigError, match="steps must be"):
        SIZES["toy"].changed(steps=0)


@pytest.mark.parametrize(
    ("info", "able"),
    [
        ("flags\t\t: fpu avx2 fma", False),
        ("processor : 0\nflags : fpu avx512f avx512_bf16", False),
        ("flags : fpu amx_bf16", True),
        ("Features\t: fp asimd bf16", True),
        ("bugs : amx_bf16\nflags : fpu", False),
        ("", False),
    ],
)
def test_bf16_is_known_by_the_flags_of_the_processor(info, able):
    assert has_bf16(info) is able
