"""The report of a run: what it read, kept and turned away, and rows to look at.

One HTML file that needs nothing else: no script, and no font, style or image from elsewhere. The
committed report depends on the run's files only, so it is the same on every engine.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pairweave.transforms import agreement
from pairweave.transforms.html_elements import Html, bar, element, fold, join, table
from pairweave.transforms.report_samples import kept_samples, rejected_samples
from pairweave.transforms.report_style import CSS
from pairweave.transforms.run_samples import Samples
from pairweave.transforms.shown_counts import split_counts

REPORT = "report.html"
MOST_ROWS = 1_000
"""Files listed in one table before the rest is only counted."""

MOST_BARS = 20
"""Bars of one distribution before values share a bar."""

# Should a text ever slip out of its element, a browser still runs and fetches nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

Json = Mapping[str, Any]


def render(
    manifest: Json, receipts: Sequence[Json], samples: Samples, run: Json | None = None
) -> str:
    """Render a run's report.

    Args:
        manifest: The run's manifest; that it names the report itself changes nothing.
        receipts: The receipts of its shards, in order.
        samples: Rows to look at.
        run: What ``_run.json`` says, if times and speeds are to be shown.

    Returns:
        The page, the same for the same arguments; HTML and well-formed XML.
    """
    title = f"{manifest['job']} · {', '.join(sorted(manifest['corpora']))}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("title", f"pairweave {title}"),
        element("style", Html(CSS)),
    )
    sections = [
        _head(manifest, receipts),
        _corpora(manifest),
        _reasons(manifest, receipts),
        _agreement(manifest["counts"]),
        _counts(manifest["counts"]),
        _golden(manifest.get("golden", {})),
        _profile(manifest["tag_profile"]) if "tag_profile" in manifest else "",
        kept_samples(manifest["rows"]["kept"], samples.kept),
        rejected_samples(manifest["rejected"], samples.rejected),
        _run(run) if run else "",
        _inputs(manifest["inputs"]),
        _configuration(manifest),
        _files(manifest["files"]),
    ]
    body = element("body", element("main", join([part for part in sections if part], "\n")))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _head(manifest: Json, receipts: Sequence[Json]) -> Html:
    rows = manifest["rows"]
    languages = sorted(
        {
            f"{corpus['source_lang']} to {corpus['target_lang']}"
            for corpus in manifest["corpora"].values()
        }
    )
    sizes = [receipt["rows"] for receipt in receipts]
    shards = f"{manifest['shards']:,} shards"
    if sizes:
        shards += f" of {min(sizes):,} to {max(sizes):,} pairs"
    share = rows["kept"] / rows["read"] if rows["read"] else 0.0
    tiles = [
        element("div", element("b", f"{number:,}"), f"pairs {name}", class_="tile")
        for name, number in ((name, rows[name]) for name in ("read", "kept", "rejected"))
    ]
    tiles.append(element("div", element("b", _percent(share)), "kept of read", class_="tile"))
    return element(
        "header",
        element("h1", f"What the job {manifest['job']} made"),
        element(
            "p",
            f"{', '.join(languages)} · {shards} · pairweave {manifest['version']}",
            class_="soft",
        ),
        *(element("p", notice, class_="notice") for notice in manifest["notices"]),
        element("div", *tiles, class_="tiles"),
        bar(share, f"{_percent(share)} kept", "kept") if rows["read"] else "",
    )


def _run(run: Json) -> Html:
    """Return what differs between runs of the same bytes."""
    return _section(
        "This run",
        element("p", "What differs between runs that make the same bytes.", class_="soft"),
        table(["what", "value"], ([name, element("code", value)] for name, value in _flat(run))),
    )


def _corpora(manifest: Json) -> Html:
    rows = []
    for name, corpus in sorted(manifest["corpora"].items()):
        rejected = sum(corpus["rejected"].values())
        read = corpus["kept"] + rejected
        share = corpus["kept"] / read if read else 0.0
        rows.append(
            [
                name,
                f"{corpus['source_lang']} to {corpus['target_lang']}",
                corpus["licence"] or "not stated",
                f"{read:,}",
                f"{corpus['kept']:,}",
                f"{rejected:,}",
                bar(share, f"{_percent(share)} kept", "kept"),
            ]
        )
    heads = ["corpus", "languages", "licence", "read", "kept", "rejected", "kept of read"]
    return _section("Corpora", table(heads, rows, numbers=(3, 4, 5)))


def _reasons(manifest: Json, receipts: Sequence[Json]) -> Html:
    if not manifest["rejected"]:
        return _section("Why pairs were rejected", element("p", "None was."))
    stages: dict[str, set[str]] = defaultdict(set)
    for receipt in receipts:
        for item in receipt["rejected"]:
            stages[item["reason"]].add(item["stage"])
    most = max(manifest["rejected"].values())
    read = manifest["rows"]["read"]
    ordered = sorted(manifest["rejected"].items(), key=lambda item: (-item[1], item[0]))
    rows = [
        [
            element("code", reason),
            ", ".join(sorted(stages[reason])),
            f"{number:,}",
            _percent(number / read),
            bar(number / most, f"{number:,} pairs", "rejected"),
        ]
        for reason, number in ordered
    ]
    heads = ["reason", "step", "pairs", "of all read", ""]
    parts = [table(heads, rows, numbers=(2, 3))]
    if len(manifest["corpora"]) > 1:
        parts.append(fold("By corpus", _by_corpus(manifest["corpora"], [r for r, _ in ordered])))
    return _section("Why pairs were rejected", *parts)


def _by_corpus(corpora: Json, reasons: Sequence[str]) -> Html:
    rows = [
        [name, *(f"{corpus['rejected'].get(reason, 0):,}" for reason in reasons)]
        for name, corpus in sorted(corpora.items())
    ]
    heads = ["corpus", *reasons]
    return table(heads, rows, numbers=range(1, len(heads)))


def _counts(counts: Mapping[str, int]) -> Html:
    """Return the job's counts; those of the form ``X with N Y`` as distributions of Y."""
    plain, by_number = split_counts(counts)
    if not counts:
        return Html("")
    rows = ([name, f"{number:,}"] for name, number in plain.items())
    parts: list[str] = [table(["what", "number"], rows, numbers=(1,))] if plain else []
    for (what, unit), found in sorted(by_number.items()):
        parts += [element("h3", f"{what[:1].upper()}{what[1:]} by number of {unit}")]
        parts += [_distribution(found, what, unit)]
    return _section("What came out", *parts)


def _agreement(counts: Mapping[str, int]) -> Html:
    """Return how far two aligners agree; nothing where one was at work."""
    found = agreement.of_counts(counts)
    if found is None:
        return Html("")
    total = found.first + found.second
    return _section(
        "How far two aligners agree",
        element("p", element("b", _percent(found.rate)), " of their links"),
        bar(found.rate, f"{_percent(found.rate)} agreement", "kept"),
        element(
            "p",
            f"Twice the {found.common:,} links that both made, by the {total:,} of the first and "
            "of the second together: the F1 of one against the other. It is a signal of quality "
            "that needs no gold.",
            class_="soft",
        ),
    )


def _golden(golden: Json) -> Html:
    """Return how far the examples are from the golden set that the run was given."""
    rows = [
        [method, facet, "none" if distance is None else f"{distance:.4f}"]
        for method, facets in sorted(golden.get("distances", {}).items())
        for facet, distance in sorted(facets.items())
    ]
    if not rows:
        return Html("")
    note = "Jensen-Shannon distance of the distributions, from 0 (alike) to 1 (nothing in common)."
    heads = ["method", "distribution", "distance"]
    return _section(
        "Beside the golden set", element("p", note, class_="soft"), table(heads, rows, numbers=(2,))
    )


def _profile(profile: Json) -> Html:
    """Return the shapes of tags beside those of the profile that they were drawn to."""
    said = (
        "Shares of tags in the profile and among the tags drawn to it, and the Jensen-Shannon "
        "distance of the two: 0 for the same, 1 for nothing in common."
    )
    parts = [element("p", said, class_="soft")]
    named = {
        f"name {form} {name}": n
        for form, names in profile["names"].items()
        for name, n in names.items()
    }
    for feature, distance in profile["distance"].items():
        wanted, drawn = (
            {name: n for name, n in counts.items() if name.startswith(f"{feature} ")}
            for counts in ({**profile["counts"], **named}, profile["drawn"])
        )
        rows = [
            [
                name.removeprefix(f"{feature} "),
                _percent(wanted.get(name, 0) / sum(wanted.values())),
                _percent(drawn.get(name, 0) / sum(drawn.values())),
            ]
            for name in sorted({*wanted, *drawn})
        ]
        shares = table(["class", "profile", "drawn"], rows, numbers=(1, 2))
        parts.append(fold(f"{feature}: distance {distance:.3f}", shares))
    return _section("Tag profile", *parts)


def _distribution(found: Mapping[int, int], what: str, unit: str) -> Html:
    low, high = min(found), max(found)
    width = -(-(high - low + 1) // MOST_BARS)
    bins: dict[int, int] = dict.fromkeys(range(low, high + 1, width), 0)
    for value, number in found.items():
        bins[low + (value - low) // width * width] += number
    most, total = max(bins.values()), sum(bins.values())
    rows = [
        [
            str(start) if width == 1 else f"{start} to {start + width - 1}",
            f"{number:,}",
            _percent(number / total if total else 0.0),
            bar(number / most if most else 0.0, f"{number:,} {what}"),
        ]
        for start, number in bins.items()
    ]
    return table([unit, what, "share", ""], rows, numbers=(0, 1, 2))


def _inputs(inputs: Sequence[Json]) -> Html:
    rows = [
        [
            entry["name"],
            entry["corpus"],
            entry["role"],
            entry["format"],
            f"{entry['rows']:,}",
            f"{entry['bytes']:,}",
            element("code", entry["sha256"]),
        ]
        for entry in inputs[:MOST_ROWS]
    ]
    heads = ["file", "corpus", "side", "format", "rows", "bytes", "SHA-256"]
    return _section("Input", table(heads, rows, numbers=(4, 5)), _more(inputs))


def _configuration(manifest: Json) -> Html:
    settings = _flat(manifest["configuration"])
    return _section(
        "Configuration",
        element("p", "Signature: ", element("code", manifest["signature"])),
        element("p", "SHA-256 of the plan: ", element("code", manifest["plan_sha256"])),
        table(["option", "value"], ([name, element("code", value)] for name, value in settings)),
    )


def _files(entries: Sequence[Json]) -> Html:
    others = [entry for entry in entries if entry["name"] != REPORT]
    rows = [
        [
            entry["name"],
            f"{entry['rows']:,}" if "rows" in entry else "",
            f"{entry['bytes']:,}",
            element("code", entry["sha256"]),
        ]
        for entry in others[:MOST_ROWS]
    ]
    total = sum(entry["bytes"] for entry in others)
    heads = ["file", "rows", "bytes", "SHA-256"]
    listed = fold(
        f"{len(others):,} files, {total:,} bytes",
        table(heads, rows, numbers=(1, 2)),
        _more(others),
    )
    return _section("Files", listed)


def _more(entries: Sequence[Json]) -> Html:
    if len(entries) <= MOST_ROWS:
        return Html("")
    return element("p", f"and {len(entries) - MOST_ROWS:,} more, all in _manifest.json")


def _section(title: str, *content: str) -> Html:
    return element("section", element("h2", title), *content)


def _flat(value: Json, prefix: str = "") -> Iterable[tuple[str, str]]:
    """Yield nested settings as dotted names and texts, sorted by name."""
    for name, item in sorted(value.items()):
        if isinstance(item, Mapping):
            yield from _flat(item, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", _text(item)


def _text(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_text(item)}" for name, item in sorted(value.items()))
    if isinstance(value, list | tuple):
        return "; ".join(_text(item) for item in value) or "none"
    return str(value)


def _percent(share: float) -> str:
    """Return a share as a percentage that says 0 and 100 only where it is exactly that."""
    if 0 < share < 0.0001:
        return "under 0.01 %"
    if 0.9999 < share < 1:
        return "over 99.99 %"
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + " %"
