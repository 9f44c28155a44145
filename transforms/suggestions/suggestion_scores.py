"""The score of an example by two translation models: dual conditional cross-entropy.

It is the mean of both directions' cross-entropies plus their absolute difference (Junczys-Dowmunt
2018, section 2.1). The TSMind system for translation suggestion selects its data by this score.
Lower is better.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.symbols.mask import MASK

Scorer = Callable[[Sequence[str], Sequence[str], str, str], tuple[np.ndarray, np.ndarray]]
"""Takes sources, targets and both languages; returns the mean log-probability of each target given
its source, and of each source given its target, NaN if a model cannot score it."""


def dual_cross_entropy(forward: np.ndarray, reverse: np.ndarray) -> np.ndarray:
    """Return the score of pairs of mean log-probabilities, float32 ``[pair]``; 0 is best.

    >>> dual_cross_entropy(np.array([-1.0, -1.0]), np.array([-1.0, -3.0]))
    array([1., 4.], dtype=float32)
    """
    return (np.abs(forward - reverse) - (forward + reverse) / 2).astype(np.float32)


def score_examples(rows: pa.Table, scorer: Scorer) -> np.ndarray:
    """Score sources with their translations, with the suggestion in place of the mask.

    Args:
        rows: Examples (`transforms.schemas.SUGGESTIONS`).
        scorer: Two models.

    Returns:
        float32 ``[row]``, NaN if a model cannot score it.
    """
    scores = np.full(len(rows), np.nan, np.float32)
    parts = [rows.column("masked").to_pylist(), rows.column("suggestion").to_pylist()]
    filled = [masked.replace(MASK, text) for masked, text in zip(*parts, strict=True)]
    sources = rows.column("source").to_pylist()
    languages = pc.binary_join_element_wise(
        rows.column("source_lang"), rows.column("target_lang"), "\x1f"
    ).to_pylist()
    for pair in sorted(set(languages)):
        places = [row for row, row_pair in enumerate(languages) if row_pair == pair]
        forward, reverse = scorer(
            [sources[row] for row in places], [filled[row] for row in places], *pair.split("\x1f")
        )
        scores[places] = dual_cross_entropy(forward, reverse)
    return scores
