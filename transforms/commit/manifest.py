"""The content of a run's manifest, from its plan and its receipts."""

from collections import Counter
from collections.abc import Mapping, Sequence

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.output import aligned_by
from pairweave.transforms.output.receipts import is_as_planned
from pairweave.transforms.output.run_files import Json, plan_digest
from pairweave.transforms.report.rejected_files import rejection_notices
from pairweave.transforms.suggestions import span_lengths
from pairweave.transforms.tags import tag_profile


def check_conservation(plan: Json, read_rows: Mapping[int, int], receipts: Sequence[Json]) -> None:
    """Check read = kept + rejected, for each unit and in total.

    Args:
        plan: The run's plan.
        read_rows: Rows that were read of each unit, by its number.
        receipts: The receipts of all shards.

    Raises:
        WorkerError: A pair was lost or occurs twice.
    """
    arrived: Counter[int] = Counter()
    for receipt in receipts:
        for unit, kept, rejected in receipt["units"]:
            arrived[unit] += kept + rejected
    total = 0
    for unit in plan["units"]:
        number = int(unit["index"])
        read = read_rows[number]
        total += read
        if not is_as_planned(unit, read) or read != arrived[number]:
            raise WorkerError(
                f"unit {number} ({unit['file']}): {unit['rows']} rows planned, {read} read, "
                f"{arrived[number]} kept or rejected"
            )
    rows = sum(receipt["rows"] for receipt in receipts)
    kept = sum(receipt["kept"] for receipt in receipts)
    rejected = sum(item["rows"] for receipt in receipts for item in receipt["rejected"])
    if not total == rows == kept + rejected:
        raise WorkerError(f"{total} rows read, {rows} in shards, {kept} kept, {rejected} rejected")


def count_reasons(receipts: Sequence[Json]) -> Counter[str]:
    """Return how many pairs were rejected for each reason."""
    reasons: Counter[str] = Counter()
    for receipt in receipts:
        for item in receipt["rejected"]:
            reasons[item["reason"]] += item["rows"]
    return reasons


def make_manifest(plan: Json, receipts: Sequence[Json]) -> Json:
    """Return the part of the manifest that follows from the plan and the shards' receipts."""
    counts: Counter[str] = Counter()
    corpora: dict[str, Json] = {}
    for receipt in receipts:
        counts.update(receipt["counts"])
        for name, rows in receipt["kept_by_corpus"].items():
            entry = corpora.setdefault(name, {"kept": 0, "rejected": {}})
            entry["kept"] += rows
        for item in receipt["rejected"]:
            entry = corpora.setdefault(item["corpus"], {"kept": 0, "rejected": {}})
            rejected = entry["rejected"]
            rejected[item["reason"]] = rejected.get(item["reason"], 0) + item["rows"]
    kept = sum(receipt["kept"] for receipt in receipts)
    read = sum(receipt["rows"] for receipt in receipts)
    reasons = count_reasons(receipts)
    models = aligned_by.shards_by_model(receipts)
    golden = {}
    if "golden" in plan:
        distances = span_lengths.compare(plan["golden"], counts)
        golden = {"golden": {"histograms": plan["golden"], "distances": distances}}
    profile = {}
    if "tag_profile" in plan:
        profile["tag_profile"] = tag_profile.manifest_entry(plan["tag_profile"], counts)
        counts = Counter({n: k for n, k in counts.items() if not n.startswith(tag_profile.PREFIX)})
    return {
        **golden,
        "job": plan["job"],
        "version": plan["version"],
        "signature": plan["signature"],
        "plan_sha256": plan_digest(plan),
        "configuration": plan["configuration"],
        "corpora": {
            corpus["name"]: {**corpus, **corpora.get(corpus["name"], {"kept": 0, "rejected": {}})}
            for corpus in plan["corpora"]
        },
        "inputs": plan["inputs"],
        "notices": [*plan["notices"], *rejection_notices(plan, receipts)],
        "rows": {"read": read, "kept": kept, "rejected": sum(reasons.values())},
        "rejected": dict(reasons),
        "counts": dict(counts),
        **profile,
        "shards": plan["shards"],
        "files": [entry for receipt in receipts for entry in receipt["files"]],
        **({"aligned_by": models} if models else {}),
    }
