"""The task of translating, with all tags as indexed symbols (``<a_0>``)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.pipelines.ablation.ablation_config import (
    NO_KINDS,
    Ablation,
    DataItem,
    EvaluationFiles,
)
from pairweave.pipelines.ablation.task_kind import EvaluationSet, Pair, Task, plain
from pairweave.pipelines.streaming.row_stream import open_rows
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.indexed_tag import INDICES
from pairweave.transforms.markup.markup import INDEXED, find_syntax, parse_markup, strip_markup
from pairweave.transforms.metrics.measured import Measured
from pairweave.transforms.metrics.tags.translation_metrics import CONFIG, measure
from pairweave.transforms.metrics.tags.xml_metrics import find_structure
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.storage.byte_streams import without_compression
from pairweave.transforms.storage.text_lines import Line, read_in_step, read_lines
from pairweave.transforms.symbols.representations import symbols
from pairweave.transforms.symbols.tag_coding import Coding

_ROW_JOBS = ("augment", "filter", "bitext")


def _read_pairs(item: DataItem, directory: str | None, left_out: Counter[str]) -> list[list[Pair]]:
    """Return the pairs of each pass, from a run, a stream, an export or two files."""
    if directory is not None and item.stream is not None:
        return _streamed(directory, item.stream.epochs, item.stream.options)
    if directory is not None:
        return [list(_rows_of_run(directory, item.kinds))]
    if item.pairs is not None:
        return [_encoded(_read_export(item.pairs), item, left_out)]
    assert item.source is not None
    assert item.target is not None
    lines = read_in_step(item.source, item.target)
    return [_encoded([(one.text, other.text) for one, other in lines], item, left_out)]


def _read_test(name: str, given: EvaluationFiles, field: str) -> EvaluationSet:
    """Read a test set, and write its tags as symbols."""
    coding = Coding(syntax=find_syntax(given.syntax or "xml"))
    sources, references = [], []
    for number, lines in enumerate(read_in_step(given.source, given.target[0]), 1):
        one, other = (line.text for line in lines)
        if given.syntax is not None:
            one, other, *_ = coding.encode_pair(one, other)
        if _beyond_symbols(one) or _beyond_symbols(other):
            raise ConfigError(
                f"{field}: {given.source} line {number}: has more than {INDICES} tags, for "
                "which there are no symbols; leave the segment out"
            )
        if find_structure(other.strip(), CONFIG.rule) is None:  # reported before any training
            raise ConfigError(
                f"{field}: {given.target[0]} line {number}: its tags are broken, so no translation "
                f"can be measured against it: {lines[1].text[:80]!r}; mend the line or leave it out"
            )
        sources.append(one)
        references.append(other)
    return EvaluationSet(name, tuple(sources), tuple(references))


def _measure(
    ablation: Ablation, test: EvaluationSet, outputs: Sequence[str]
) -> dict[str, Measured]:
    """Measure translations and their tags."""
    return measure(outputs, test.references, test.sources, ablation.used_metrics, test.name)


def _encoded(pairs: Sequence[Pair], item: DataItem, left_out: Counter[str]) -> list[Pair]:
    """Return pairs with their tags as symbols, or without tags."""
    if item.syntax is None:
        return list(pairs)
    syntax = find_syntax(item.syntax)
    if item.tags == "strip":
        return [(strip_markup(one, syntax), strip_markup(other, syntax)) for one, other in pairs]
    coding, made = Coding(syntax=syntax), []
    for source, target in pairs:
        one, other, *_ = coding.encode_pair(source, target)
        if _beyond_symbols(one) or _beyond_symbols(other):
            reason = f"with more than {INDICES} tags"
            left_out[reason] += 1
        else:
            made.append((one, other))
    return made


def _beyond_symbols(text: str) -> bool:
    """Tell whether a text has a tag whose number has no symbol."""
    return any(int(tag.key) >= INDICES for tag in parse_markup(text, INDEXED).tags)


def _read_export(path: str) -> list[Pair]:
    """Read an export as JSONL, or as TSV with a header."""
    name = without_compression(path)
    lines = read_lines(path)
    if name.endswith(".jsonl"):
        rows: list[Mapping[str, Any]] = []
        for number, line in enumerate(lines, 1):
            try:
                rows.append(orjson.loads(line.text))
            except orjson.JSONDecodeError as error:
                raise ConfigError(f"{path} line {number}: not JSON ({error})") from error
    elif name.endswith(".tsv"):
        header = next(lines, Line("")).text.split("\t")
        rows = [dict(zip(header, line.text.split("\t"), strict=False)) for line in lines]
    else:
        raise ConfigError(f"{path}: give an export named *.jsonl or *.tsv, perhaps compressed")
    pairs = []
    for number, row in enumerate(rows, 1):
        sides = [row.get(side) if isinstance(row, dict) else None for side in ("source", "target")]
        if not all(isinstance(side, str) for side in sides):
            raise ConfigError(f"{path}: row {number} has no text for source and target")
        pairs.append((str(sides[0]), str(sides[1])))
    return pairs


def _rows_of_run(directory: str, kinds: Sequence[str]) -> Iterator[Pair]:
    """Yield the rows of a finished run; of augment, only rows of the chosen kinds."""
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
        if len(kinds) < 2 and "kind" not in table.column_names:
            raise ConfigError(f"{directory}: a run of {run.job}: {NO_KINDS}")
        if "kind" in table.column_names:
            rows = table.filter(pc.is_in(table.column("kind"), pa.array(kinds, pa.string())))
        yield from zip(
            rows.column("source").to_pylist(), rows.column("target").to_pylist(), strict=True
        )


def _check_representation(run: FinishedRun) -> None:
    representation = run.settings.get("representation", "indexed")
    if representation != "indexed":
        raise ConfigError(
            f"{run.directory}: its tags have the representation {representation}; ablate compares "
            "indexed tags, so run augment with --representation indexed"
        )
    if run.settings.get("whitespace_shift"):
        raise ConfigError(
            f"{run.directory}: its white space is shifted, but that of the test sets is not; run "
            "augment without --whitespace_shift, and give the arm whitespace_shift: true"
        )


def _streamed(directory: str, epochs: int, options: Mapping[str, Any]) -> list[list[Pair]]:
    """Return the rows of each epoch of a stream."""
    rows = open_rows([directory], {**options, "epochs": epochs})
    passes: list[list[Pair]] = [[] for _ in range(epochs)]
    for table in rows.batches():
        both = (table.column(side).to_pylist() for side in ("source", "target"))
        passes[rows.state_dict()["epoch"]] += zip(*both, strict=True)
    return passes


TRANSLATION = Task(
    symbols=symbols("indexed", INDICES),
    sentence=plain,
    words=plain,
    read_pairs=_read_pairs,
    read_test=_read_test,
    measure=_measure,
)
