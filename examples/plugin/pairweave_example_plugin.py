"""A rule of ``filter``: pairs of which one side is in capital letters and the other is not."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


class Shouting:
    """The difference between the shares of capitals in the letters of both sides, from 0 to 1.

    Letters without case, such as those of Chinese, do not count; a side without others has 0.
    """

    about = "difference between the sides' shares of capital letters"
    limit = 0.5
    least = False

    def measure(self, pairs: pa.Table) -> np.ndarray:
        """Return the difference for each pair, float32 ``[pair]``."""
        source, target = (_capitals(pairs.column(side)) for side in ("source", "target"))
        return np.abs(source - target)


def _capitals(texts: pa.ChunkedArray) -> np.ndarray:
    """Return the share of capitals in the letters of each text, float32 ``[text]``."""
    upper, lower = (
        pc.count_substring_regex(texts, pattern).to_numpy() for pattern in (r"\p{Lu}", r"\p{Ll}")
    )
    return (upper / np.maximum(upper + lower, 1)).astype(np.float32)


SHOUTING = Shouting()
