"""Scored pairs: their columns, reject reasons and statistics."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms import schemas
from pairweave.transforms.arrow.replaced_columns import replaced
from pairweave.transforms.counts.counters import rule_counter
from pairweave.transforms.counts.histograms import ALL, HISTOGRAMS, Bars, count_bars
from pairweave.transforms.filtering import score
from pairweave.transforms.filtering.deduplication import duplicates
from pairweave.transforms.filtering.evidence import (
    EVIDENCE_COLUMNS,
    HMM_COLUMNS,
    Values,
    evidence_names,
)
from pairweave.transforms.filtering.rule_options import DuplicateConfig
from pairweave.transforms.filtering.rules import COLUMNS, Judged
from pairweave.transforms.rejects import PluginReason, Reason, Reject, Stage, is_of_plugin

DETECTED = ("source_detected", "target_detected")
"""Columns of a language detector."""


def scored_schema(evidence: Sequence[str]) -> pa.Schema:
    """Return the schema of SCORED rows.

    A pair with a reason is not kept; the bits of ``hits`` are the rules it breaks. A pair that was
    not scored, which always has a reason, has neither a score nor a scorer's columns.

    Args:
        evidence: The columns of the scorer and of plugins' rules (`evidence.evidence_names`).
    """
    return pa.schema(
        [
            *(field for field in schemas.PAIRS if field.name != "translation"),
            pa.field("score", pa.float32()),
            *(pa.field(name, pa.float32(), nullable=False) for name in COLUMNS),
            *(pa.field(name, pa.float32()) for name in evidence),
            pa.field("source_detected", pa.string()),
            pa.field("target_detected", pa.string()),
            pa.field("target_words", pa.int32(), nullable=False),
            pa.field("hits", pa.int32(), nullable=False),
            pa.field("reason", pa.string()),
            pa.field("detail", pa.string()),
        ]
    )


SCORED = scored_schema(HMM_COLUMNS)
"""Rows scored by the statistical aligner and the rules."""


_ORDER = ("id", "source", "target", "score", "keep", "reason")
_PLACE = ("source_lang", "target_lang", "corpus", "file", "line")


def scored(pairs: pa.Table, judged: Judged, hmm: Values, weights: score.Weights) -> pa.Table:
    """Return SCORED rows.

    Args:
        pairs: Pairs (with the columns of `transforms.schemas.PAIRS`).
        judged: Results of the rules.
        hmm: Values of the aligner, by `evidence.HMM_COLUMNS`.
        weights: Weights of the default score.
    """
    values = {**judged.values, **hmm}
    return _rows(pairs, judged, values, score.score(values, weights))


def compared(
    pairs: pa.Table,
    judged: Judged,
    encoded: np.ndarray,
    similar: pa.Table,
    scores: np.ndarray,
    given_up: Mapping[int, tuple[str, str]],
) -> pa.Table:
    """Return SCORED rows of pairs that an encoder scored.

    Args:
        pairs: Pairs (with the columns of `transforms.schemas.PAIRS`).
        judged: Results of the rules.
        encoded: Rows of the pairs with values, int ``[encoded]``.
        similar: Their values, by `evidence.YISI_COLUMNS`.
        scores: Their scores, float32 ``[encoded]``.
        given_up: Reason and detail of pairs that the encoder cannot encode, by row.
    """
    places = np.full(pairs.num_rows, -1)
    places[encoded] = np.arange(len(encoded))
    of_pairs = pa.array(places, mask=places < 0)
    values = {name: similar.column(name).take(of_pairs) for name in similar.column_names}
    known = pa.array(scores, pa.float32()).take(of_pairs)
    rows = _rows(pairs, judged, {**judged.values, **values}, known, similar.column_names)
    passed = rows.column("reason").is_null().to_numpy()
    for reason in (Reject.TOO_LONG_FOR_ENCODER, Reject.ALIGNER_FAILED):
        without_score = [row for row in given_up if passed[row] and given_up[row][0] == reason]
        details = [given_up[row][1] for row in without_score]
        rows = with_reason(rows, np.array(without_score, np.int64), reason, details)
    return rows


def given(pairs: pa.Table, judged: Judged, scores: pa.Array) -> pa.Table:
    """Return SCORED rows of pairs that come with their scores; reject pairs without a score.

    Args:
        pairs: Pairs (with the columns of `transforms.schemas.PAIRS`).
        judged: Results of the rules.
        scores: float32 ``[pair]``, null for none.
    """
    rows = _rows(pairs, judged, judged.values, scores, ())
    missing = pc.and_(rows.column("reason").is_null(), rows.column("score").is_null())
    places = np.flatnonzero(missing.to_numpy())
    return with_reason(rows, places, Reject.MISSING_FIELD, ["score: is missing"] * len(places))


def unscored(pairs: pa.Table, judged: Judged) -> pa.Table:
    """Return SCORED rows without an aligner: without scores and the aligner's columns."""
    nothing = pa.nulls(pairs.num_rows, pa.float32())
    values = {**judged.values, **dict.fromkeys(HMM_COLUMNS, nothing)}
    return _rows(pairs, judged, values, nothing)


def _rows(
    pairs: pa.Table,
    judged: Judged,
    values: Mapping[str, np.ndarray | pa.Array | pa.ChunkedArray],
    scores: np.ndarray | pa.Array,
    evidence: Sequence[str] = HMM_COLUMNS,
) -> pa.Table:
    first = judged.first()
    reasons = list(judged.hits)
    schema = scored_schema(evidence_names([*evidence, *judged.values]))
    rejected = np.flatnonzero(first >= 0)
    details = {row: judged.details[reasons[first[row]]](row) for row in rejected.tolist()}
    hits = np.zeros(pairs.num_rows, np.int32)
    for bit, mask in enumerate(judged.hits.values()):
        hits |= mask.astype(np.int32) << bit
    columns = {
        **{name: pairs.column(name) for name in schemas.PAIRS.names if name != "translation"},
        **values,
        "score": scores,
        "target_words": judged.target_words.astype(np.int32),
        "hits": hits,
        "reason": [None if place < 0 else str(reasons[place]) for place in first.tolist()],
        "detail": [details.get(row) for row in range(pairs.num_rows)],
        **{name: judged.detected.get(name) for name in DETECTED},
    }
    arrays = [
        pa.nulls(pairs.num_rows, field.type)
        if columns[field.name] is None
        else columns[field.name]
        if isinstance(columns[field.name], pa.Array | pa.ChunkedArray)
        else pa.array(columns[field.name], field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def reject_copies(rows: pa.Table, config: DuplicateConfig) -> pa.Table:
    """Mark pairs that have a better copy as rejected (`duplicates.worse_copies`).

    Args:
        rows: All SCORED rows of a shard.
        config: The kind of equality that makes a pair a duplicate.
    """
    schemas.require(rows, scored_schema(evidence_names(rows.column_names)))
    if config.duplicates == "exact":
        return rows
    open_rows = np.flatnonzero(rows.column("reason").is_null().to_numpy())
    pairs = rows.take(pa.array(open_rows))
    stays = duplicates.worse_copies(pairs, pairs.column("score").to_numpy())
    copies = np.flatnonzero(stays >= 0)
    kept = pairs.select(["corpus", "file", "line"]).take(pa.array(stays[copies])).to_pylist()
    details = [f"of {row['corpus']} {row['file']} line {row['line']}" for row in kept]
    return with_reason(rows, open_rows[copies], Reject.MASKED_DUPLICATE, details)


def reject_near_copies(rows: pa.Table, copies: pa.Table | None) -> pa.Table:
    """Mark near-duplicates as rejected.

    Args:
        rows: SCORED rows.
        copies: `near_duplicates.COPIES` rows, whose indices count only rows without a reason; None
            for none.
    """
    if copies is None:
        return rows
    open_rows = np.flatnonzero(rows.column("reason").is_null().to_numpy())
    details = [
        f"of {row['corpus']} {row['file']} line {row['line']}"
        for row in copies.select(["corpus", "file", "line"]).to_pylist()
    ]
    places = open_rows[copies.column("row").to_numpy()]
    return with_reason(rows, places, Reject.NEAR_DUPLICATE, details)


def reject_unselected(rows: pa.Table, keep: np.ndarray) -> pa.Table:
    """Mark pairs that passed the rules but are not selected as rejected.

    Args:
        rows: SCORED rows.
        keep: Rows that are selected, bool ``[row]``.
    """
    left = np.flatnonzero(rows.column("reason").is_null().to_numpy() & ~keep)
    scores = rows.column("score").to_numpy()[left]
    return with_reason(
        rows, left, Reject.LOW_SCORE, [f"score {score_text(value)}" for value in scores]
    )


def score_text(value: np.float32) -> str:
    """Return the shortest text that reads as the same float32.

    >>> score_text(np.float32(0.1))
    '0.1'
    """
    return str(np.float32(value))


def with_reason(
    rows: pa.Table,
    places: np.ndarray,
    reason: Reject | Sequence[str],
    details: Sequence[str | None],
) -> pa.Table:
    """Return SCORED rows after setting the reason and detail of some.

    Args:
        rows: SCORED rows.
        places: Indices of these rows, ascending, int64.
        reason: The reason of all of them, or of each.
        details: The detail of each.
    """
    mask = np.zeros(rows.num_rows, np.bool_)
    mask[places] = True
    reasons = [str(reason)] * len(details) if isinstance(reason, Reject) else reason
    for name, news in (("reason", reasons), ("detail", details)):
        column = rows.column(name).combine_chunks()
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        new = pc.replace_with_mask(column, pa.array(mask), pa.array(news, pa.string()))
        rows = replaced(rows, name, new)
    return rows


def data_of(rows: pa.Table, *, annotate: bool, detects: bool) -> pa.Table:
    """Return SCORED rows in the form that the job writes.

    Args:
        rows: SCORED rows.
        annotate: Whether pairs with a reason are included, with the columns ``keep`` and
            ``reason``; otherwise they are left out.
        detects: Whether there is a language detector. Then every shard has its columns, even if no
            language of the shard was detected.
    """
    open_rows = rows.column("reason").is_null()
    rows = rows.append_column(pa.field("keep", pa.bool_(), nullable=False), open_rows)
    names = [name for name in _ORDER if annotate or name not in ("keep", "reason")]
    names += [*COLUMNS, *evidence_names(rows.column_names), "target_words"]
    rows = rows.select([*names, *(DETECTED if detects else ()), *_PLACE])
    if annotate:
        return rows.cast(pa.schema([_annotated(field) for field in rows.schema]))
    return rows.filter(open_rows).cast(pa.schema([_kept(field) for field in rows.schema]))


_ALWAYS = ("id", "source", "target", "keep", *_PLACE)


def _annotated(field: pa.Field) -> pa.Field:
    """Return a column of annotated rows: a pair that was not scored has no measurements."""
    return field.with_nullable(field.name not in _ALWAYS)


def _kept(field: pa.Field) -> pa.Field:
    """Return a column of kept rows, each of which has a score."""
    always = field.name in ("score", *HMM_COLUMNS)
    return field.with_nullable(field.nullable and not always)


def reasons_of(rows: pa.Table) -> list[tuple[Stage, Reject | PluginReason, np.ndarray, list[str]]]:
    """Return each reason with its rows and their details, in the order of reasons."""
    reasons = rows.column("reason").combine_chunks().fill_null("")
    of_plugins = [PluginReason(name) for name in rows.column_names if is_of_plugin(name)]
    flagged = []
    for reason in (*Reject, *of_plugins):
        mask = pc.equal(reasons, str(reason)).to_numpy(zero_copy_only=False)
        if mask.any():
            details = rows.column("detail").filter(pa.array(mask)).to_pylist()
            flagged.append((Stage.FILTER, reason, mask, details))
    return flagged


def counts_of(rows: pa.Table, reasons: Sequence[Reason]) -> dict[str, int]:
    """Count the kept pairs, and the rejections by each rule.

    Args:
        rows: SCORED rows.
        reasons: Reasons of the rules, in the order of the bits of ``hits``.
    """
    hits = rows.column("hits").to_numpy()
    first = hits & -hits
    kept = rows.column("reason").is_null().to_numpy()
    counts = {
        "kept_pairs": int(kept.sum()),
        "kept_target_words": int(rows.column("target_words").to_numpy()[kept].sum()),
    }
    for bit, reason in enumerate(reasons):
        alone = int((hits >> bit & 1).sum())
        if alone:
            only, at_first = (int((some == 1 << bit).sum()) for some in (hits, first))
            counts[rule_counter("would_reject", reason)] = alone
            counts[rule_counter("would_reject_only", reason)] = only
            counts[rule_counter("would_reject_first", reason)] = at_first
    return counts


def column_bars(rows: pa.Table) -> Bars:
    """Return the histograms of the columns of SCORED rows.

    Args:
        rows: SCORED rows; pairs that the aligner or the encoder did not score are not counted in
            its columns.
    """
    # The columns of single layers and of plugins have no histograms.
    evidence = [name for name in EVIDENCE_COLUMNS if name in rows.column_names]
    has_score = pc.is_valid(rows.column("score")).to_numpy()
    histograms: Bars = {}
    for name in ("score", *COLUMNS, *evidence):
        values = rows.column(name).to_numpy()
        values = values[has_score] if name == "score" or name in evidence else values
        bars = count_bars(HISTOGRAMS[name], HISTOGRAMS[name].bars_of_units(values))
        if bars:
            histograms[name] = {ALL: bars}
    return histograms
