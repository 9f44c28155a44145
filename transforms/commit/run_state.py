"""The progress of a run, from the files that it has written: plan, receipts and manifest."""

import dataclasses
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from pairweave.transforms.commit.checking import BATCH
from pairweave.transforms.output.documents.plan_model import read_plan
from pairweave.transforms.output.documents.receipt_models import ShardReceipt
from pairweave.transforms.output.documents.run_note_model import read_run_note
from pairweave.transforms.output.other_outputs import require_run
from pairweave.transforms.output.receipts import REQUESTS
from pairweave.transforms.output.run_files import (
    MANIFEST,
    PLAN,
    RECEIPTS,
    RUN,
    Json,
    plan_digest,
    read_json,
)
from pairweave.transforms.storage import files
from pairweave.transforms.storage.json_files import check


@dataclasses.dataclass(frozen=True)
class RunState:
    """The state of a run, according to its files.

    Attributes:
        job: The job's name.
        digest: Digest of its plan.
        units: Units in the plan.
        units_read: Units with a receipt.
        shards: Shards in the plan.
        shards_done: Shards with a receipt of this plan.
        kept: Rows kept in those shards.
        rejected: Rows rejected in those shards, by reason.
        committed: Whether the manifest, which is written last, exists.
        sent: The job on Dataflow that a command left behind, if any: id, project and region.
    """

    job: str
    digest: str
    units: int
    units_read: int
    shards: int
    shards_done: int
    kept: int
    rejected: dict[str, int]
    committed: bool
    sent: Json | None = None

    def lines(self) -> list[str]:
        """Return the state as lines of text."""
        rejected = sum(self.rejected.values())
        reasons = sorted(self.rejected.items(), key=lambda item: (-item[1], item[0]))
        why = ", ".join(f"{reason} {rows:,}" for reason, rows in reasons)
        lines = [
            f"job {self.job}, plan {self.digest}",
            f"units read {self.units_read:,} of {self.units:,}",
            f"shards done {self.shards_done:,} of {self.shards:,}",
            f"pairs in them: kept {self.kept:,}, rejected {rejected:,}{f' ({why})' if why else ''}",
            f"committed: {'yes' if self.committed else 'no'}",
        ]
        if self.sent is not None and not self.committed:
            place = "--project {project} --region {region}".format(**self.sent)
            lines.append(
                f"sent as job {self.sent['id']}: pairweave status {self.sent['id']} {place}"
            )
        return lines


def read_state(output: str) -> RunState:
    """Read the state of a run.

    Raises:
        ConfigError: There is no run in this directory.
    """
    require_run(output)
    plan = read_plan(files.join(output, PLAN))
    digest = plan_digest(plan)
    names = files.list_names(files.join(output, RECEIPTS))
    rejected: Counter[str] = Counter()
    done = kept = 0
    for receipt in _receipts(output, [name for name in names if name.startswith("shard-")], digest):
        done += 1
        kept += int(receipt["kept"])
        for entry in receipt["rejected"]:
            rejected[str(entry["reason"])] += int(entry["rows"])
    return RunState(
        job=str(plan["job"]),
        digest=digest,
        units=len(plan["units"]),
        units_read=sum(name.startswith("unit-") for name in names),
        shards=int(plan["shards"]),
        shards_done=done,
        kept=kept,
        rejected=dict(rejected),
        committed=files.exists(files.join(output, MANIFEST)),
        sent=_sent(output),
    )


def _sent(output: str) -> Json | None:
    path = files.join(output, RUN)
    note = read_run_note(path) if files.exists(path) else {}
    job: Json | None = note.get("dataflow_job")
    return job


def _receipts(output: str, names: list[str], digest: str) -> Iterator[Json]:
    """Yield the receipts of one plan, only a few of which are in memory at once."""
    with ThreadPoolExecutor(max_workers=REQUESTS) as pool:
        for start in range(0, len(names), BATCH):
            paths = [files.join(output, RECEIPTS, name) for name in names[start : start + BATCH]]
            for path, receipt in zip(paths, pool.map(read_json, paths), strict=True):
                if receipt.get("plan") == digest:
                    check(receipt, path, ShardReceipt)
                    yield receipt
