"""Rejects the rows in stretches of lines that are not translations of each other."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from pairweave.transforms.rejects import Reject, Stage
from pairweave.transforms.screen import with_reasons

Stretches = Mapping[int, Sequence[tuple[int, int]]]
"""First and last line of each stretch, in order, by unit."""


def reject_misaligned(batch: pa.RecordBatch, stretches: Stretches) -> pa.RecordBatch:
    """Reject the rows whose lines are in a stretch; earlier rejects keep their reason.

    Args:
        batch: Rows (`schemas.ROWS`).
        stretches: The stretches.

    Returns:
        The same rows in the same order.
    """
    kept = batch.column("reason").is_null().to_numpy(zero_copy_only=False)
    lines = batch.column("line").to_numpy()
    units = batch.column("unit").to_numpy()
    reasons = {}
    for unit in np.unique(units).tolist():
        if unit not in stretches:
            continue
        inside = (units == unit) & kept
        first, last = np.array(stretches[unit], np.int64).T
        place = np.searchsorted(first, lines, "right") - 1
        inside &= (place >= 0) & (lines <= last[np.maximum(place, 0)])
        for row in np.flatnonzero(inside).tolist():
            detail = f"lines {first[place[row]]} to {last[place[row]]}"
            reasons[row] = (Reject.MISALIGNED, detail)
    return with_reasons(batch, reasons, Stage.SCREEN) if reasons else batch
