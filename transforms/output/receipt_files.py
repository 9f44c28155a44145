"""The receipts in a run's directory: by them a run that is repeated finds what is already there."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.output.receipts import check_shard, check_unit
from pairweave.transforms.output.run_files import PLAN, Json, read_json
from pairweave.transforms.output.write import (
    RECEIPTS,
    check_file,
    shard_receipt_name,
    to_json,
    unit_receipt_name,
)
from pairweave.transforms.storage import files


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


def write_unit_receipt(
    output: str, plan: str, unit: int, rows: int, characters: Mapping[str, int] | None = None
) -> None:
    """Note that a unit was read whole, how many rows it has, and what its texts hold.

    Args:
        output: The run's directory.
        plan: Digest of its plan.
        unit: Number of the unit.
        rows: Its rows.
        characters: See `transforms.output.character_counts.count_characters`.
    """
    receipt: Json = {"plan": plan, "unit": unit, "rows": rows}
    if characters:
        receipt["characters"] = dict(characters)
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
            if read_rows(output, plan, unit) != planned[unit]:
                unread.add(unit)
        except WorkerError:
            unread.add(unit)
    return frozenset(unread)


def _planned_rows(output: str) -> dict[int, int]:
    units = read_json(files.join(output, PLAN))["units"]
    return {int(unit["index"]): int(unit["rows"]) for unit in units}


def read_receipts(output: str, plan: str, shards: int, *, rejects_only: bool = False) -> list[Json]:
    """Return the receipts of a run's shards, in order.

    Args:
        output: The run's directory.
        plan: Digest of its plan.
        shards: How many shards it has.
        rejects_only: Whether the job writes nothing of a shard but its rejects.

    Raises:
        WorkerError: A receipt is missing, belongs to another run, or lacks something.
    """
    return [
        _shard_receipt(output, plan, shard, shards, rejects_only=rejects_only)
        for shard in range(shards)
    ]


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


def read_rows(output: str, plan: str, unit: int) -> int:
    """Return how many rows were read of a unit, as its receipt says.

    Raises:
        WorkerError: See `read_unit_receipt`.
    """
    return int(read_unit_receipt(output, plan, unit)["rows"])


def read_unit_receipt(output: str, plan: str, unit: int) -> Json:
    """Return the receipt of a unit.

    Raises:
        WorkerError: The receipt is missing, belongs to another run, or lacks something.
    """
    name = unit_receipt_name(unit)
    try:
        receipt = read_json(files.join(output, name))
        check_unit(receipt, plan, unit)
    except (OSError, ConfigError, WorkerError) as error:
        raise WorkerError(f"{name}: no usable receipt: {error}") from error
    return receipt
