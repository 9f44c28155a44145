"""Translating the sources of pairs without a translation."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from pairweave.models.translators import translator_reference
from pairweave.models.translators.translator import Rejection
from pairweave.models.translators.translator_reference import TranslatorReference
from pairweave.transforms import schemas
from pairweave.transforms.arrow.replaced_columns import replaced
from pairweave.transforms.rejects import Reason, Stage
from pairweave.transforms.screen import ScreenConfig, reason_of, screen
from pairweave.transforms.shards.shard import Shard

Wanted = Callable[[pa.Table], np.ndarray]
"""Returns whether a translation of each pair would be used, bool ``[pair]``."""


def translate_or_reject(
    shard: Shard,
    reference: TranslatorReference,
    config: ScreenConfig,
    wanted: Wanted | None = None,
) -> Shard:
    """Fill in the missing translations of a shard's pairs.

    Kept rows, rejected rows and working table stay consistent. The kept rows get the translation,
    too, so that a later reject includes it.
    """
    schemas.require(shard.table, schemas.PAIRS)
    missing = shard.table.column("translation").is_null().to_numpy()
    if wanted is not None:
        missing = missing & wanted(shard.table)
    translations = _translations(shard.table, missing, reference)
    texts = [result if isinstance(result, str) else None for result in translations]
    kept = replaced(shard.kept, "translation", pa.array(texts, type=pa.string()))
    failed: dict[int, tuple[Stage, Reason, str | None]] = {
        row: (Stage.TRANSLATE, result.reason, result.detail)
        for row, result in enumerate(translations)
        if isinstance(result, Rejection)
    }
    failed |= _screened(kept, np.flatnonzero(missing), config, set(failed))
    moved = np.array(
        [failed[row][:2] if row in failed else ("", "") for row in range(len(translations))]
    )
    rows = np.arange(len(translations))
    shard = dataclasses.replace(shard, kept=kept)
    for stage, reason in sorted({why[:2] for why in failed.values()}):
        marks = (moved[rows] == (stage, reason)).all(axis=1)
        details = [failed[row][2] for row in rows[marks].tolist()]
        # A reason has details for all of its pairs or for none.
        known = [detail for detail in details if detail is not None] or None
        shard = shard.reject(marks, stage, reason, known)
        rows = rows[~marks]
    return shard.with_pairs()


def _screened(
    kept: pa.Table, translated: np.ndarray, config: ScreenConfig, failed: set[int]
) -> dict[int, tuple[Stage, Reason, str | None]]:
    """Return why the screen rejects pairs with a new translation, by row."""
    rows = [row for row in translated.tolist() if row not in failed]
    if not rows:
        return {}
    (batch,) = kept.take(pa.array(rows)).combine_chunks().to_batches()
    screened = screen(batch, config).select(["stage", "reason", "detail"]).to_pylist()
    return {
        row: (Stage(why["stage"]), reason_of(why["reason"]), why["detail"])
        for row, why in zip(rows, screened, strict=True)
        if why["reason"] is not None
    }


def _translations(
    table: pa.Table, missing: np.ndarray, reference: TranslatorReference
) -> list[str | Rejection | None]:
    """Return the translation of each pair: its own, a new one if it is missing, or none."""
    sources = table.column("source").to_pylist()
    translations: list[str | Rejection | None] = table.column("translation").to_pylist()
    groups: dict[tuple[str, str], list[int]] = {}
    languages = (table.column(f"{side}_lang").to_pylist() for side in ("source", "target"))
    for row, pair in enumerate(zip(*languages, strict=True)):
        if missing[row]:
            groups.setdefault(pair, []).append(row)
    for pair in sorted(groups):
        texts = [sources[row] for row in groups[pair]]
        results = translator_reference.translate(reference, texts, *pair)
        for row, result in zip(groups[pair], results, strict=True):
            translations[row] = result
    return translations
