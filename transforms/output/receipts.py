"""The receipts in a run's directory: a rerun uses them to find finished units and shards."""

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa

from pairweave.transforms.counts.histograms import Bars
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.output import attempt_marks
from pairweave.transforms.output.document_notices import BandEdge, ExchangedSides
from pairweave.transforms.output.documents.plan_model import read_plan
from pairweave.transforms.output.receipt_checks import check_shard, check_unit
from pairweave.transforms.output.run_files import (
    PLAN,
    RECEIPTS,
    Json,
    WriteConfig,
    check_file,
    read_json,
    shard_receipt_name,
    to_json,
    unit_receipt_name,
)
from pairweave.transforms.output.unit_counts import count_unit_reasons, count_units
from pairweave.transforms.shards.shard import Shard
from pairweave.transforms.storage import files

REQUESTS = 16
"""Number of receipts that are read at once: each is a request to a store, which answers slowly."""

CHECKS = 8
"""Number of files that are checked at once; each is in memory as a whole."""


def finished_shards(
    output: str,
    plan: str,
    shards: int,
    *,
    rejects_only: bool = False,
    known: frozenset[int] = frozenset(),
) -> frozenset[int]:
    """Return the finished shards: those with a valid receipt and complete files.

    Args:
        output: The run's directory.
        plan: Digest of its plan.
        shards: Number of its shards.
        rejects_only: Whether the job writes only rejects.
        known: Shards known to be finished, whose files are not read again.
    """
    present = set(files.list_names(files.join(output, RECEIPTS)))
    names = [
        shard
        for shard in range(shards)
        if shard_receipt_name(shard, shards).rpartition("/")[2] in present
    ]
    with ThreadPoolExecutor(max_workers=CHECKS) as pool:
        whole = pool.map(
            lambda shard: shard in known or _is_whole(output, plan, shard, shards, rejects_only),
            names,
        )
        return frozenset(shard for shard, good in zip(names, whole, strict=True) if good)


def _is_whole(output: str, plan: str, shard: int, shards: int, rejects_only: bool) -> bool:  # noqa: FBT001
    try:
        receipt = _shard_receipt(output, plan, shard, shards, rejects_only=rejects_only)
        for entry in receipt["files"]:
            check_file(output, entry)
    except WorkerError:
        return False
    return True


def write_shard_receipt(
    config: WriteConfig,
    shard: Shard,
    counts: Mapping[str, int],
    written: list[dict[str, object]],
    histograms: Bars,
    tag_shapes: Mapping[str, int] | None = None,
) -> str:
    """Record that a shard was written, with counts of its rows and its files.

    Args:
        config: The run's location and metadata.
        shard: The shard, including all rejected rows.
        counts: Counts of the job.
        written: Its files (`run_files.file_entry`).
        histograms: Bars of its histograms.
        tag_shapes: Shapes of the drawn tags, where they are drawn from a profile.

    Returns:
        The receipt's name.
    """
    number, kept, rejected = shard.number, shard.kept, shard.rejected
    receipt = {
        "plan": config.plan,
        "shard": number,
        "rows": kept.num_rows + rejected.num_rows,
        "kept": kept.num_rows,
        "kept_by_corpus": _count(kept, "corpus"),
        "rejected": _count_reasons(rejected),
        "units": count_units(kept, rejected),
        "unit_reasons": count_unit_reasons(rejected),
        "counts": counts,
        "histograms": histograms,
        "files": written,
    }
    if tag_shapes:
        receipt["tag_shapes"] = dict(tag_shapes)
    if shard.notes.model is not None:
        receipt["model"] = shard.notes.model
    receipt |= config.recorded
    receipt_name = shard_receipt_name(number, config.shards)
    encoded = to_json(receipt)
    files.write_bytes(files.join(config.output, receipt_name), encoded)
    if config.attempt:
        attempt_marks.end(
            number, output=config.output, shards=config.shards, attempt=config.attempt
        )
    return receipt_name


def write_unit_receipt(
    output: str,
    plan: str,
    unit: int,
    rows: int,
    characters: Mapping[str, int] | None = None,
    edge: BandEdge | None = None,
    exchanged: ExchangedSides | None = None,
    beads: str | None = None,
) -> None:
    """Record that a unit was read completely, with counts of its rows and characters.

    Args:
        output: The run's directory.
        plan: Digest of its plan.
        unit: Number of the unit.
        rows: Number of its rows.
        characters: See `transforms.reading.damaged_characters.count_characters`.
        edge: Where the alignment of a document touches the edge of the widest band.
        exchanged: Documents whose sides look exchanged.
        beads: SHA-256 of the file of its beads, if it has one (`line_files.bead_files`).
    """
    receipt: Json = {"plan": plan, "unit": unit, "rows": rows}
    if characters:
        receipt["characters"] = dict(characters)
    if edge is not None:
        receipt["band_edge"] = list(edge)
    if exchanged is not None:
        receipt["exchanged_sides"] = list(exchanged)
    if beads is not None:
        receipt["beads"] = beads
    receipt_name, encoded = unit_receipt_name(unit), to_json(receipt)
    files.write_bytes(files.join(output, receipt_name), encoded)


def unread_units(output: str, plan: str, units: int) -> frozenset[int]:
    """Return the units that no receipt of this plan records as completely read.

    Raises:
        ConfigError: The directory's plan is invalid.
    """
    present = set(files.list_names(files.join(output, RECEIPTS)))
    if not present:
        return frozenset(range(units))  # the directory may have no plan yet
    planned = _planned_units(output)

    def is_unread(unit: int) -> bool:
        if unit_receipt_name(unit).rpartition("/")[2] not in present:
            return True
        try:
            return not is_as_planned(planned[unit], read_rows(output, plan, unit))
        except WorkerError:
            return True

    with ThreadPoolExecutor(max_workers=REQUESTS) as pool:
        unread = pool.map(is_unread, range(units))
        return frozenset(unit for unit, marked in enumerate(unread) if marked)


def is_as_planned(unit: Json, rows: int) -> bool:
    """Tell whether a unit of a plan may have this many rows.

    Documents have at most as many rows as lines, because the number of sentences in a row is not
    known before they are aligned. If lines are first split into sentences, even that limit is
    unknown.
    """
    if unit.get("unbounded"):
        return True
    most = int(unit["rows"])
    return rows <= most if unit.get("aligned") else rows == most


def _planned_units(output: str) -> dict[int, Json]:
    units = read_plan(files.join(output, PLAN))["units"]
    return {int(unit["index"]): unit for unit in units}


def read_receipts(
    output: str, plan: str, shards: int, which: Iterable[int], *, rejects_only: bool = False
) -> list[Json]:
    """Return the receipts of some of a run's shards, in order.

    Args:
        output: The run's directory.
        plan: Digest of its plan.
        shards: Number of its shards.
        which: Numbers of the wanted shards.
        rejects_only: Whether the job writes only rejects.

    Raises:
        WorkerError: A receipt is missing, belongs to another run, or is invalid.
    """
    with ThreadPoolExecutor(max_workers=REQUESTS) as pool:
        read = functools.partial(_shard_receipt, output, plan, rejects_only=rejects_only)
        return list(pool.map(lambda shard: read(shard, shards), which))


def read_unit_receipts(output: str, plan: str, units: Iterable[int]) -> dict[int, Json]:
    """Return the receipts of some units, by their number.

    Raises:
        WorkerError: See `read_unit_receipt`.
    """
    wanted = list(units)
    with ThreadPoolExecutor(max_workers=REQUESTS) as pool:
        receipts = pool.map(lambda unit: read_unit_receipt(output, plan, unit), wanted)
        return dict(zip(wanted, receipts, strict=True))


def _shard_receipt(
    output: str, plan: str, shard: int, shards: int, *, rejects_only: bool = False
) -> Json:
    def check(receipt: Json) -> None:
        check_shard(receipt, plan, shard, shards, rejects_only=rejects_only)

    return _receipt(output, shard_receipt_name(shard, shards), check)


def read_rows(output: str, plan: str, unit: int) -> int:
    """Return the number of rows of a unit according to its receipt.

    Raises:
        WorkerError: See `read_unit_receipt`.
    """
    return int(read_unit_receipt(output, plan, unit)["rows"])


def read_unit_receipt(output: str, plan: str, unit: int) -> Json:
    """Return the receipt of a unit.

    Raises:
        WorkerError: The receipt is missing, belongs to another run, or is invalid.
    """
    return _receipt(
        output, unit_receipt_name(unit), lambda receipt: check_unit(receipt, plan, unit)
    )


def _receipt(output: str, name: str, check: Callable[[Json], None]) -> Json:
    """Read a receipt and check it.

    Raises:
        WorkerError: It is missing, or the check fails.
    """
    path = files.join(output, name)
    try:
        receipt = read_json(path)
        check(receipt)
    except (OSError, ConfigError, WorkerError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        for place in (path, name):
            cause = cause.removeprefix(f"{place}: ")
        raise WorkerError(f"{path}: no usable receipt: {cause}") from error
    return receipt


def _count(rows: pa.Table, name: str) -> dict[str, int]:
    pairs = rows.column(name).cast(pa.string()).value_counts().to_pylist()
    return {item["values"]: item["counts"] for item in pairs}


def _count_reasons(rejected: pa.Table) -> list[dict[str, object]]:
    """Count rejected rows by corpus, stage and reason."""
    names = ["corpus", "stage", "reason"]
    columns = [rejected.column(name).cast(pa.string()).to_pylist() for name in names]
    counter = Counter(zip(*columns, strict=True))
    return [{**dict(zip(names, key, strict=True)), "rows": counter[key]} for key in sorted(counter)]
