"""The check of a run before its commit, in parts: several workers can share it.

Each part reads some of the receipts, and the files that they name, and adds them up; the sums of
all parts are what the commit needs.
"""

from concurrent.futures import ThreadPoolExecutor

from pairweave.transforms.output import aligned_by
from pairweave.transforms.output.documents.plan_model import read_plan
from pairweave.transforms.output.receipt_sums import ReceiptSums, add_sums, sum_receipts
from pairweave.transforms.output.receipts import CHECKS, read_receipts, read_unit_receipts
from pairweave.transforms.output.run_files import (
    PLAN,
    Json,
    check_file,
    plan_digest,
    writes_rows,
)
from pairweave.transforms.storage import files

PART_SHARDS = 256
"""Shards whose receipts and files one worker checks: a few gigabytes."""

MAX_PARTS = 256

BATCH = 64
"""Receipts in memory at once."""


def part_count(shards: int) -> int:
    """Return the number of parts in which a run with this many shards is checked."""
    return min(MAX_PARTS, -(-shards // PART_SHARDS))


def check_part(output: str, part: int = 0, parts: int = 1) -> ReceiptSums:
    """Check some receipts of a run, and the files that they name, and add them up.

    Args:
        output: The run's directory.
        part: Which part to check.
        parts: Number of parts.

    Raises:
        WorkerError: A receipt or file is missing or differs.
    """
    plan = read_plan(files.join(output, PLAN))
    digest, shards, units = plan_digest(plan), int(plan["shards"]), len(plan["units"])
    own = _share(shards, part, parts)
    batches = [own[start : start + BATCH] for start in range(0, len(own), BATCH)]
    summed = [_check_shards(output, plan, digest, shards, batch) for batch in batches]
    # The units of a plan have the numbers from 0 on.
    read = read_unit_receipts(output, digest, _share(units, part, parts))
    return add_sums([sum_receipts([], units, read), *summed])


def _share(count: int, part: int, parts: int) -> range:
    return range(count * part // parts, count * (part + 1) // parts)


def _check_shards(output: str, plan: Json, digest: str, shards: int, which: range) -> ReceiptSums:
    receipts = read_receipts(output, digest, shards, which, rejects_only=not writes_rows(plan))
    sums = sum_receipts(receipts, len(plan["units"]))
    aligned_by.check(plan["configuration"], sums.shards)
    with ThreadPoolExecutor(max_workers=CHECKS) as pool:
        list(pool.map(lambda entry: check_file(output, entry), sums.files))
    return sums


def read_sums(output: str, manifest: Json) -> ReceiptSums:
    """Return the sums of the receipts of a finished run, without those by unit.

    Raises:
        WorkerError: A receipt is missing or invalid.
    """
    digest, shards = str(manifest["plan_sha256"]), int(manifest["shards"])
    batches = [range(start, min(start + BATCH, shards)) for start in range(0, shards, BATCH)]
    sums = (sum_receipts(read_receipts(output, digest, shards, own), None) for own in batches)
    return add_sums([sum_receipts([], None), *sums])
