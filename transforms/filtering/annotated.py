"""Makes a row for every pair of a run with ``--annotate_only``, even if the pair is rejected.

A pair is a row of the input whose two sides could be read. The screen stops some pairs before they
are scored, and equal pairs before they are tokenized:

- Pairs stopped by a limit that no score depends on (`SCORED_ANYWAY`) are scored like all others.
- An equal pair has the values of the pair that it repeats.
- Pairs that are empty, too long, or rejected when they were read have no values, only a reason.

Rows without two texts stay rejected: they are not pairs, or their texts may not be written.
"""

import dataclasses

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.arrow.replaced_columns import replaced
from pairweave.transforms.filtering.filtered import with_reason
from pairweave.transforms.rejects import Reject
from pairweave.transforms.screen import ScreenReject
from pairweave.transforms.shards.merge import gather, order_of
from pairweave.transforms.shards.shard import Shard

SCORED_ANYWAY = (ScreenReject.LENGTH_RATIO, ScreenReject.IDENTICAL, ScreenReject.EXCLUDED)
"""Reasons of the screen that do not prevent a score."""


def take_up(shard: Shard) -> Shard:
    """Move the pairs of `SCORED_ANYWAY` from the rejected to the kept rows, with their reasons.

    Returns:
        The shard, whose working table is its kept pairs.
    """
    reasons = shard.rejected.column("reason").cast(pa.string())
    chosen = pc.is_in(reasons, pa.array([str(reason) for reason in SCORED_ANYWAY]))
    return _moved(shard, pc.and_(chosen, _has_texts(shard.rejected))).with_pairs()


def stopped(shard: Shard) -> np.ndarray:
    """Tell which kept rows have the reason that the screen gave them, bool ``[row]``."""
    return shard.kept.column("reason").is_valid().to_numpy()


def with_screen_reasons(shard: Shard) -> Shard:
    """Give scored pairs the reasons of the screen, which come before those of the rules.

    Args:
        shard: Its working table is SCORED rows.
    """
    places = np.flatnonzero(stopped(shard))
    if not len(places):
        return shard
    rejected = shard.kept.take(pa.array(places))
    reasons = rejected.column("reason").cast(pa.string()).to_pylist()
    details = rejected.column("detail").to_pylist()
    return shard.with_table(with_reason(shard.table, places, reasons, details))


def with_every_pair(shard: Shard, data: pa.Table) -> tuple[Shard, pa.Table]:
    """Add the pairs that were not scored.

    Args:
        shard: A shard.
        data: The rows of its kept pairs (`filtered.data_of`), in their order.

    Returns:
        The shard, in which only rows without two texts are rejected, and the rows of its kept
        pairs, in their order.
    """
    shard = _with_texts_of_repeated(shard)
    chosen = _has_texts(shard.rejected)
    others = shard.rejected.filter(chosen)
    if not others.num_rows:
        return shard, data
    reasons = others.column("reason").cast(pa.string())
    columns = {
        **{name: others.column(name).cast(data.schema.field(name).type) for name in _OWN},
        "keep": pa.array(np.zeros(others.num_rows, np.bool_)),
        "reason": reasons,
    }
    repeats = pc.equal(reasons, _DUPLICATE)
    original = pc.if_else(repeats, _first_of(shard, others), pa.scalar(None, pa.int32()))
    values = data.take(original)
    # A pair keeps a score that came with it even if the pair cannot be measured.
    columns["score"] = pc.coalesce(values.column("score"), others.column("score"))
    more = pa.table(
        [columns.get(field.name, values.column(field.name)) for field in data.schema],
        schema=data.schema,
    )
    order = order_of(pa.concat_tables([shard.kept, others]).unify_dictionaries())
    return _moved(shard, chosen), pa.concat_tables([data, more]).take(pa.array(order))


_OWN = ("id", "source", "target", "source_lang", "target_lang", "corpus", "file", "line")


def _first_of(shard: Shard, rows: pa.Table) -> pa.ChunkedArray:
    """Return for each row the kept row with its id that passed the screen, or null."""
    passed = np.flatnonzero(~stopped(shard))
    places = pc.index_in(rows.column("id"), shard.kept.column("id").take(pa.array(passed)))
    return pa.array(passed, pa.int32()).take(places.combine_chunks())


def _with_texts_of_repeated(shard: Shard) -> Shard:
    """Return the shard with the long texts of equal pairs restored."""
    rows = shard.rejected
    repeats = pc.fill_null(pc.equal(rows.column("reason").cast(pa.string()), _DUPLICATE), _NO)
    if not pc.any(pc.and_(repeats, pc.invert(_has_texts(rows)))).as_py():
        return shard
    places = pc.if_else(repeats, _first_of(shard, rows), pa.scalar(None, pa.int32()))
    for side in ("source", "target"):
        texts = pc.coalesce(rows.column(side), shard.kept.column(side).take(places))
        rows = replaced(rows, side, texts)
    return dataclasses.replace(shard, rejected=rows)


_DUPLICATE = str(Reject.DUPLICATE)
_NO = pa.scalar(False)  # noqa: FBT003 - the only way to say it


def _has_texts(rows: pa.Table) -> pa.ChunkedArray:
    has_both = pc.and_(rows.column("source").is_valid(), rows.column("target").is_valid())
    return pc.and_(has_both, rows.column("id").is_valid())


def _moved(shard: Shard, chosen: pa.ChunkedArray) -> Shard:
    """Move chosen rows from the rejected to the kept rows; leave the working table unchanged."""
    if not pc.any(chosen).as_py():
        return shard
    every = pa.concat_tables([shard.kept, shard.rejected.filter(chosen)]).unify_dictionaries()
    return dataclasses.replace(
        shard,
        kept=gather(every, order_of(every)),
        rejected=shard.rejected.filter(pc.invert(chosen)),
    )


def passed_rows(shard: Shard) -> pa.Table:
    """Return the SCORED rows of the pairs that passed the screen, which statistics count."""
    return shard.table.filter(pa.array(~stopped(shard)))
