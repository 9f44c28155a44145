"""Print the plan before a run."""

import shutil
from collections.abc import Callable, Sequence
from typing import Any

import apache_beam as beam
import yaml

from pairweave.pipelines.process import terminal
from pairweave.pipelines.run.execute import check_start
from pairweave.pipelines.run.run import GraphT, Planned, Run
from pairweave.transforms.commit.claim import check_claim, check_unclaimed
from pairweave.transforms.counted import counted
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output import run_files
from pairweave.transforms.storage import files

MAX_LINES = 40
"""Maximum number of files or units to list; the others are only counted."""


def show(run: Planned, labels: Sequence[str], extra: Sequence[str]) -> int:
    """Print the plan of a run: inputs, units, shards, configuration, graph, refusals.

    Args:
        run: The planned job.
        labels: The steps of its graph (`labels_of`).
        extra: Beam options of the user.

    Returns:
        0 if the run could start, 2 if it would be refused.
    """
    refusals = _refusals(run, extra)
    lines = [f"job {run.job}, plan {run.digest}", "", "inputs"]
    lines += _some([f"  {_input(entry)}" for entry in run.document["inputs"]])  # type: ignore[attr-defined]
    lines += ["", f"units {len(run.plan.units)}"]
    lines += _some(
        [
            f"  {unit.index}: {unit.file} from line {unit.first_line}, {counted(unit.rows, 'row')}"
            for unit in run.plan.units
        ]
    )
    lines += ["", f"rows {run.plan.rows:,}, shards {run.shards}", "", "configuration"]
    text = yaml.safe_dump(run.document["configuration"], sort_keys=True, allow_unicode=True)
    lines += [f"  {line}" for line in text.splitlines()]
    lines += ["", "graph"]
    lines += [f"  {label}" for label in labels]
    lines += ["", "notices"] + ([f"  {notice}" for notice in run.plan.notices] or ["  none"])
    lines += ["", "refusals"] + ([f"  {refusal}" for refusal in refusals] or ["  none"])
    terminal.say("\n".join(lines))
    return 2 if refusals else 0


def _some(lines: list[str]) -> list[str]:
    if len(lines) <= MAX_LINES:
        return lines
    return [*lines[:MAX_LINES], f"  … and {len(lines) - MAX_LINES:,} more"]


def _input(entry: dict[str, Any]) -> str:
    size = f"{counted(entry['rows'], 'row')}, {counted(entry['bytes'], 'byte')}"
    return f"{entry['name']}: {size}, {entry['sha256']}"


def _refusals(run: Planned, extra: Sequence[str]) -> list[str]:
    """Return the reasons for which the run would not start."""
    refusals = []
    path = files.join(files.absolute(run.options.output), run_files.PLAN)
    check = check_claim if files.exists(path) else check_unclaimed
    try:
        check(run.options.output, run.document)
    except ConfigError as error:
        refusals.append(str(error))
    try:
        check_start(run, extra)
    except ConfigError as error:
        refusals.append(str(error))
    return refusals


class _Labels(beam.pipeline.PipelineVisitor):
    """Collects the labels of a graph's steps, two levels deep, in order."""

    def __init__(self) -> None:
        self.labels: list[str] = []

    def visit_transform(self, node: beam.pipeline.AppliedPTransform) -> None:
        label = node.full_label
        if label and label.count("/") <= 1 and label not in self.labels:
            self.labels.append(label)

    def enter_composite_transform(self, node: beam.pipeline.AppliedPTransform) -> None:
        self.visit_transform(node)


def labels_of(
    run: Run[GraphT], graph: Callable[[beam.Pipeline, Run[GraphT], frozenset[int]], None]
) -> list[str]:
    """Return the labels of the steps that a job adds to a pipeline, indented by their depth."""
    pipeline = beam.Pipeline()
    shutil.rmtree(pipeline.local_tempdir)  # Beam deletes the directory at the end of a run
    graph(pipeline, run, frozenset(range(run.shards)))
    visitor = _Labels()
    pipeline.visit(visitor)
    return ["  " * label.count("/") + label.rpartition("/")[2] for label in visitor.labels]
