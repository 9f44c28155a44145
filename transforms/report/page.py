"""The report of a run: what it read, kept and rejected, and sample rows.

One HTML file that needs nothing else: no font, style, image or script from elsewhere. A short
script of its own pages, filters and sorts the samples; without it, all of them can be read. The
committed report depends on the run's files only, so it is the same on every engine. Its layout is
in ``templates/``; this module gathers its content.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pairweave.transforms.links import aligner_agreement
from pairweave.transforms.output.receipt_sums import ReceiptSums
from pairweave.transforms.rejects import Stage
from pairweave.transforms.report.histogram_charts import chart, charts
from pairweave.transforms.report.look_charts import shown_look, told_findings
from pairweave.transforms.report.normal_figures import RATES, NormalFigures, rate
from pairweave.transforms.report.report_samples import (
    TAG_COLOURS,
    border_rows,
    rejected_samples,
    sample_groups,
)
from pairweave.transforms.report.run_samples import Samples
from pairweave.transforms.report.shown_counts import described, distributions, split_rules
from pairweave.transforms.report.shown_settings import flat_settings, used_settings
from pairweave.transforms.report.templating import number, percent, render_html, script_hash

REPORT = "report.html"
STEPS = "steps"
"""Key of ``_run.json`` with the time of each step."""

MAX_ROWS = 1_000
"""Maximum number of files in a table; the rest is only counted."""

Json = Mapping[str, Any]
Rows = list[dict[str, Any]]
"""Rows of a table: values by the name of their column."""


def render(manifest: Json, sums: ReceiptSums, samples: Samples, run: Json | None = None) -> str:
    """Render a run's report.

    Args:
        manifest: The run's manifest; whether it names the report itself makes no difference.
        sums: The sums of its receipts.
        samples: Rows to look at.
        run: The content of ``_run.json``, if times and speeds are to be shown.

    Returns:
        The page, the same for the same arguments; HTML and well-formed XML.
    """
    others, rules = split_rules(manifest["counts"])
    rows = manifest["rows"]
    golden = manifest.get("golden", {})
    normal = NormalFigures(manifest["job"])
    shown = {name: manifest[name] for name in ("job", "version", "shards", "rows")}
    found, notices = told_findings(manifest)
    spread, one_valued = _distributions(sums, normal)
    return render_html(
        "page.html.j2",
        **shown,
        languages=sorted({_languages(corpus) for corpus in manifest["corpora"].values()}),
        sizes=[shard.rows for shard in sums.shards],
        share_kept=_share(rows["kept"], rows["read"]),
        normal=normal,
        found=found,
        notices=notices,
        look=shown_look(manifest),
        corpora=_corpora(manifest["corpora"]),
        flow=_flow(manifest, sums),
        reasons=_reasons(manifest, sums, normal),
        reasons_by_corpus=_reasons_by_corpus(manifest),
        rules=_rules(rules, rows["read"], normal),
        agreement=aligner_agreement.of_counts(manifest["counts"]),
        counts=_counts(others, normal),
        distributions=spread,
        one_valued=one_valued,
        histograms=charts(sums.histograms, golden.get("histograms", {}).get("words")),
        golden=_golden(golden),
        profile=_profile(manifest["tag_profile"]) if "tag_profile" in manifest else None,
        kept=sample_groups(samples.kept),
        rejected=rejected_samples(manifest["rejected"], samples.rejected),
        borders=border_rows(samples.borders),
        tag_colours=TAG_COLOURS,
        run=_facts({name: value for name, value in (run or {}).items() if name != STEPS}),
        speeds=_speeds((run or {}).get(STEPS, {})),
        inputs=_inputs(manifest["inputs"]),
        signature=manifest["signature"],
        plan_sha256=manifest["plan_sha256"],
        options=used_settings(manifest["configuration"]),
        script_hash=script_hash("samples.js"),
        files=_files(manifest["files"]),
    )


def _speeds(steps: Json) -> Rows:
    """Return the time and the speed of each step, the longest first."""
    most = max((step["seconds"] for step in steps.values()), default=0)
    return [
        {
            "step": name.rpartition("/")[0] or name,
            "seconds": f"{step['seconds']:,.2f}",
            "rows": step.get("rows", ""),
            "rows/s of a worker": round(step["rows_per_second"]) if "rows" in step else "",
            "": _bar(_share(step["seconds"], most), f"{step['seconds']:,.2f} seconds"),
        }
        for name, step in sorted(steps.items(), key=lambda item: (-item[1]["seconds"], item[0]))
    ]


def _languages(corpus: Json) -> str:
    return f"{corpus['source_lang']} to {corpus['target_lang']}"


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _bar(share: float, label: str, kind: str = "") -> Json:
    return {"share": share, "label": label, "kind": kind}


def _corpora(corpora: Json) -> Rows:
    rows = []
    for name, corpus in sorted(corpora.items()):
        rejected = sum(corpus["rejected"].values())
        read = corpus["kept"] + rejected
        share = _share(corpus["kept"], read)
        rows.append(
            {
                "corpus": name,
                "languages": _languages(corpus),
                "licence": corpus["licence"] or "not stated",
                "read": read,
                "kept": corpus["kept"],
                "rejected": rejected,
                "kept of read": _bar(share, f"{percent(share)} kept", "kept"),
            }
        )
    return rows


def _flow(manifest: Json, sums: ReceiptSums) -> Rows:
    """Return how many pairs each step rejected and left, from pairs read to rows written."""
    read = left = manifest["rows"]["read"]
    by_step: dict[str, Counter[str]] = {}
    for (_, step, reason), pairs in sums.rejected.items():
        by_step.setdefault(step, Counter())[reason] += pairs
    order = {str(stage): place for place, stage in enumerate(Stage)}
    rows = [_step("pairs read", "", left, read)]
    for step in sorted(by_step, key=lambda name: (order.get(name, len(order)), name)):
        reasons = sorted(by_step[step].items(), key=lambda item: (-item[1], item[0]))
        left -= by_step[step].total()
        listed = ", ".join(f"{name} {number(pairs)}" for name, pairs in reasons)
        rows.append({**_step(step, by_step[step].total(), left, read), "reasons": listed})
    return [*rows, _step("pairs kept", "", left, read)]


def _step(name: str, rejected: object, left: int, read: int) -> dict[str, Any]:
    share = _share(left, read)
    return {
        "step": name,
        "pairs rejected": rejected,
        "pairs left": left,
        "left of read": _bar(share, f"{percent(share)} left", "kept"),
        "reasons": "",
    }


def _ordered_reasons(manifest: Json) -> list[tuple[str, int]]:
    """Return reasons with their pairs, the most frequent first."""
    return sorted(manifest["rejected"].items(), key=lambda item: (-item[1], item[0]))


def _reasons(manifest: Json, sums: ReceiptSums, normal: NormalFigures) -> Rows:
    stages = sums.stages
    ordered = _ordered_reasons(manifest)
    return [
        {
            "reason": reason,
            "step": ", ".join(sorted(stages[reason])),
            "pairs": pairs,
            "of all read": pairs / manifest["rows"]["read"],
            "normal": normal.rejected(reason),
            "": _bar(pairs / ordered[0][1], f"{pairs:,} pairs", "rejected"),
        }
        for reason, pairs in ordered
    ]


def _reasons_by_corpus(manifest: Json) -> Json:
    reasons = [reason for reason, _ in _ordered_reasons(manifest)]
    rows = [
        {"corpus": name, **{reason: corpus["rejected"].get(reason, 0) for reason in reasons}}
        for name, corpus in sorted(manifest["corpora"].items())
    ]
    columns = [("corpus", "text"), *((reason, "number") for reason in reasons)]
    return {"columns": columns, "rows": rows}


def _rules(rules: Mapping[str, Mapping[str, int]], read: int, normal: NormalFigures) -> Rows:
    """Return the pairs that each rule of `filter` would reject, the most frequent rule first."""
    most = max((counts["all"] for counts in rules.values()), default=0)
    return [
        {
            "rule": name,
            "pairs": counts["all"],
            "first rule": counts.get("first", ""),
            "only rule": counts["only"],
            "of all read": _share(counts["all"], read),
            "normal": normal.would_reject(name),
            "": _bar(_share(counts["all"], most), f"{number(counts['all'])} pairs", "rejected"),
        }
        for name, counts in sorted(rules.items(), key=lambda item: (-item[1]["all"], item[0]))
    ]


def _counts(counts: Mapping[str, int], normal: NormalFigures) -> Rows:
    """Return the job's counters with their meanings, without those of aligner agreement."""
    links = set(aligner_agreement.NAMES)
    shown = {name: count for name, count in counts.items() if name not in links}
    rows = [
        {"what": what, "number": count, "normal": ""} for what, count in described(shown).items()
    ]
    means = {what: rate(counts, what) for what in RATES}
    return rows + [
        {"what": what, "number": mean, "normal": normal.rate(what)}
        for what, mean in means.items()
        if mean
    ]


def _distributions(
    sums: ReceiptSums, normal: NormalFigures
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the histograms that are not by corpus: charts, and histograms with a single bar."""
    spread, one_valued = [], []
    for name, group, title, about, unit, labels, (bars,) in distributions(sums.histograms):
        median = normal.median(name, group)
        if len(bars) == 1:
            value = {"what": title, "value": f"{labels[0]} {unit}".strip()}
            one_valued.append({**value, "number": bars[0], "normal medians": median})
            continue
        rows = [
            {unit: label, "number": number_of, "share": _share(number_of, sum(bars))}
            for label, number_of in zip(labels, bars, strict=True)
        ]
        drawn = chart("all", Counter(dict(enumerate(bars))), range(len(bars)), labels)
        told = {"title": title, "about": about, "unit": unit, "normal": median}
        spread.append({**told, "rows": rows, "chart": drawn})
    return spread, one_valued


def _golden(golden: Json) -> Rows:
    """Return the distance of the examples from the golden set of the run."""
    return [
        {
            "method": method,
            "distribution": facet,
            "distance": "none" if distance is None else f"{distance:.4f}",
        }
        for method, facets in sorted(golden.get("distances", {}).items())
        for facet, distance in sorted(facets.items())
    ]


def _profile(profile: Json) -> Rows:
    """Return the shapes of tags next to those of the profile from which they were drawn."""
    named = {
        f"name {form} {name}": n
        for form, names in profile["names"].items()
        for name, n in names.items()
    }
    features = []
    for feature, distance in profile["distance"].items():
        wanted, drawn = (
            {name: n for name, n in counts.items() if name.startswith(f"{feature} ")}
            for counts in ({**profile["counts"], **named}, profile["drawn"])
        )
        rows = [
            {
                "class": name.removeprefix(f"{feature} "),
                "profile": wanted.get(name, 0) / sum(wanted.values()),
                "drawn": drawn.get(name, 0) / sum(drawn.values()),
            }
            for name in sorted({*wanted, *drawn})
        ]
        features.append({"name": feature, "distance": distance, "rows": rows})
    return features


def _inputs(inputs: Sequence[Json]) -> Json:
    rows = [
        {
            "file": entry["name"],
            "corpus": entry["corpus"],
            "side": entry["role"],
            "format": entry["format"],
            "rows": entry["rows"],
            "bytes": entry["bytes"],
            "SHA-256": entry["sha256"],
        }
        for entry in inputs[:MAX_ROWS]
    ]
    return {"rows": rows, "left": len(inputs) - len(rows)}


def _files(entries: Sequence[Json]) -> Json:
    others = [entry for entry in entries if entry["name"] != REPORT]
    rows = [
        {
            "file": entry["name"],
            "rows": entry.get("rows", ""),
            "bytes": entry["bytes"],
            "SHA-256": entry["sha256"],
        }
        for entry in others[:MAX_ROWS]
    ]
    return {
        "number": len(others),
        "bytes": sum(entry["bytes"] for entry in others),
        "rows": rows,
        "left": len(others) - len(rows),
    }


def _facts(value: Json) -> Rows:
    return [{"what": name, "value": text} for name, text in flat_settings(value)]
