"""Checks of receipts: all keys are present, and the numbers agree."""

from collections.abc import Iterable
from typing import Any

from pairweave.transforms.counts.histograms import are_bars
from pairweave.transforms.errors import WorkerError
from pairweave.transforms.output.run_files import data_name, rejects_name
from pairweave.transforms.output.unit_counts import unpack_reasons, unpack_units


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
        WorkerError: The receipt is invalid.
    """
    if receipt.get("plan") != plan:
        raise WorkerError("belongs to another plan")
    if receipt.get("shard") != shard:
        raise WorkerError(f"expected shard {shard}, found {receipt.get('shard')!r}")
    if not isinstance(receipt.get("model", ""), str):
        raise WorkerError(f"expected the digest of a model, found {receipt['model']!r}")
    numbers = _all_numbers([receipt.get("rows"), receipt.get("kept")])
    for name in ("kept_by_corpus", "counts", "tag_shapes"):
        numbers = numbers and _counts(receipt.get(name, {} if name == "tag_shapes" else None))
    numbers = numbers and are_bars(receipt.get("histograms"))
    if not (numbers and _rejected(receipt.get("rejected"))):
        raise WorkerError("some of its counts are missing or invalid")
    try:
        units = unpack_units(receipt.get("units"))
    except WorkerError as error:
        raise WorkerError(f"some of its counts are missing or invalid: {error}") from error
    try:
        unpack_reasons(receipt.get("unit_reasons", []))
    except WorkerError as error:
        raise WorkerError(f"its reject reasons of each unit are invalid: {error}") from error
    names = [data_name(shard, shards), rejects_name(shard, shards)]
    names = names[1:] if rejects_only else names
    if not _files(receipt.get("files"), names):
        raise WorkerError(f"expected the hashes of {' and '.join(names)}")
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
        WorkerError: The receipt is invalid.
    """
    if receipt.get("plan") != plan:
        raise WorkerError("belongs to another plan")
    if receipt.get("unit") != unit:
        raise WorkerError(f"expected unit {unit}, found {receipt.get('unit')!r}")
    if not _is_number(receipt.get("rows")):
        raise WorkerError("its number of rows is missing or invalid")
    if not _counts(receipt.get("characters", {})):
        raise WorkerError("its counts of characters are invalid")
    edge = receipt.get("band_edge", [0, 0, 0])
    if not (isinstance(edge, list) and len(edge) == 3 and _all_numbers(edge)):
        raise WorkerError("where it touches the edge of its band is invalid")
    exchanged = receipt.get("exchanged_sides", [0, 0])
    if not (isinstance(exchanged, list) and len(exchanged) == 2 and _all_numbers(exchanged)):
        raise WorkerError("its documents with exchanged sides are invalid")


def _is_number(value: object) -> bool:
    return type(value) is int and value >= 0


def _all_numbers(values: Iterable[object]) -> bool:
    return all(_is_number(value) for value in values)


def _counts(value: object) -> bool:
    return isinstance(value, dict) and _all_numbers(value.values())


def _rejected(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict)
        and _is_number(item.get("rows"))
        and all(isinstance(item.get(name), str) for name in ("corpus", "stage", "reason"))
        for item in value
    )


def _files(value: object, names: list[str]) -> bool:
    return (
        isinstance(value, list)
        and all(isinstance(item, dict) for item in value)
        and [item.get("name") for item in value] == names
        and all(_all_numbers([item.get("bytes"), item.get("rows")]) for item in value)
        and all(isinstance(item.get("sha256"), str) for item in value)
    )
