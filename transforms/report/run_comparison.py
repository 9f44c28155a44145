"""Compares two runs: counts, reasons, distributions, options, and pairs whose rows differ."""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pairweave.transforms.counts.histograms import HISTOGRAMS
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.report.histogram_charts import charts
from pairweave.transforms.report.report_samples import TAG_COLOURS, kept_samples
from pairweave.transforms.report.run_differences import chart_note, differences, differing_bars
from pairweave.transforms.report.run_samples import Row, first_pairs
from pairweave.transforms.report.shown_counts import (
    Distribution,
    described,
    distributions,
    split_rules,
)
from pairweave.transforms.report.shown_settings import flat_settings
from pairweave.transforms.report.templating import number, percent, render_html

PAIRS = 2_000
"""Number of pairs of each run that are compared, the first by id. Ids are hashes, so this is a
random sample."""

PLACES = frozenset({"corpus", "file", "line"})
"""Columns with the origin of a pair."""

SHOWN = 12
"""Number of pairs with different rows to show."""

Json = Mapping[str, Any]
Rows = list[dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class PairsOfBoth:
    """The pairs of two runs up to the same id.

    Attributes:
        same: Pairs with the same rows in both.
        only: Pairs that only the first and only the second run kept.
        changed: Rows of each pair that has other rows, in the first and in the second run.
        left_out: Columns that only one run has, which are not compared.
    """

    same: int
    only: tuple[int, int]
    changed: Sequence[tuple[list[Row], list[Row]]]
    left_out: Sequence[str] = ()


def compare_pairs(runs: Sequence[FinishedRun]) -> PairsOfBoth:
    """Compare the first pairs by id of two runs, in the columns that both have.

    The origin of a pair is not compared, because the same pair may be in different files.

    Raises:
        WorkerError: A shard cannot be read.
    """
    first, second = (first_pairs(run, PAIRS) for run in runs)
    # Beyond the last pair read, a run may have further pairs.
    ends = [max(pairs) for pairs in (first, second) if len(pairs) == PAIRS]
    first, second = (
        {name: rows for name, rows in pairs.items() if not ends or name <= min(ends)}
        for pairs in (first, second)
    )
    both = sorted(first.keys() & second.keys())
    columns = [set(next(iter(pairs.values()), [{}])[0]) for pairs in (first, second)]
    changed = [
        (first[name], second[name])
        for name in both
        if _compared(first[name], columns) != _compared(second[name], columns)
    ]
    only = (len(first) - len(both), len(second) - len(both))
    left_out = sorted(columns[0] ^ columns[1]) if both else []
    return PairsOfBoth(len(both) - len(changed), only, changed, left_out)


def _compared(rows: Sequence[Row], columns: Sequence[set[str]]) -> list[Row]:
    """Return rows with the columns that are compared."""
    names = (columns[0] & columns[1]) - PLACES
    return [{name: row[name] for name in names} for row in rows]


def render(
    names: Sequence[str],
    manifests: Sequence[Json],
    pairs: PairsOfBoth,
    histograms: Sequence[Mapping[tuple[str, str, int], int]] = (),
) -> str:
    """Render the page.

    Args:
        names: The names of the two runs on the page.
        manifests: Their manifests.
        pairs: Their pairs.
        histograms: Their histograms (`ReceiptSums.histograms`).

    Returns:
        The page, the same for the same arguments; HTML and well-formed XML.
    """
    counts = [described(split_rules(manifest["counts"])[0]) for manifest in manifests]
    both = _both_histograms(histograms)
    shares = [_shares(distribution) for distribution in distributions(*histograms)]
    told = caveats(names, manifests, pairs)
    return render_html(
        "comparison.html.j2",
        job=manifests[0]["job"],
        names=names,
        tiles=totals(manifests),
        told=told,
        options=_options(manifests),
        languages_differ=any(each.startswith("the languages") for each in told),
        same_input=not any(each.startswith("the runs read") for each in told),
        rejected=_side_by_side([manifest["rejected"] for manifest in manifests], "reason"),
        counts=_side_by_side(counts, "what"),
        distributions=shares,
        histograms=both,
        differing=[group["title"] for group in (*both, *shares) if group["note"]],
        pairs=pairs,
        changed=[tuple(map(kept_samples, _different(*rows))) for rows in pairs.changed[:SHOWN]],
        tag_colours=TAG_COLOURS,
    )


def _both_histograms(
    histograms: Sequence[Mapping[tuple[str, str, int], int]],
) -> list[dict[str, Any]]:
    """Return charts of both runs, each of all its corpora."""
    rows_of_bars: Counter[tuple[str, str, int]] = Counter()
    for name, each in zip(("first", "second"), histograms, strict=False):
        for (histogram, _, bar), values in each.items():
            if HISTOGRAMS[histogram].by == "corpus":
                rows_of_bars[histogram, name, bar] += values
    return [_marked(group) for group in charts(rows_of_bars, together=False)]


def _marked(group: dict[str, Any]) -> dict[str, Any]:
    """Return a chart whose bars are marked where the two runs differ."""
    if len(group["charts"]) < 2:
        return {**group, "note": ""}
    values = [[bar["values"] for bar in chart["bars"]] for chart in group["charts"]]
    kinds = ["differs" if differs else "" for differs in differing_bars(*values)]
    drawn = [
        {
            **chart,
            "bars": [{**bar, "kind": kind} for bar, kind in zip(chart["bars"], kinds, strict=True)],
        }
        for chart in group["charts"]
    ]
    return {**group, "charts": drawn, "note": chart_note(group["labels"], *values)}


def caveats(names: Sequence[str], manifests: Sequence[Json], pairs: PairsOfBoth) -> list[str]:
    """Return the obstacles to comparing two runs pair by pair, without full stops."""
    told = differences(names, manifests)
    if all(pairs.only) and not pairs.same and not pairs.changed:
        told.append(
            "none of the pairs compared is in both runs: the figures describe different texts"
        )
    return told


def totals(manifests: Sequence[Json]) -> Rows:
    """Return how many pairs each run read, kept and rejected, and the share of kept pairs."""
    rows = [manifest["rows"] for manifest in manifests]
    table: Rows = [
        {"what": f"pairs {name}", "first": rows[0][name], "second": rows[1][name]}
        for name in ("read", "kept", "rejected")
    ]
    shares = [percent(each["kept"] / each["read"] if each["read"] else 0.0) for each in rows]
    return [*table, {"what": "kept of read", "first": shares[0], "second": shares[1]}]


def _options(manifests: Sequence[Json]) -> Rows:
    """Return the options that differ, with the version of the program."""
    first, second = (
        {"version": manifest["version"], **dict(flat_settings(manifest["configuration"]))}
        for manifest in manifests
    )
    return [
        {"option": name, "first": first.get(name, ""), "second": second.get(name, "")}
        for name in sorted(first.keys() | second.keys())
        if first.get(name) != second.get(name)
    ]


def _side_by_side(counts: Sequence[Mapping[str, int]], column: str) -> Rows:
    """Return counts by name, the greatest change first."""
    rows = [
        {
            column: name,
            "first": counts[0].get(name, 0),
            "second": counts[1].get(name, 0),
            "change": counts[1].get(name, 0) - counts[0].get(name, 0),
        }
        for name in counts[0].keys() | counts[1].keys()
    ]
    rows.sort(key=lambda row: (-abs(int(str(row["change"]))), str(row[column])))
    return [{**row, "change": f"{row['change']:+,}" if row["change"] else "0"} for row in rows]


def _shares(distribution: Distribution) -> dict[str, Any]:
    """Return a distribution with the share of each of its bars in both runs."""
    rows: Rows = []
    marked = differing_bars(*distribution.bars)
    for place, label in enumerate(distribution.labels):
        row: dict[str, Any] = {distribution.unit: label}
        for which, bars in zip(("first", "second"), distribution.bars, strict=True):
            share = bars[place] / max(1, sum(bars))
            row[which] = share
            row[f"{which} bar"] = {"share": share, "label": percent(share)}
            row[f"{which} bar"]["kind"] = "differs" if marked[place] else ""
        rows.append(row)
    return {
        "title": distribution.title,
        "about": distribution.about,
        "unit": distribution.unit,
        "rows": rows,
        "note": chart_note(distribution.labels, *distribution.bars),
    }


def _different(first: list[Row], second: list[Row]) -> tuple[list[Row], list[Row]]:
    """Return the rows of a pair that the other run does not have."""
    columns = [set(first[0]), set(second[0])]
    compared = [_compared(rows, columns) for rows in (first, second)]
    return (
        [row for row, each in zip(first, compared[0], strict=True) if each not in compared[1]],
        [row for row, each in zip(second, compared[1], strict=True) if each not in compared[0]],
    )


def summary(names: Sequence[str], manifests: Sequence[Json], pairs: PairsOfBoth) -> list[str]:
    """Return the comparison in a few lines of text."""
    width = max(14, *map(len, names))
    lines = caveats(names, manifests, pairs)
    lines += [f"{'':<14}{names[0]:>{width}}  {names[1]:>{width}}"]
    for row in totals(manifests):
        first, second = (number(row[name]) for name in ("first", "second"))
        lines.append(f"{row['what']:<14}{first:>{width}}  {second:>{width}}")
    compared = pairs.same + len(pairs.changed) + sum(pairs.only)
    lines.append(
        f"of {compared:,} pairs, the first by id: {pairs.same:,} with the same rows, "
        f"{len(pairs.changed):,} with other rows, {pairs.only[0]:,} and {pairs.only[1]:,} in one "
        "run alone"
    )
    if pairs.left_out:
        lines.append(f"not compared, since one run has no such column: {', '.join(pairs.left_out)}")
    return lines
