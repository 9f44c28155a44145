"""The plan that claims a directory, and the manifest that commits it.

The first file of a run is ``_plan.json``, created only if absent; the last is ``_manifest.json``.
Between them a run that is repeated finds by the receipts what is already there.
"""

import fnmatch
import hashlib
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson

from transforms import (
    aligned_by,
    card,
    files,
    report,
    run_samples,
    sealed,
    span_lengths,
    tag_profile,
)
from transforms.errors import ConfigError, WorkerError
from transforms.receipts import check_shard, check_unit
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
# What else a run writes at the top of its directory.
IN_THE_WAY = ("symbols.txt", "part-*.parquet")

FIT = "fit"
"""The job that writes a model, and nothing of a pair but why it was rejected."""

Json = dict[str, Any]


def plan_digest(plan: Mapping[str, object]) -> str:
    """Return the hex SHA-256 of a plan."""
    return hashlib.sha256(to_json(plan)).hexdigest()


def claim(output: str, plan: Mapping[str, object]) -> None:
    """Claim a directory for one plan, or find that it is already claimed for the same one.

    A plan file that is no JSON, as after a full disk, claims nothing and is written again: the
    receipts name their plan, so nothing of another run can be taken for this one's.

    Raises:
        ConfigError: The directory belongs to another plan (says where they differ), or holds
            files that the run would overwrite and that no plan explains.
    """
    data = to_json(plan)
    files.make_directory(output)
    check_unclaimed(output, plan)
    path = files.join(output, PLAN)
    if files.create(path, data):
        return
    if _is_json(path):
        check_claim(output, plan)
    else:
        files.write_bytes(path, data)


def check_unclaimed(output: str, plan: Mapping[str, object]) -> None:
    """Check that a directory without a plan holds no file that the run would write.

    Raises:
        ConfigError: It does; names the first such file.
    """
    path = files.join(output, PLAN)
    if files.exists(path):
        return
    found = _first_in_the_way(output, plan)
    # Another launcher may have claimed the directory since; then its plan decides.
    if found is not None and not files.exists(path):
        raise ConfigError(
            f"{output} already has {found}, which the run would overwrite, and no {PLAN} that "
            "says it is this run's; give another --output or an empty directory"
        )


def _first_in_the_way(output: str, plan: Mapping[str, object]) -> str | None:
    fits = plan["job"] == FIT
    patterns = (MANIFEST, sealed.ABOUT) if fits else (MANIFEST, CARD, report.REPORT, *IN_THE_WAY)
    for name in files.list_names(output):
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            return name
    for directory in (REJECTS, *plan.get("models", [])):  # type: ignore[misc]
        for name in files.list_names(files.join(output, directory)):
            return f"{directory}/{name}"
    return None


def _is_json(path: str) -> bool:
    try:
        orjson.loads(files.read_bytes(path))
    except orjson.JSONDecodeError:
        return False
    return True


def check_claim(output: str, plan: Mapping[str, object]) -> None:
    """Check that a claimed directory is claimed for this plan; a broken plan claims nothing.

    Raises:
        ConfigError: The directory belongs to another plan; says where they differ.
    """
    if not _is_json(files.join(output, PLAN)):
        return
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


def finished_shards(
    output: str, plan: str, shards: int, *, rejects_only: bool = False
) -> frozenset[int]:
    """Return the shards that need not be made again: their receipt and files are whole.

    Args:
        output: The run's directory.
        plan: Digest of its plan.
        shards: How many shards it has.
        rejects_only: Whether the job writes nothing of a shard but its rejects.
    """
    present = set(files.list_names(files.join(output, RECEIPTS)))
    names = [
        shard
        for shard in range(shards)
        if shard_receipt_name(shard, shards).rpartition("/")[2] in present
    ]
    with ThreadPoolExecutor(max_workers=8) as pool:
        whole = pool.map(lambda shard: _is_whole(output, plan, shard, shards, rejects_only), names)
        return frozenset(shard for shard, good in zip(names, whole, strict=True) if good)


def _is_whole(output: str, plan: str, shard: int, shards: int, rejects_only: bool) -> bool:  # noqa: FBT001
    try:
        receipt = _shard_receipt(output, plan, shard, shards, rejects_only=rejects_only)
        for entry in receipt["files"]:
            check_file(output, entry)
    except WorkerError:
        return False
    return True


def write_unit_receipt(output: str, plan: str, unit: int, rows: int) -> None:
    """Note that a unit was read whole, and how many rows it has."""
    receipt = {"plan": plan, "unit": unit, "rows": rows}
    files.write_bytes(files.join(output, unit_receipt_name(unit)), to_json(receipt))


def unread_units(output: str, plan: str, units: int) -> frozenset[int]:
    """Return the units without a receipt of this plan that says they were read whole.

    Raises:
        ConfigError: The directory's plan is no plan.
    """
    planned = _planned_rows(output)
    present = set(files.list_names(files.join(output, RECEIPTS)))
    unread = set()
    for unit in range(units):
        name = unit_receipt_name(unit)
        if name.rpartition("/")[2] not in present:
            unread.add(unit)
            continue
        try:
            if _unit_receipt(output, plan, unit)["rows"] != planned[unit]:
                unread.add(unit)
        except WorkerError:
            unread.add(unit)
    return frozenset(unread)


def _planned_rows(output: str) -> dict[int, int]:
    units = read_json(files.join(output, PLAN))["units"]
    return {int(unit["index"]): int(unit["rows"]) for unit in units}


def commit(output: str, extra_files: Mapping[str, bytes], *, allow_empty: bool = False) -> Json:
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
    manifest, receipts = summarize(output)
    kept = manifest["rows"]["kept"]
    if not kept and not allow_empty:
        raise ConfigError(
            f"no pair of {manifest['rows']['read']} was kept ({_reasons_text(receipts)}); see the "
            f"files under {files.join(output, REJECTS)}, or give --allow_empty"
        )
    for model in read_json(files.join(output, PLAN)).get("models", []):
        # Where no pair passed the screen there was nothing to fit a model on.
        if kept or files.exists(files.join(output, model, sealed.ABOUT)):
            manifest["files"].extend(_model_files(output, model))
    extras = {**extra_files, CARD: card.render(manifest).encode()}
    for name, data in sorted(extras.items()):
        _add_file(output, manifest, name, data)
    samples = run_samples.gather(output, manifest, receipts)
    page = report.render(manifest, receipts, samples)
    _add_file(output, manifest, report.REPORT, page.encode())
    write_manifest(output, manifest)
    return manifest


def summarize(output: str) -> tuple[Json, list[Json]]:
    """Check that no pair and no file of a run's shards was lost.

    Returns:
        The manifest as far as the shards tell it, and their receipts.

    Raises:
        WorkerError: A receipt or file is missing or differs, or pairs do not add up.
    """
    plan = read_json(files.join(output, PLAN))
    digest = plan_digest(plan)
    shards = int(plan["shards"])
    fits = plan["job"] == FIT
    receipts = [
        _shard_receipt(output, digest, shard, shards, rejects_only=fits) for shard in range(shards)
    ]
    _check_conservation(output, plan, digest, receipts)
    aligned_by.check(plan["configuration"], receipts)
    entries = [entry for receipt in receipts for entry in receipt["files"]]
    with ThreadPoolExecutor(max_workers=8) as pool:
        list(pool.map(lambda entry: check_file(output, entry), entries))
    return _manifest(plan, receipts, entries), receipts


def write_manifest(output: str, manifest: Json) -> None:
    """Commit a run: take away what dead writers left, then write the manifest."""
    for directory in (output, files.join(output, REJECTS), files.join(output, RECEIPTS)):
        files.delete_temporary(directory)
    manifest["files"].sort(key=lambda entry: entry["name"])
    files.write_bytes(files.join(output, MANIFEST), to_json(manifest))


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
    plan = manifest["plan_sha256"]
    return [_shard_receipt(output, plan, shard, shards) for shard in range(shards)]


def _shard_receipt(
    output: str, plan: str, shard: int, shards: int, *, rejects_only: bool = False
) -> Json:
    name = shard_receipt_name(shard, shards)
    try:
        receipt = read_json(files.join(output, name))
        check_shard(receipt, plan, shard, shards, rejects_only=rejects_only)
    except (OSError, ConfigError, WorkerError) as error:
        raise WorkerError(f"{name}: no usable receipt: {error}") from error
    return receipt


def _unit_receipt(output: str, plan: str, unit: int) -> Json:
    name = unit_receipt_name(unit)
    try:
        receipt = read_json(files.join(output, name))
        check_unit(receipt, plan, unit)
    except (OSError, ConfigError, WorkerError) as error:
        raise WorkerError(f"{name}: no usable receipt: {error}") from error
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
        read = _unit_receipt(output, digest, number)["rows"]
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
    models = aligned_by.shards_by_model(receipts)
    golden = {}
    if "golden" in plan:
        distances = span_lengths.compare(plan["golden"], counts)
        golden = {"golden": {"histograms": plan["golden"], "distances": distances}}
    profile = {}
    if "tag_profile" in plan:
        profile["tag_profile"] = tag_profile.account(plan["tag_profile"], counts)
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
        "notices": plan["notices"],
        "rows": {"read": plan["rows"], "kept": kept, "rejected": sum(reasons.values())},
        "rejected": dict(reasons),
        "counts": dict(counts),
        **profile,
        "shards": plan["shards"],
        "files": list(entries),
        **({"aligned_by": models} if models else {}),
    }


def _model_files(output: str, directory: str) -> list[Json]:
    """Describe a model's files: ``about.json`` and what it names, nothing that lies beside them."""
    path = files.join(output, directory)
    files.delete_temporary(path)
    return [file_entry(f"{directory}/{name}", data) for name, data in sealed.read(path).items()]
