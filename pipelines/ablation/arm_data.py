"""The training pairs of an arm, in stages and passes."""

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import Any

import orjson
import xxhash

from pairweave.pipelines.ablation.ablation_config import Ablation, Arm, DataItem
from pairweave.pipelines.ablation.task_kind import Pair, plain
from pairweave.pipelines.ablation.tasks import task_of
from pairweave.pipelines.command_line import validation
from pairweave.pipelines.command_line.command_table import job_of, job_options
from pairweave.pipelines.options.base import SET_ELSEWHERE
from pairweave.pipelines.process.log import LOG
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.output import run_files
from pairweave.transforms.storage import files


@dataclasses.dataclass
class ArmPairs:
    """The pairs of an arm in a stage.

    Attributes:
        passes: The pairs of each pass; without a stream, all passes have the same pairs.
        left_out: Pairs that were left out, by reason.
    """

    passes: list[list[Pair]]
    left_out: Counter[str]


def read_stage(field: str, data: Sequence[DataItem], ablation: Ablation, runs: str) -> ArmPairs:
    """Return the pairs of a stage, after running the jobs that make them unless already done.

    Args:
        field: The field of the stage in the configuration, such as ``arms.plain``.
        data: The parts.
        ablation: The task and the languages.
        runs: The directory for the runs of jobs. Equal jobs of several arms are one run.

    Raises:
        ConfigError: A part cannot be read; names the arm and the part.
    """
    left_out: Counter[str] = Counter()
    parts = []
    for number, item in enumerate(data):
        place = f"{field}.data[{number}]"
        try:
            parts.append(_passes(place, item, ablation, runs, left_out))
        except ConfigError as error:
            raise ConfigError(f"{place}: {error}") from error
        if not any(parts[-1]):
            raise ConfigError(f"{place}: {item.label} has no pair to train on")
    count = max(len(part) for part in parts)
    passes = [[pair for part in parts for pair in part[at % len(part)]] for at in range(count)]
    return ArmPairs(passes, left_out)


def stage_facts(
    arm: Arm, ablation: Ablation, stages: Sequence[ArmPairs]
) -> list[dict[str, int]] | None:
    """Return the numbers of passes and updates of each stage; None for an arm with one stage."""
    if not arm.then:
        return None
    steps = arm.steps(ablation.model.steps)
    return [
        {"passes": len(stage.passes), "steps": updates}
        for stage, updates in zip(stages, steps, strict=True)
    ]


def passes_of_stages(about: dict[str, Any]) -> list[int]:
    """Return the number of passes of each stage of an arm, from its `about.json`."""
    stages = about.get("stages")
    return [len(about["passes"])] if stages is None else [stage["passes"] for stage in stages]


def first_pairs(about: dict[str, Any]) -> list[int]:
    """Return the number of pairs in the first pass of each stage, from an arm's `about.json`."""
    counts = passes_of_stages(about)
    return [about["pairs"][sum(counts[:stage])] for stage in range(len(counts))]


def run_directories(arm: Arm, ablation: Ablation, runs: str) -> list[str]:
    """Return the directories of the runs that an arm's pairs come from."""
    return [
        directory
        for _, data in arm.stages()
        for item in data
        if (directory := item.run or (_directory(item, ablation, runs) if item.job else None))
    ]


def _passes(
    place: str, item: DataItem, ablation: Ablation, runs: str, left_out: Counter[str]
) -> list[list[Pair]]:
    directory = item.run if item.job is None else _made(item, ablation, runs)
    passes = task_of(ablation).read_pairs(item, directory, left_out)
    if item.take is not None:
        chosen = [_choose(pairs, item.take) for pairs in passes]
        passes, numbers = [pairs for pairs, _ in chosen], [number for _, number in chosen]
        if numbers[0] < item.take:
            LOG.warning(
                "%s: %s has %s different pairs, fewer than the %s to take; other arms may have "
                "more",
                *(place, item.label, f"{numbers[0]:,}", f"{item.take:,}"),
            )
    return [pairs * item.times for pairs in passes]


def _choose(pairs: list[Pair], most: int) -> tuple[list[Pair], int]:
    """Return the rows of the chosen pairs, and how many different pairs there are to choose from.

    A hash of their text without tags selects them, so arms that have the same pairs with different
    tags choose the same ones.
    """
    keys = [xxhash.xxh3_128_intdigest("\x1f".join(map(plain, pair)).encode()) for pair in pairs]
    distinct = sorted(set(keys))
    if len(distinct) <= most:
        return pairs, len(distinct)
    last = distinct[most - 1]
    return [pair for pair, key in zip(pairs, keys, strict=True) if key <= last], len(distinct)


def _directory(item: DataItem, ablation: Ablation, runs: str) -> str:
    """Return the directory of a job's run, named after a hash of the job and its input."""
    given = orjson.dumps(
        [item.job, item.options, ablation.source_lang, ablation.target_lang],
        option=orjson.OPT_SORT_KEYS,
    )
    return files.join(runs, f"{item.job}-{xxhash.xxh3_64_hexdigest(given)}")


def _made(item: DataItem, ablation: Ablation, runs: str) -> str:
    """Run a job, unless it has finished, and return its directory."""
    assert item.job is not None
    directory = _directory(item, ablation, runs)
    if files.exists(files.join(directory, run_files.MANIFEST)):
        return directory
    for key in SET_ELSEWHERE:
        if key in item.options:
            raise ConfigError(f"options: {key}: is set by ablate; leave it out")
    model = job_options(item.job)
    languages = {"source_lang": ablation.source_lang, "target_lang": ablation.target_lang}
    values = {**languages, **item.options, "output": directory}
    validation.check_keys(values, list(model.model_fields))
    options = validation.validate(model, values, f"pairweave {item.job}")
    job = job_of(item.job)
    job.check(options)
    status = int(job.start(options, []))
    if status:
        raise ConfigError(f"the job {item.job} ended with status {status}")
    return directory
