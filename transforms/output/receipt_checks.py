"""Checks of receipts: all keys are present, and the numbers agree."""

from typing import Any

import pydantic

from pairweave.transforms.errors import WorkerError
from pairweave.transforms.output.documents.receipt_models import ShardReceipt, UnitReceipt
from pairweave.transforms.output.run_files import data_name, rejects_name
from pairweave.transforms.output.unit_counts import unpack_reasons, unpack_units
from pairweave.transforms.storage.json_files import JsonFile, first_problem


def check_shard(
    receipt: dict[str, Any], plan: str, shard: int, shards: int, *, rejects_only: bool = False
) -> None:
    """Check the receipt of one shard.

    Args:
        receipt: The receipt.
        plan: Digest of the plan that it must belong to.
        shard: The number of the shard.
        shards: Number of shards of the run.
        rejects_only: Whether the job writes only rejects.

    Raises:
        WorkerError: The receipt is invalid; names the field.
    """
    if receipt.get("plan") != plan:
        raise WorkerError("belongs to another plan")
    _check_fields(receipt, ShardReceipt)
    if receipt["shard"] != shard:
        raise WorkerError(f"expected shard {shard}, found {receipt['shard']!r}")
    try:
        units = unpack_units(receipt["units"])
    except WorkerError as error:
        raise WorkerError(f"units: {error}") from error
    try:
        unpack_reasons(receipt.get("unit_reasons", []))
    except WorkerError as error:
        raise WorkerError(f"unit_reasons: {error}") from error
    names = [data_name(shard, shards), rejects_name(shard, shards)]
    names = names[1:] if rejects_only else names
    if [entry["name"] for entry in receipt["files"]] != names or any(
        "rows" not in entry for entry in receipt["files"]
    ):
        raise WorkerError(f"files: expected {' and '.join(names)} with their rows")
    kept, rejected = receipt["kept"], sum(item["rows"] for item in receipt["rejected"])
    sums = [
        (receipt["rows"], kept + rejected),
        (sum(receipt["kept_by_corpus"].values()), kept),
        (int(units[:, 1].sum()), kept),
        (int(units[:, 2].sum()), rejected),
        (receipt["files"][-1]["rows"], rejected),
    ]
    if any(one != other for one, other in sums):
        raise WorkerError("its numbers do not add up")


def check_unit(receipt: dict[str, Any], plan: str, unit: int) -> None:
    """Check the receipt of one input unit, except for its number of rows.

    Raises:
        WorkerError: The receipt is invalid; names the field.
    """
    if receipt.get("plan") != plan:
        raise WorkerError("belongs to another plan")
    _check_fields(receipt, UnitReceipt)
    if receipt["unit"] != unit:
        raise WorkerError(f"expected unit {unit}, found {receipt['unit']!r}")


def _check_fields(receipt: dict[str, Any], model: type[JsonFile]) -> None:
    try:
        model.model_validate(receipt)
    except pydantic.ValidationError as error:
        raise WorkerError(first_problem(error)) from error
