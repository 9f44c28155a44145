"""The share of each run in an epoch."""

import pytest

from pairweave.transforms.errors import ConfigError
from pairweave.transforms.streaming.stream_options import StreamConfig
from pairweave.transforms.streaming.tag_stream import pairs_of_an_epoch


@pytest.mark.parametrize(
    ("sizes", "settings", "expected"),
    [
        ([30, 70], {}, (30, 70)),
        ([30, 70], {"weights": (1.0, 1.0)}, (50, 50)),
        ([900, 100], {"temperature": 2.0}, (750, 250)),
        ([900, 100], {"weights": (1.0, 3.0)}, (250, 750)),
        ([1, 1, 1], {"weights": (1.0, 1.0, 1.0)}, (1, 1, 1)),
        ([5, 5], {"weights": (1.0, 0.0)}, (10, 0)),
        ([5, 0], {"weights": (1.0, 9.0)}, (5, 0)),
    ],
)
def test_pairs_of_an_epoch_follow_weights_and_temperature(sizes, settings, expected):
    assert pairs_of_an_epoch(sizes, StreamConfig(**settings)) == expected


@pytest.mark.parametrize(
    ("sizes", "weights", "message"),
    [
        ([5, 5], (1.0,), "1 weight for 2 runs"),
        ([5, 5], (1.0, -1.0), "numbers from 0"),
        ([5, 5], (0.0, 0.0), "no pair"),
        ([0], (), "no pair"),
    ],
)
def test_weights_that_give_no_mix_are_refused(sizes, weights, message):
    with pytest.raises(ConfigError, match=message):
        pairs_of_an_epoch(sizes, StreamConfig(weights=weights))
