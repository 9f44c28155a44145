"""Counts of texts that keep HTML entities or C1 controls, and notices about them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import pyarrow as pa

from pairweave.transforms.output.run_files import Json
from pairweave.transforms.reading.characters import CONTROLS, ENTITIES, with_c1, with_entity
from pairweave.transforms.units import Notice

SIDES = ("source", "target", "translation")
MANY = 0.005
"""Minimum share of a column's texts with entities for a notice."""

_KINDS = {ENTITIES: with_entity, CONTROLS: with_c1}
_ABOUT = {
    ENTITIES: "HTML entities such as &#39; are kept in {}; --html_entities decode turns them into "
    "characters, reject rejects the pairs",
    CONTROLS: "C1 control characters (U+0080 to U+009F), usually from text in another encoding, "
    "are kept in {}; --c1_controls mend reads them as windows-1252, reject rejects the pairs",
}


def count_characters(batch: pa.RecordBatch) -> Counter[str]:
    """Count texts with such characters by kind and side, in rows that no reader rejected.

    Args:
        batch: Rows as read (`transforms.schemas.ROWS`).

    Returns:
        Counts above 0, by ``kind side``.
    """
    counts: Counter[str] = Counter()
    is_open = batch.column("reason").is_null().to_numpy(zero_copy_only=False)
    for side in SIDES:
        for kind, find in _KINDS.items():
            found = int(np.count_nonzero(find(batch.column(side)) & is_open))
            if found:
                counts[f"{kind} {side}"] = found
    return counts


def character_notices(
    units: Iterable[Json], counts: Mapping[int, Mapping[str, int]]
) -> Iterator[Notice]:
    """Yield notices on the number of texts with such characters, by file and side.

    Any C1 control gives a notice; entities only if at least `MANY` of the texts have them.

    Args:
        units: The units of a plan.
        counts: `count_characters` of each unit, by its number.
    """
    rows: Counter[str] = Counter()
    found: Counter[tuple[str, str, str]] = Counter()
    for unit in units:
        rows[unit["file"]] += unit["rows"]
        for name, number in counts.get(unit["index"], {}).items():
            kind, _, side = name.partition(" ")
            found[unit["file"], side, kind] += number
    for (file, side, kind), number in sorted(found.items()):
        if kind == CONTROLS or number >= MANY * rows[file]:
            texts = f"{number:,} of {rows[file]:,} {side}s"
            yield Notice(kind, file, number, _ABOUT[kind].format(texts))
