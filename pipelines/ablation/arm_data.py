"""The training pairs of an arm.

Pairs of translations have all tags as indexed symbols (``<a_0>``); for those of suggestions, see
`suggestion_data`.
"""

import dataclasses
import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from pairweave.pipelines.ablation import suggestion_data
from pairweave.pipelines.ablation.ablation_config import Ablation, Arm, DataItem
from pairweave.pipelines.ablation.tasks import TaskName
from pairweave.pipelines.command_line import flags
from pairweave.pipelines.command_line.command_table import COMMANDS, options_of
from pairweave.pipelines.streaming.row_stream import stream
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.indexed_tag import INDICES
from pairweave.transforms.markup.markup import INDEXED, find_syntax, parse_markup, strip_markup
from pairweave.transforms.output import run_files
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.storage import files
from pairweave.transforms.storage.text_lines import read_in_step, read_lines
from pairweave.transforms.symbols.tag_coding import Coding

Pair = tuple[str, str]

_ROW_JOBS = ("augment", "filter", "bitext")
_SET_HERE = ("output", "plan_only", "config")


@dataclasses.dataclass
class ArmPairs:
    """The pairs of an arm in a stage.

    Attributes:
        passes: The pairs of each pass; those of all passes are the same without a stream.
        left_out: Pairs that were left out, by reason.
    """

    passes: list[list[Pair]]
    left_out: dict[str, int]


def read_stage(field: str, data: Sequence[DataItem], ablation: Ablation, runs: str) -> ArmPairs:
    """Return the pairs of a stage; jobs that make them are run first, unless they have finished.

    Args:
        field: Its field in the configuration, such as ``arms.plain``.
        data: The parts.
        ablation: The task and the languages.
        runs: The directory for the runs of jobs. Equal jobs of several arms are one run.

    Raises:
        ConfigError: A part cannot be read; names the arm and the part.
    """
    left_out: dict[str, int] = {}
    parts = []
    for number, item in enumerate(data):
        place = f"{field}.data[{number}]"
        try:
            parts.append(_passes(item, ablation, runs, left_out))
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
    """Return the passes and updates of each stage; None for an arm with one stage."""
    if not arm.then:
        return None
    steps = arm.steps(ablation.model.steps)
    return [
        {"passes": len(stage.passes), "steps": updates}
        for stage, updates in zip(stages, steps, strict=True)
    ]


def passes_of_stages(about: dict[str, Any]) -> list[int]:
    """Return the number of passes of each stage of an arm, by its `about.json`."""
    stages = about.get("stages")
    return [len(about["passes"])] if stages is None else [stage["passes"] for stage in stages]


def first_pairs(about: dict[str, Any]) -> list[int]:
    """Return the number of pairs in the first pass of each stage of an arm, by its `about.json`."""
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


def plain(text: str) -> str:
    """Return a text without tags, with single blanks, by which sentences are compared."""
    return " ".join(strip_markup(text, INDEXED).split())


def sentence(text: str, task: TaskName) -> str:
    """Return the source sentence of what a model reads, by which sentences are compared."""
    return plain(suggestion_data.source_of(text) if task == "suggestion" else text)


def vocabulary_text(text: str, task: TaskName) -> str:
    """Return the words of one side of a pair, without symbols."""
    return suggestion_data.words_of(text) if task == "suggestion" else plain(text)


def _passes(
    item: DataItem, ablation: Ablation, runs: str, left_out: dict[str, int]
) -> list[list[Pair]]:
    directory = item.run
    if item.job is not None:
        directory = _made(item, ablation, runs)
    if ablation.task == "suggestion":
        found = [_suggestions(directory, item, left_out)]
    elif directory is not None and item.stream is not None:
        found = list(_streamed(directory, item))
    elif directory is not None:
        found = [list(_of_run(directory, item.kinds))]
    elif item.pairs is not None:
        found = [_encoded(_of_export(item.pairs), item, left_out)]
    else:
        assert item.source is not None
        assert item.target is not None
        lines = read_in_step(item.source, item.target)
        found = [_encoded([(one.text, other.text) for one, other in lines], item, left_out)]
    return [_chosen(pairs, item) * item.times for pairs in found]


def _suggestions(directory: str | None, item: DataItem, left_out: dict[str, int]) -> list[Pair]:
    """Return the pairs of a run or of files; examples that have a symbol are left out."""
    if directory is not None:
        examples: Iterable[suggestion_data.Example] = suggestion_data.examples_of_run(directory)
    else:
        assert item.source is not None
        assert item.masked is not None
        assert item.target is not None
        lines = suggestion_data.read_examples(item.source, item.masked, [item.target])
        examples = ((source, masked, target) for source, masked, (target,) in lines)
    made = []
    for source, masked, suggestion in examples:
        if suggestion_data.has_symbol((source, masked, suggestion)):
            left_out[_WITH_SYMBOL] = left_out.get(_WITH_SYMBOL, 0) + 1
        else:
            text = suggestion_data.model_input(source, masked)
            made.append((text, suggestion_data.model_output(suggestion)))
    return made


_WITH_SYMBOL = f"whose text has one of {' '.join(suggestion_data.SYMBOLS)}"


def _encoded(pairs: Sequence[Pair], item: DataItem, left_out: dict[str, int]) -> list[Pair]:
    """Return pairs with their tags as symbols, or without tags."""
    if item.syntax is None:
        return list(pairs)
    syntax = find_syntax(item.syntax)
    if item.tags == "strip":
        return [(strip_markup(one, syntax), strip_markup(other, syntax)) for one, other in pairs]
    coding, made = Coding(syntax=syntax), []
    for source, target in pairs:
        one, other, *_ = coding.encode_pair(source, target)
        if beyond_symbols(one) or beyond_symbols(other):
            reason = f"with more than {INDICES} tags"
            left_out[reason] = left_out.get(reason, 0) + 1
        else:
            made.append((one, other))
    return made


def beyond_symbols(text: str) -> bool:
    """Tell whether a text has a tag with a number for which there is no symbol."""
    return any(int(tag.key) >= INDICES for tag in parse_markup(text, INDEXED).tags)


def _chosen(pairs: list[Pair], item: DataItem) -> list[Pair]:
    """Return the rows of the pairs that are taken, by a hash of their text without tags.

    All arms that have the same pairs, with other tags, so take the same ones.
    """
    if item.take is None:
        return pairs
    keys = [xxhash.xxh3_128_intdigest("\x1f".join(map(plain, pair)).encode()) for pair in pairs]
    distinct = sorted(set(keys))
    if len(distinct) <= item.take:
        return pairs
    last = distinct[item.take - 1]
    return [pair for pair, key in zip(pairs, keys, strict=True) if key <= last]


def _of_export(path: str) -> list[Pair]:
    """Read an export as JSONL, or as TSV with a header."""
    name = path.removesuffix(".gz").removesuffix(".zst")
    lines = read_lines(path)
    if name.endswith(".jsonl"):
        rows: list[Mapping[str, Any]] = []
        for number, line in enumerate(lines, 1):
            try:
                rows.append(orjson.loads(line.text))
            except orjson.JSONDecodeError as error:
                raise ConfigError(f"{path} line {number}: not JSON ({error})") from error
    elif name.endswith(".tsv"):
        header = next(lines).text.split("\t")
        rows = [dict(zip(header, line.text.split("\t"), strict=False)) for line in lines]
    else:
        raise ConfigError(f"{path}: give an export with the ending .jsonl or .tsv, or .gz of it")
    pairs = []
    for number, row in enumerate(rows, 1):
        sides = [row.get(side) if isinstance(row, dict) else None for side in ("source", "target")]
        if not all(isinstance(side, str) for side in sides):
            raise ConfigError(f"{path}: row {number} has no text for source and target")
        pairs.append((str(sides[0]), str(sides[1])))
    return pairs


def _of_run(directory: str, kinds: Sequence[str]) -> Iterator[Pair]:
    """Yield the rows of a finished run; those of augment are chosen by their kind."""
    run = FinishedRun.open(directory)
    if run.job not in _ROW_JOBS:
        raise ConfigError(
            f"{directory}: a run of {run.job} has no rows to train a translation model on; give "
            f"one of {' or '.join(_ROW_JOBS)}, or stream of a run of align"
        )
    _check_representation(run)
    for table in run.tables():
        rows = table
        if "keep" in table.column_names:  # of filter --annotate_only
            rows = table.filter(pc.equal(table.column("keep"), pa.scalar(True)))  # noqa: FBT003
        if "kind" in table.column_names:
            rows = table.filter(pc.is_in(table.column("kind"), pa.array(kinds, pa.string())))
        yield from zip(
            rows.column("source").to_pylist(), rows.column("target").to_pylist(), strict=True
        )


def _check_representation(run: FinishedRun) -> None:
    found = run.settings.get("representation", "indexed")
    if found != "indexed":
        raise ConfigError(
            f"{run.directory}: its tags have the representation {found}; ablate compares indexed "
            "tags, so run augment with --representation indexed"
        )
    if run.settings.get("whitespace_shift"):
        raise ConfigError(
            f"{run.directory}: its white space is shifted, but that of the test sets is not; run "
            "augment without --whitespace_shift"
        )


def _streamed(directory: str, item: DataItem) -> Iterator[list[Pair]]:
    """Yield the rows of each epoch of a stream."""
    assert item.stream is not None
    epochs = item.stream.epochs
    rows = stream([directory], **{**item.stream.options, "epochs": epochs})
    found: list[list[Pair]] = [[] for _ in range(epochs)]
    for table in rows.batches():
        epoch = rows.state_dict()["epoch"]
        both = (table.column(side).to_pylist() for side in ("source", "target"))
        found[epoch] += zip(*both, strict=True)
    yield from found


def _directory(item: DataItem, ablation: Ablation, runs: str) -> str:
    """Return the directory of a job's run, named after what it is given."""
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
    for key in _SET_HERE:
        if key in item.options:
            raise ConfigError(f"options: {key}: is set by ablate; leave it out")
    model = options_of(item.job)
    assert model is not None
    languages = {"source_lang": ablation.source_lang, "target_lang": ablation.target_lang}
    values = {**languages, **item.options, "output": directory}
    flags.check_keys(values, list(model.model_fields))
    options = flags.validate(model, values, f"pairweave {item.job}")
    job = importlib.import_module(COMMANDS[item.job].module).JOB
    job.check(options)
    status = int(job.start(options, []))
    if status:
        raise ConfigError(f"the job {item.job} ended with status {status}")
    return directory
