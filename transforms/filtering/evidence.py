"""The evidence that scores are computed from: columns of the aligner, encoders and rules."""

from collections.abc import Mapping, Sequence

import numpy as np

from pairweave.transforms.rejects import is_of_plugin

HMM_COLUMNS = (
    *("forward_likelihood", "reverse_likelihood", "target_coverage", "source_coverage"),
    *("gap", "order", "roughness"),
)
"""Columns of the statistical aligner, computed by `models.hmm.pair_scores`."""

YISI_COLUMNS = ("yisi2", "yisi2_precision", "yisi2_recall", "lm")
"""Columns of YiSi-2, computed by `models.similarity.yisi_scorer`."""

LAYER_COLUMN = "yisi2_layer_"
"""Prefix of the columns with the YiSi-2 of single layers; the layer's number follows."""

MARGIN_COLUMNS = ("margin", "cosine")
"""Columns of the margin of sentence vectors, computed by `models.similarity.margin`."""

EVIDENCE_COLUMNS = (*HMM_COLUMNS, *YISI_COLUMNS, *MARGIN_COLUMNS)
"""Columns of all scorers, in output order; those of single layers follow (`LAYER_COLUMN`)."""

EVIDENCE = (
    *("likelihood", "uncovered", "gap", "order", "roughness"),
    *("number_conflict", "copied", "end_mismatch"),
)
"""Features of the default score, in the order of its weights."""

COLUMNS = (*HMM_COLUMNS, "number_conflict", "copied_words", "end_mismatch")
"""The columns that the features are computed from."""

Values = Mapping[str, np.ndarray]


def layer_column(layer: int) -> str:
    """Name the column with the YiSi-2 of a layer, if several layers are compared in one pass.

    Args:
        layer: Number of the layer, from the front.
    """
    return f"{LAYER_COLUMN}{layer}"


def evidence_names(columns: Sequence[str]) -> list[str]:
    """Return the columns of scorers and of plugins' rules among those of a table, in output order.

    >>> evidence_names(["rule_shouting", "yisi2_layer_17", "score", "yisi2"])
    ['yisi2', 'yisi2_layer_17', 'rule_shouting']
    """
    fixed = [name for name in EVIDENCE_COLUMNS if name in columns]
    layers = [name for name in columns if name.startswith(LAYER_COLUMN)]
    return fixed + layers + [name for name in columns if is_of_plugin(name)]


def evidence_of(values: Values) -> np.ndarray:
    """Return the features of pairs.

    If both sides or directions have a value, the worse one is used. Shares of faults are squared:
    one fault among many is weak evidence.

    Args:
        values: `COLUMNS`, and perhaps further columns, float32 ``[pair]``.

    Returns:
        float32 ``[column, pair]``, in the order of `EVIDENCE`.
    """
    return np.stack(
        [
            np.minimum(values["forward_likelihood"], values["reverse_likelihood"]),
            np.square(1 - np.minimum(values["target_coverage"], values["source_coverage"])),
            np.square(values["gap"]),
            values["order"],
            np.square(values["roughness"]),
            np.square(values["number_conflict"]),
            np.square(values["copied_words"]),
            np.square(values["end_mismatch"]),
        ]
    ).astype(np.float32)
