"""What the default score looks at: what the aligner says of a pair, and what rules measure."""

from collections.abc import Mapping

import numpy as np

HMM_COLUMNS = (
    *("forward_likelihood", "reverse_likelihood", "target_coverage", "source_coverage"),
    *("gap", "order"),
)
"""What the aligner says of a pair; `models.hmm.pair_scores` fills them."""

YISI_COLUMNS = ("yisi2", "yisi2_precision", "yisi2_recall", "lm")
"""What an encoder says of a pair; `models.similarity.yisi_scorer` fills them."""

MARGIN_COLUMNS = ("margin", "cosine")
"""What sentence vectors say of a pair; `models.similarity.margin` fills them."""

EVIDENCE_COLUMNS = (*HMM_COLUMNS, *YISI_COLUMNS, *MARGIN_COLUMNS)
"""What any scorer says of a pair, in the order of the columns."""

EVIDENCE = ("likelihood", "coverage", "gap", "order", "number_conflict", "copied", "end_mismatch")
"""What the score looks at, in the order of its weights."""

COLUMNS = (*HMM_COLUMNS, "number_conflict", "copied_words", "end_mismatch")
"""The columns that the evidence is made of."""

Values = Mapping[str, np.ndarray]


def evidence_of(values: Values) -> np.ndarray:
    """Return the evidence of pairs.

    Of what both sides or directions tell, the worse counts. Shares of faults are squared: one
    fault among many says little.

    Args:
        values: `COLUMNS`, and perhaps others, float32 ``[pair]``.

    Returns:
        float32 ``[column, pair]``, in the order of `EVIDENCE`.
    """
    return np.stack(
        [
            np.minimum(values["forward_likelihood"], values["reverse_likelihood"]),
            np.minimum(values["target_coverage"], values["source_coverage"]),
            np.square(values["gap"]),
            values["order"],
            np.square(values["number_conflict"]),
            np.square(values["copied_words"]),
            np.square(values["end_mismatch"]),
        ]
    ).astype(np.float32)
