"""The job ``finetune``: trains an encoder on pairs, so that it aligns their words better.

Training runs in one process, so this is a loop instead of a graph; plan, readers, screen, rejects
and manifest are those of every job.
"""

import contextlib
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pairweave.models.encoder.hosting.encoder_reference import EncoderReference
from pairweave.models.finetune.finetune_config import FinetuneConfig
from pairweave.pipelines.job_options.pair_options import FinetuneOptions
from pairweave.pipelines.parts.aligner_parts import ALIGNER
from pairweave.pipelines.parts.text_parts import SCREEN
from pairweave.pipelines.process.log import LOG
from pairweave.pipelines.run.job import TrainingJob
from pairweave.pipelines.run.run import Planned
from pairweave.pipelines.run.run_summary import note_run
from pairweave.transforms.commit.claim import claim
from pairweave.transforms.commit.commit import write_manifest
from pairweave.transforms.config import pick
from pairweave.transforms.errors import ConfigError, WorkerError
from pairweave.transforms.formats.registry import read_unit
from pairweave.transforms.output import attempt_marks, run_files
from pairweave.transforms.output.documents.manifest_model import read_manifest
from pairweave.transforms.output.documents.parts import FORMAT
from pairweave.transforms.output.run_files import rejects_name, to_json
from pairweave.transforms.output.write import encode_parquet, rejects_of
from pairweave.transforms.reading.damaged_characters import character_notices, count_characters
from pairweave.transforms.rejects import Stage
from pairweave.transforms.screen import reason_of, screen
from pairweave.transforms.shards.merge import mark_rejected, merge_rows, pairs_of
from pairweave.transforms.shards.sample import sample_rows, sample_share
from pairweave.transforms.storage import files
from pairweave.transforms.text.tokens import add_tokens

if TYPE_CHECKING:
    from pairweave.models.finetune.finetune import Finetuned, Progress

TRAINING = "_training.json"
_SAY_SECONDS = 10.0


def train_and_commit(run: Planned[FinetuneOptions]) -> None:
    """Train the encoder, unless an earlier launch has finished it, and commit it."""
    output = _claim(run)
    if _is_finished(output, run.digest):
        return
    started = time.time()
    with attempt_marks.launched(output):
        finetune(run, config_of(run.options), output, run.options.fit_pairs)
        note_run(run, output, started, attempts=1, reused=0)
    files.delete_empty(files.join(output, run_files.RECEIPTS))  # the directory contained only marks


def config_of(options: FinetuneOptions) -> FinetuneConfig:
    """Return the training's settings.

    Raises:
        ConfigError: An objective is named twice.
    """
    objectives = tuple(options.objectives.split(","))
    return pick(FinetuneConfig, options, objectives=objectives)


def finetune(run: Planned, config: FinetuneConfig, output: str, pairs: int) -> None:
    """Read, screen, sample pairs, train, and write model, rejects and manifest.

    Raises:
        ConfigError: The model cannot be trained with these settings, or no pair is left.
        WorkerError: The input changed since the plan was made, or a file cannot be written.
    """
    from pairweave.models.finetune.finetune import train

    assert isinstance(run.model, EncoderReference)
    assert run.tokens is not None
    kept, rejected, passed_over, notices = read_pairs(run, pairs)
    config.require_pairs(kept.num_rows, _left_out(rejected, passed_over))
    table = add_tokens(pairs_of(kept), run.tokens)
    # The trainer writes to a disk.
    aside = tempfile.TemporaryDirectory(prefix="pairweave-") if files.is_uri(output) else None
    with aside or contextlib.nullcontext(output) as directory:
        finetuned = train(
            run.model.config.model,
            table,
            config,
            directory,
            revision=run.model.config.revision,
            progress=_progress(),
        )
        model = [_entry(directory, name) for name in finetuned.files]
        if directory != output:
            _put(directory, output, finetuned.files)
    _, rejected = _reject(kept, rejected, finetuned.rejected)
    _commit(run, output, finetuned, model, rejected, passed_over, notices)


def _put(directory: str, output: str, names: Sequence[str]) -> None:
    """Copy the finished model into a store."""
    for name in names:
        with (
            Path(directory, name).open("rb") as file,
            files.open_write(files.join(output, name)) as copy,
        ):
            shutil.copyfileobj(file, copy)


def read_pairs(run: Planned, pairs: int) -> tuple[pa.Table, pa.Table, int, list[str]]:
    """Read and screen the input, and sample approximately the given number of pairs.

    Returns:
        The kept rows, sorted by id and without duplicates; the rejected ones (both
        `schemas.ROWS`); the number of rows that passed the screen but were not sampled; and
        notices on characters.

    Raises:
        WorkerError: The input is not what was planned.
    """
    share = sample_share(run.plan.rows, pairs)
    parts, passed_over = [], 0
    characters: dict[int, Counter[str]] = {}
    for unit in run.plan.units:
        for batch in list(read_unit(unit, run.limits)):
            characters.setdefault(unit.index, Counter()).update(count_characters(batch))
            screened = screen(batch, run.screen)
            open_rows = screened.column("reason").is_null()
            drawn = [rows for _, rows in sample_rows(screened, share, run.options.seed)]
            passed_over += pa.compute.sum(open_rows, min_count=0).as_py()
            passed_over -= sum(rows.num_rows for rows in drawn)
            parts += drawn
            parts.append(pa.Table.from_batches([screened.filter(pa.compute.invert(open_rows))]))
    kept, rejected = merge_rows(parts)
    notices = character_notices(run.document["units"], characters)  # type: ignore[arg-type]
    return kept, rejected, passed_over, [str(notice) for notice in notices]


def _left_out(rejected: pa.Table, passed_over: int) -> str:
    """Return how many pairs were left out and why, for a message."""
    reasons = Counter(rejected.column("reason").to_pylist())
    parts = [f"{count:,} rejected as {reason}" for reason, count in sorted(reasons.items())]
    if passed_over:
        parts.append(f"{passed_over:,} not drawn, which a higher fit_pairs draws")
    return f"; of the input, {', '.join(parts)}" if parts else ""


def _reject(
    kept: pa.Table, rejected: pa.Table, reasons: dict[int, tuple[str, str]]
) -> tuple[pa.Table, pa.Table]:
    """Move rows that the training left out to the rejects."""
    for reason in sorted({reason for reason, _ in reasons.values()}):
        rows = [row for row, (why, _) in reasons.items() if why == reason]
        details = [reasons[row][1] for row in rows]
        moved = mark_rejected(kept.take(pa.array(rows)), Stage.ALIGN, reason_of(reason), details)
        rejected = pa.concat_tables([rejected, moved])
    stays = np.delete(np.arange(kept.num_rows), list(reasons))
    return kept.take(pa.array(stays)), rejected


def _claim(run: Planned) -> str:
    """Claim the output directory; return its path.

    Raises:
        ConfigError: The directory belongs to another run, or already has a model.
    """
    output = files.absolute(run.options.output)
    if not files.exists(files.join(output, run_files.PLAN)):
        for name in files.list_names(output):
            if name.endswith((".json", ".safetensors", ".txt", ".model")):
                raise ConfigError(
                    f"{output} already has {name}, but no {run_files.PLAN} of this run; give "
                    "another --output or an empty directory"
                )
    claim(output, run.document)
    return output


def _is_finished(output: str, plan: str) -> bool:
    """Tell whether the directory contains this plan's manifest and every file that it lists."""
    path = files.join(output, run_files.MANIFEST)
    if not files.exists(path):
        return False
    manifest = read_manifest(path)
    if manifest.get("plan_sha256") != plan:
        return False
    run_files.check_names(manifest, path)
    return all(
        files.exists(files.join(output, entry["name"])) and _entry(output, entry["name"]) == entry
        for entry in manifest["files"]
    )


def _entry(output: str, name: str) -> dict[str, object]:
    """Describe a file without reading it whole: weights are large."""
    path = files.join(output, name)
    return {"name": name, "bytes": files.size(path), "sha256": files.sha256_of(path)}


def _commit(
    run: Planned,
    output: str,
    finetuned: "Finetuned",
    model: list[dict[str, object]],
    rejected: pa.Table,
    passed_over: int,
    notices: list[str],
) -> None:
    """Write the rejects, the losses and, last, the manifest.

    Raises:
        WorkerError: Pairs do not add up.
    """
    rows = {
        "read": run.plan.rows,
        "trained": finetuned.pairs,
        "rejected": rejected.num_rows,
        "not_drawn": passed_over,
    }
    if rows["read"] != rows["trained"] + rows["rejected"] + rows["not_drawn"]:
        raise WorkerError(f"pairs do not add up: {rows}")
    rejects = rejects_name(0, 1)
    line = str(run.document["signature"])
    rejected = rejects_of(rejected.unify_dictionaries().combine_chunks())
    files.write_bytes(files.join(output, rejects), encode_parquet(rejected, line))
    losses = {
        name: [round(loss, 6) for loss in of_objective]
        for name, of_objective in finetuned.losses.items()
    }
    training = {"pairs": finetuned.pairs, "steps": finetuned.updates, "losses": losses}
    files.write_bytes(files.join(output, TRAINING), to_json(training))
    reasons = Counter(rejected.column("reason").to_pylist())
    others = [_entry(output, name) for name in (rejects, TRAINING)]
    document = {
        **{key: run.document[key] for key in ("job", "version", "signature", "configuration")},
        **{key: run.document[key] for key in ("corpora", "inputs")},
        "notices": [*map(str, run.plan.notices), *notices],
        "format": FORMAT,
        "plan_sha256": run.digest,
        "rows": rows,
        "rejected": dict(reasons),
        "counts": {"steps": finetuned.updates},
        "files": [*model, *others],
    }
    write_manifest(output, document)


def _progress() -> "Progress":
    """Return a callback that logs the progress of the training every few seconds."""
    last_message = time.monotonic()

    def say(done: int, steps: int, losses: dict[str, float]) -> None:
        nonlocal last_message
        now = time.monotonic()
        if done < steps and now - last_message < _SAY_SECONDS:
            return
        last_message = now
        text = ", ".join(f"{name} {loss:.3f}" for name, loss in losses.items())
        LOG.info("step %d of %d: %s", done, steps, text)

    return say


JOB = TrainingJob(
    name="finetune",
    options=FinetuneOptions,
    parts=(ALIGNER, SCREEN),
    check=config_of,
    train=train_and_commit,
)
main = JOB.main
