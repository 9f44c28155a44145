"""The metrics of a night: for its record, the gates, and monitoring."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pairweave.pipelines.process import monitoring, terminal
from pairweave.pipelines.refresh.chain.records import Json
from pairweave.pipelines.refresh.file_ledger import NightInputs
from pairweave.transforms.errors import PairweaveError
from pairweave.transforms.storage import files, object_stores

if TYPE_CHECKING:
    from pairweave.pipelines.refresh.assembly import Assembled

OPTION = "--metrics"


def measure(
    inputs: NightInputs,
    assembled: "Sequence[Assembled]",
    *,
    before: int,
    removed: int,
    lost: int,
    seconds: float,
) -> Json:
    """Return the metrics of a night.

    Args:
        inputs: The input files of tonight.
        assembled: The files made from each run.
        before: Pairs of the table before the night.
        removed: Pairs that the night removes.
        lost: Number of removed pairs that do not come back tonight; pairs may come back when all
            rows are made again.
        seconds: Seconds since it began.
    """
    pairs = sum(run_result.pairs for run_result in assembled)
    reasons: Counter[str] = Counter()
    quality: Counter[str] = Counter()
    for run_result in assembled:
        reasons.update(run_result.reasons)
        quality.update(run_result.quality)
    rejected = sum(reasons.values())
    read = sum(sum(run_result.read.values()) for run_result in assembled)
    new: Json = {
        "read": read,
        "pairs": pairs,
        "rejected": rejected,
        "places": read - pairs - rejected,
        "share": round(rejected / read, 6) if read else 0.0,
        "reasons": {name: round(reasons[name] / read, 6) for name in sorted(reasons)},
    }
    languages = {
        name: count for run_result in assembled for name, count in run_result.languages.items()
    }
    new["languages"] = {
        name: round(languages[name] / read, 6) if read else 0.0 for name in sorted(languages)
    }
    for name, of in (("tags", "tagged_rows"), ("probability", "links"), ("score", "scored")):
        if quality[of]:
            new[name] = round(quality[name] / quality[of], 6)
    return {
        "seconds": round(seconds, 3),
        "files": {
            "all": len(inputs.entries),
            "new": len(inputs.new),
            "changed": len(inputs.changed),
            "moved": len(inputs.moved),
            "gone": len(inputs.gone),
        },
        "new": new,
        "removed": removed,
        "lost": lost,
        "table": {"before": before, "pairs": before - removed + pairs},
    }


def openmetrics(metrics: Json, night: int, *, committed: bool, when: float) -> str:
    """Return metrics as OpenMetrics text.

    Args:
        metrics: The result of `measure`.
        night: Number of the last night.
        committed: Whether this run committed it; otherwise it changed no pair of the table.
        when: Seconds since 1970 at which this run ended.
    """
    new, table = metrics["new"], metrics["table"]
    gauges = {
        "pairs": ("pairs in the table", {"": table["pairs" if committed else "before"]}),
        "night": ("number of the last committed night", {"": night}),
        "committed": ("whether the last run committed a night", {"": int(committed)}),
        "last_run_timestamp_seconds": ("end of the last run", {"": round(when, 3)}),
        "duration_seconds": ("duration of the last run", {"": metrics["seconds"]}),
        "input_files": (
            "input files by state",
            {f'{{state="{name}"}}': count for name, count in metrics["files"].items()},
        ),
        "new_pairs": ("pairs that the last run added", {"": committed * new["pairs"]}),
        "removed_pairs": ("pairs that the last run removed", {"": committed * metrics["removed"]}),
        "rejected_share": (
            "share of the pairs that the last run read",
            {
                '{reason="all"}': new["share"],
                **{f'{{reason="{name}"}}': share for name, share in new["reasons"].items()},
            },
        ),
    }
    for name in ("tags", "probability", "score"):
        if name in new:
            gauges[f"mean_{name}"] = (f"mean {name} of the last run's rows", {"": new[name]})
    if "likelihood" in new:
        labels = {f'{{languages="{pair}"}}': value for pair, value in new["likelihood"].items()}
        gauges["mean_likelihood"] = ("mean log-likelihood of a word of new pairs, in nats", labels)
    lines = []
    for name, (about, values) in gauges.items():
        lines += [
            f"# TYPE pairweave_refresh_{name} gauge",
            f"# HELP pairweave_refresh_{name} {about}.",
        ]
        lines += [f"pairweave_refresh_{name}{labels} {value}" for labels, value in values.items()]
    return "\n".join([*lines, "# EOF", ""])


def check(place: str | None) -> None:
    """Check a place for metrics.

    Raises:
        ConfigError: It is a URL to which no metrics can be sent.
    """
    if place is not None:
        monitoring.check_place(OPTION, place, object_stores.SCHEMES)


def write(place: str, text: str) -> None:
    """Write metrics to a file in one step, or push them; warn if that fails.

    Args:
        place: The file, or the http(s) URL of a Pushgateway's group.
        text: OpenMetrics text; its last line is a comment in the older Prometheus format.
    """
    if place.lower().startswith(("http://", "https://")):
        headers = {"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        monitoring.send(OPTION, place, text.encode(), headers, "PUT")
        return
    try:
        files.write_bytes(place, text.encode())
    except (OSError, PairweaveError) as error:
        cause = error.strerror if isinstance(error, OSError) and error.strerror else error
        terminal.warn(f"{OPTION} {place}: the metrics were not written: {cause}")
