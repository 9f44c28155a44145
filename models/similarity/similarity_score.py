"""One score from the similarities that an encoder computes."""

from collections.abc import Mapping

import numpy as np

from pairweave.models.similarity.similarity_options import SimilarityConfig


def score_of(values: Mapping[str, np.ndarray], config: SimilarityConfig) -> np.ndarray:
    """Return the score of pairs, float32 ``[pair]`` in [0, 1].

    For YiSi-2 it is ``(1 - w) * yisi2 + w * lm`` with the weight ``w`` of the language model's
    probability ``lm`` (NRC at WMT20, section 2.3, where ``w`` is 0.1; the weights of YiSi's own
    program sum to 1 too). A margin ``m``, which is unbounded, becomes ``m / (1 + m)``: 0.5 if a
    pair is as similar as its neighbours.

    Args:
        values: ``yisi2``, and ``lm`` if it has a weight; or ``margin``; float32 ``[pair]``.
        config: The weights.
    """
    if "margin" in values:
        margin = np.maximum(values["margin"].astype(np.float64), 0.0)
        return (margin / (1 + margin)).astype(np.float32)
    score = values["yisi2"].astype(np.float64)
    if config.lm_weight:
        score = (1 - config.lm_weight) * score + config.lm_weight * values["lm"]
    return np.clip(score, 0.0, 1.0).astype(np.float32)


def yisi_layer(layers: int) -> int:
    """Return the layer that YiSi-2 compares if none is given, counted from the end.

    The NRC found the 8th last of 24 best, and the 3rd or 4th last of 12 (WMT20, section 3).

    Args:
        layers: Number of the encoder's layers.
    """
    return -max(layers // 3, 1)
