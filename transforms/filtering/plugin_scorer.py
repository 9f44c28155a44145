"""Applies a scorer of another package in a run."""

from typing import cast

import numpy as np
import pyarrow as pa

from pairweave.transforms.plugins.entry_points import Plugin, load_plugin, raised
from pairweave.transforms.plugins.pair_scorer import SCORER, PairScorer
from pairweave.transforms.plugins.returned_numbers import returned_numbers

_TEXTS = ("source", "target", "source_lang", "target_lang")


def score(plugin: Plugin, pairs: pa.Table) -> np.ndarray:
    """Return the scores of a scorer, float32 ``[pair]``.

    Args:
        plugin: The scorer.
        pairs: Pairs with texts and languages; no text is null.

    Raises:
        ConfigError: The scorer cannot be loaded here, raises an error, or returns anything other
            than a finite number for each pair.
    """
    scorer = cast("PairScorer", load_plugin(plugin, SCORER))
    columns = {name: pairs.column(name).cast(pa.string()) for name in _TEXTS}
    expected = ("a finite number of 32 bits for each pair", "give another scorer")
    try:
        returned = scorer.score(pa.table(columns))
    except (MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a panic of Rust is not an Exception
        raise plugin.failed("scorer", "score", raised(error), *expected) from error
    try:
        scores = returned_numbers(returned, pairs.num_rows, "scores")
    except ValueError as error:
        raise plugin.failed("scorer", "score", str(error), *expected) from error
    wrong = np.flatnonzero(~np.isfinite(scores))
    if len(wrong):
        text = str(columns["source"][int(wrong[0])])[:80]
        what = f"returned {np.asarray(returned)[wrong[0]]} for a pair, whose source is {text!r}"
        raise plugin.failed("scorer", "score", what, *expected)
    return scores
