"""Notices about reasons for which more than a few pairs of a run were rejected."""

import functools
import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.finding_notices import EARLY_SHARE
from pairweave.transforms.merged_notices import MAX_FILES
from pairweave.transforms.option_marks import REJECTS, mark_of
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.output.receipt_sums import ReceiptSums
from pairweave.transforms.rejects import Reject, is_of_plugin
from pairweave.transforms.report.rejected_files import MostlyRejected
from pairweave.transforms.report.rejected_languages import ADVICE, MIN_PAIRS
from pairweave.transforms.screen_options import ScreenLimits

Json = dict[str, Any]

MOST = EARLY_SHARE
"""A reason for which a greater share of a run's pairs is rejected is named: clean corpora lose less
than 2 % to any limit."""

ENOUGH = 2_000
"""Number of rejects from which the effect of another limit is estimated, to within about 1 %."""

MAX_SHARDS = 8
"""Maximum number of shards that are read for these rejects."""

BETTER = 0.5
"""Another limit is named if it rejects at most this share of the pairs that the current one
rejects."""

FILTER = "filter"

_ASKED_FOR = frozenset(
    {
        *(Reject.LOW_SCORE, Reject.IN_TABLE, Reject.TAKEN_DOWN, Reject.IN_EARLIER_CORPUS),
        *(Reject.OBSOLETE, Reject.MISALIGNED),
    }
)
"""Reasons of pairs that are left out at the user's request or because of an entry's state."""

_MEASURED = re.compile(
    r"(-?[0-9.]+(?:e[-+]?[0-9]+)?)(?: tokens| characters)? ([<>]) [0-9.]+(?:e[-+]?[0-9]+)?$"
)
"""The value at the end of a reject's detail, and on which side of the limit it is."""

_STEPS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
"""The limits that are tried, times powers of ten."""


def share_notices(
    run: FinishedRun, sums: ReceiptSums, places: Sequence[MostlyRejected] = ()
) -> list[str]:
    """Return notices on reasons for which more than one pair in twenty was rejected.

    For a limit, they say how many pairs another value would reject. This is estimated from the
    rejects of a few shards, whose pairs are a sample by hash.

    Args:
        run: The run; its manifest may be a draft.
        sums: The sums of its receipts.
        places: Its files, or parts of files, of which more than half was rejected.
    """
    notices = []
    for reason in named_reasons(sums):
        values = functools.partial(_values_of_shards, run, sums, reason)
        limit = _limit(run.job, run.settings, reason)
        notices.append(_notice(reason, sums.reasons[reason], sums.rows, places, limit, values))
    return notices


def table_notices(rejects: pa.Table, rows: int, job: str, settings: Json) -> list[str]:
    """Return the same notices on a table of rejects.

    Args:
        rejects: The rejects (`transforms.schemas.REJECTS`).
        rows: The number of pairs that were read.
        job: The job's name.
        settings: Its options.
    """
    reasons = Counter(rejects.column("reason").to_pylist())
    notices = []
    for reason in _named(reasons, rows):
        values = functools.partial(_values, rejects, reason)
        limit = _limit(job, settings, reason)
        notices.append(_notice(reason, reasons[reason], rows, (), limit, values))
    return notices


def named_reasons(sums: ReceiptSums) -> list[str]:
    """Return the reasons that have a notice, the most frequent first.

    Args:
        sums: The sums of a run's receipts.
    """
    return _named(sums.reasons, sums.rows)


def _named(reasons: Mapping[str, int], rows: int) -> list[str]:
    if rows < MIN_PAIRS:
        return []
    return [
        reason
        for reason, count in sorted(reasons.items(), key=lambda each: (-each[1], each[0]))
        if count > MOST * rows and reason not in _ASKED_FOR
    ]


def _notice(
    reason: str,
    count: int,
    rows: int,
    places: Sequence[MostlyRejected],
    limit: tuple[str, float] | None,
    values: Callable[[], Iterator[tuple[float, bool]]],
) -> str:
    summary = f"{count:,} of {rows:,} pairs ({count / rows:.0%}) were rejected as {reason}"
    where = _where(reason, places, rows)
    parts = [summary + where]
    if limit is not None:
        option, value = limit
        parts = [f"{summary} ({option} {value:g}){where}"]
        other = _another_limit(values(), value)
        if other is not None:
            parts.append(f"{option} {other[0]:g} would reject about {round(other[1] * count):,}")
    return "; ".join([*parts, *([ADVICE[reason]] if reason in ADVICE else [])])


def _where(reason: str, places: Sequence[MostlyRejected], rows: int) -> str:
    """Return the end of a clause with the first files that lost most of their pairs."""
    named = [place for place in places if place.reason == reason and place.pairs < rows]
    texts = [
        f"{each.for_reason:,} of the {each.pairs:,} of {each.place}" for each in named[:MAX_FILES]
    ]
    more = len(named) - len(texts)
    if more:
        texts.append(f"most of {more:,} more files or parts of files")
    return f", among them {', '.join(texts)}" if texts else ""


def _limit(job: str, settings: Json, reason: str) -> tuple[str, float] | None:
    """Return the option of a limit and its value; None if the reason is not that of a limit."""
    for name, field in ScreenLimits.model_fields.items():
        if mark_of(field, REJECTS) == reason and settings.get(name) is not None:
            return f"--{name}", float(settings[name])
    values = settings if job == FILTER else settings.get(FILTER)
    if not isinstance(values, dict):
        return None
    if is_of_plugin(reason):
        return None  # only the rule's package knows the unit of its limit
    # The limit of a rule is named after its reason (`transforms.filtering.rules`).
    for option in (f"max_{reason}", f"min_{reason}"):
        if values.get(option) is not None:
            flag = f"--{option}" if job == FILTER else f"filter: {option}"
            return flag, float(values[option])
    return None


def _another_limit(
    values: Iterator[tuple[float, bool]], limit: float
) -> tuple[float, float] | None:
    """Return the nearest round limit that rejects much less, and the share that it rejects."""
    scored = list(itertools.islice(values, ENOUGH))
    if not scored:
        return None
    below = scored[0][1]
    measured = np.array([value for value, _ in scored])
    for other in _round_limits(limit, below=below):
        share = float((measured < other).mean() if below else (measured > other).mean())
        if share <= BETTER:
            return other, share
    return None


def _round_limits(limit: float, *, below: bool) -> Iterator[float]:
    """Yield round numbers on the looser side of a limit, the nearest first."""
    numbers = [float(f"{step * 10.0**power:.3g}") for power in range(-2, 6) for step in _STEPS]
    chosen = [number for number in numbers if (number < limit if below else number > limit)]
    return reversed(chosen) if below else iter(chosen)


def _values_of_shards(
    run: FinishedRun, sums: ReceiptSums, reason: str
) -> Iterator[tuple[float, bool]]:
    shards = sorted(shard.shard for shard in sums.shards if reason in shard.reasons)
    for shard in shards[:MAX_SHARDS]:
        yield from _values(run.table(run.rejects_name(shard), ["reason", "detail"]), reason)


def _values(rejects: pa.Table, reason: str) -> Iterator[tuple[float, bool]]:
    """Yield the measured value of rejects, and whether it is below the limit."""
    chosen = pc.equal(rejects.column("reason").cast("string"), reason)
    for detail in rejects.filter(chosen).column("detail").to_pylist():
        measured = _MEASURED.search(detail or "")
        if measured is not None:
            yield float(measured[1]), measured[2] == "<"
