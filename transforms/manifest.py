"""The plan that claims a directory, and the manifest that commits it.

The first file of a run is ``_plan.json``, created only if absent; the last is ``_manifest.json``.
Between them a run that is repeated finds by the receipts what is already there.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson

from transforms import card, files, report, run_samples
from transforms.errors import ConfigError, WorkerError
from transforms.write import (
    RECEIPTS,
    REJECTS,
    check_file,
    file_entry,
    shard_receipt_name,
    to_json,
    unit_receipt_name,
)

PLAN = "_plan.json"
MANIFEST = "_manifest.json"
RUN = "_run.json"
CARD = "README.md"

Json = dict[str, Any]


def plan_digest(plan: Mapping[str, object]) -> str:
    """Return the hex SHA-256 of a plan."""
    return hashlib.sha256(to_json(plan)).hexdigest()


def claim(output: str, plan: Mapping[str, object]) -> None:
    """Claim a directory for one plan, or find that it is already claimed for the same one.

    Raises:
        ConfigError: The directory belongs to another plan; says where they differ.
    """
    data = to_json(plan)
    files.make_directory(output)
    if not files.create(files.join(output, PLAN), data):
        check_claim(output, plan)


def check_claim(output: str, plan: Mapping[str, object]) -> None:
    """Check that a claimed directory is claimed for this plan.

    Raises:
        ConfigError: The directory belongs to another plan; says where they differ.
    """
    found = read_json(files.join(output, PLAN))
    if to_json(found) != to_json(plan):
        raise ConfigError(
            f"{output} already belongs to another run: {_difference(found, dict(plan))}. "
            "Give another --output, or repeat that run's command to finish it"
        )


def _difference(found: Json, wanted: Json, prefix: str = "") -> str:
    for key in sorted({*found, *wanted}):
        old, new = found.get(key), wanted.get(key)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            return _difference(old, new, f"{prefix}{key}.")
        return f"{prefix}{key} was {_short(old)}, is now {_short(new)}"
    return "its plan cannot be compared"


def _short(value: object) -> str:
    text = orjson.dumps(value).decode()
    return text if len(text) <= 160 else text[:157] + "..."


def read_json(path: str) -> Json:
    """Read a JSON object.

    Raises:
        ConfigError: It is no JSON object.
    """
    try:
        value = orjson.loads(files.read_bytes(path))
    except orjson.JSONDecodeError as error:
        raise ConfigError(f"{path}: not JSON ({error}); was it edited?") from error
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: expected a JSON object")
    return value


def finished_shards(output: str, plan: str, shards: int) -> frozenset[int]:
    """Return the shards that need not be made again: their receipt and files are whole."""
    present = set(files.list_names(files.join(output, RECEIPTS)))
    names = {
        shard: shard_receipt_name(shard, shards)
        for shard in range(shards)
        if shard_receipt_name(shard, shards).rpartition("/")[2] in present
    }
    with ThreadPoolExecutor(max_workers=8) as pool:
        whole = pool.map(lambda name: _is_whole(output, plan, name), names.values())
        return frozenset(shard for shard, good in zip(names, whole, strict=True) if good)


def _is_whole(output: str, plan: str, name: str) -> bool:
    try:
        receipt = read_json(files.join(output, name))
        if receipt.get("plan") != plan:
            return False
        for entry in receipt["files"]:
            check_file(output, entry)
    except (ConfigError, WorkerError, KeyError, TypeError):
        return False
    return True


def write_unit_receipt(output: str, plan: str, unit: int, rows: int) -> None:
    """Note that a unit was read whole, and how many rows it has."""
    receipt = {"plan": plan, "unit": unit, "rows": rows}
    files.write_bytes(files.join(output, unit_receipt_name(unit)), to_json(receipt))


def unread_units(output: str, plan: str, units: int) -> frozenset[int]:
    """Return the units without a receipt of this plan."""
    present = set(files.list_names(files.join(output, RECEIPTS)))
    unread = set()
    for unit in range(units):
        name = unit_receipt_name(unit)
        if name.rpartition("/")[2] not in present:
            unread.add(unit)
            continue
        try:
            if read_json(files.join(output, name)).get("plan") != plan:
                unread.add(unit)
        except ConfigError:
            unread.add(unit)
    return frozenset(unread)


def commit(
    output: str, extra_files: Mapping[str, bytes], *, allow_empty: bool = False
) -> Json:
    """Check that nothing was lost, then write the card, the report and, last, the manifest.

    Args:
        output: The run's directory, whose shards are all written.
        extra_files: Further files to write, by name.
        allow_empty: Whether a run may end with no pair kept.

    Returns:
        The manifest.

    Raises:
        WorkerError: A receipt or file is missing or differs, or pairs do not add up.
        ConfigError: No pair was kept and that is not allowed.
    """
    plan = read_json(files.join(output, PLAN))
    digest = plan_digest(plan)
    shards = int(plan["shards"])
    receipts = [
        _receipt(output, shard_receipt_name(shard, shards), digest) for shard in range(shards)
    ]
    _check_conservation(output, plan, digest, receipts)
    kept = sum(receipt["kept"] for receipt in receipts)
    if not kept and not allow_empty:
        raise ConfigError(
            f"no pair of {plan['rows']} was kept ({_reasons_text(receipts)}); see the files "
            f"under {files.join(output, REJECTS)}, or give --allow_empty"
        )
    entries = [entry for receipt in receipts for entry in receipt["files"]]
    with ThreadPoolExecutor(max_workers=8) as pool:
        list(pool.map(lambda entry: check_file(output, entry), entries))
    manifest = _manifest(plan, receipts, entries)
    for model in plan.get("models", []):
        manifest["files"].extend(_model_files(output, model))
    extras = {**extra_files, CARD: card.render(manifest).encode()}
    for name, data in sorted(extras.items()):
        _add_file(output, manifest, name, data)
    samples = run_samples.gather(output, manifest, receipts)
    page = report.render(manifest, receipts, samples)
    _add_file(output, manifest, report.REPORT, page.encode())
    for directory in (output, files.join(output, REJECTS), files.join(output, RECEIPTS)):
        files.delete_temporary(directory)
    files.write_bytes(files.join(output, MANIFEST), to_json(manifest))
    return manifest


def _add_file(output: str, manifest: Json, name: str, data: bytes) -> None:
    files.write_bytes(files.join(output, name), data)
    manifest["files"].append(file_entry(name, data))
    manifest["files"].sort(key=lambda entry: entry["name"])


def read_receipts(output: str, manifest: Json) -> list[Json]:
    """Return the receipts of a finished run's shards, in order.

    Raises:
        WorkerError: A receipt is missing or belongs to another run.
    """
    shards = int(manifest["shards"])
    return [
        _receipt(output, shard_receipt_name(shard, shards), manifest["plan_sha256"])
        for shard in range(shards)
    ]


def _receipt(output: str, name: str, digest: str) -> Json:
    try:
        receipt = read_json(files.join(output, name))
    except (OSError, ConfigError) as error:
        raise WorkerError(f"{name}: no usable receipt: {error}") from error
    if receipt.get("plan") != digest:
        raise WorkerError(f"{name}: belongs to another plan")
    return receipt


def _check_conservation(output: str, plan: Json, digest: str, receipts: list[Json]) -> None:
    """Check read = kept + rejected, for each unit and in sum."""
    arrived: Counter[int] = Counter()
    for receipt in receipts:
        for unit, kept, rejected in receipt["units"]:
            arrived[unit] += kept + rejected
    total = 0
    for unit in plan["units"]:
        number = int(unit["index"])
        read = _receipt(output, unit_receipt_name(number), digest)["rows"]
        total += read
        if read != unit["rows"] or read != arrived[number]:
            raise WorkerError(
                f"unit {number} ({unit['file']}): {unit['rows']} rows planned, {read} read, "
                f"{arrived[number]} kept or rejected"
            )
    rows = sum(receipt["rows"] for receipt in receipts)
    kept = sum(receipt["kept"] for receipt in receipts)
    rejected = sum(item["rows"] for receipt in receipts for item in receipt["rejected"])
    if not total == rows == kept + rejected:
        raise WorkerError(f"{total} rows read, {rows} in shards, {kept} kept, {rejected} rejected")


def _reasons(receipts: list[Json]) -> Counter[str]:
    reasons: Counter[str] = Counter()
    for receipt in receipts:
        for item in receipt["rejected"]:
            reasons[item["reason"]] += item["rows"]
    return reasons


def _reasons_text(receipts: list[Json]) -> str:
    return ", ".join(f"{reason} {rows}" for reason, rows in sorted(_reasons(receipts).items()))


def _manifest(plan: Json, receipts: list[Json], entries: list[Json]) -> Json:
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
    reasons = _reasons(receipts)
    return {
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
        "notices": plan["notices"],
        "rows": {"read": plan["rows"], "kept": kept, "rejected": sum(reasons.values())},
        "rejected": dict(reasons),
        "counts": dict(counts),
        "shards": plan["shards"],
        "files": list(entries),
    }


def _model_files(output: str, directory: str) -> list[Json]:
    found = []
    for name in files.list_names(files.join(output, directory)):
        if name.startswith(files.TEMPORARY_PREFIX):
            files.delete(files.join(output, directory, name))
            continue
        data = files.read_bytes(files.join(output, directory, name))
        found.append(file_entry(f"{directory}/{name}", data))
    return found
