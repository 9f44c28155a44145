"""The content of a run's manifest, from its plan and its receipts."""

from collections.abc import Sequence

from pairweave.transforms.counts.histograms import HISTOGRAMS
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.output import aligned_by
from pairweave.transforms.output.documents.parts import FORMAT
from pairweave.transforms.output.receipt_sums import ReceiptSums
from pairweave.transforms.output.receipts import is_as_planned
from pairweave.transforms.output.run_files import Json, plan_digest
from pairweave.transforms.report.rejected_files import MostlyRejected, rejection_notices
from pairweave.transforms.report.rejected_languages import language_notices
from pairweave.transforms.report.rejected_shares import named_reasons
from pairweave.transforms.suggestions import span_lengths
from pairweave.transforms.suggestions.suggestion_counts import mix_notice
from pairweave.transforms.tags import tag_profile


def check_conservation(plan: Json, sums: ReceiptSums) -> None:
    """Check read = kept + rejected, for each unit and in total.

    Args:
        plan: The run's plan.
        sums: The sums of all receipts.

    Raises:
        WorkerError: A pair was lost or occurs twice.
    """
    arrived = sums.units.sum(axis=1)
    total = 0
    for unit in plan["units"]:
        number = int(unit["index"])
        read = int(sums.read[number]["rows"])
        total += read
        if not is_as_planned(unit, read) or read != arrived[number]:
            raise WorkerError(
                f"unit {number} ({unit['file']}): {unit['rows']} rows planned, {read} read, "
                f"{arrived[number]} kept or rejected"
            )
    rejected = sums.rejected.total()
    if not total == sums.rows == sums.kept + rejected:
        raise WorkerError(
            f"{total} rows read, {sums.rows} in shards, {sums.kept} kept, {rejected} rejected"
        )


def make_manifest(plan: Json, sums: ReceiptSums, places: Sequence[MostlyRejected]) -> Json:
    """Return the part of the manifest that follows from the plan and the receipts.

    Args:
        plan: The run's plan.
        sums: The sums of its receipts.
        places: Files of the run, or parts of files, of which more than half was rejected.
    """
    bars = sums.bars
    corpora: dict[str, Json] = {}
    for name, rows in sums.kept_by_corpus.items():
        corpora.setdefault(name, {"kept": 0, "rejected": {}})["kept"] += rows
    for (name, _, reason), rows in sums.rejected.items():
        rejected = corpora.setdefault(name, {"kept": 0, "rejected": {}})["rejected"]
        rejected[reason] = rejected.get(reason, 0) + rows
    reasons = sums.reasons
    models = aligned_by.shards_by_model(sums.shards)
    golden = {}
    if "golden" in plan:
        distances = span_lengths.compare(plan["golden"], bars)
        golden = {"golden": {"histograms": plan["golden"], "distances": distances}}
    profile = {}
    if "tag_profile" in plan:
        profile["tag_profile"] = tag_profile.manifest_entry(plan["tag_profile"], sums.tag_shapes)
    named = {corpus["name"]: corpus for corpus in plan["corpora"]}
    notices = [
        *rejection_notices(places, named_reasons(sums)),
        *language_notices(named, plan["inputs"], sums),
    ]
    if plan["job"] == "suggest":
        settings = plan["configuration"]
        methods, mix = settings.get("methods") or (), float(settings.get("mix") or 0)
        notice = mix_notice(sums.counts, methods, mix, sums.kept)
        notices += [notice] if notice is not None else []
    return {
        **golden,
        "format": FORMAT,
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
        "notices": [*plan["notices"], *notices],
        "rows": {"read": sums.rows, "kept": sums.kept, "rejected": reasons.total()},
        "rejected": dict(reasons),
        "counts": dict(sums.counts),
        "histograms": {name: HISTOGRAMS[name].as_json(groups) for name, groups in bars.items()},
        **profile,
        "shards": plan["shards"],
        "files": list(sums.files),
        **({"look": plan["look"]} if "look" in plan else {}),
        **({"aligned_by": models} if models else {}),
    }
