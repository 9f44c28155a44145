"""The task of suggesting a translation for a masked part (Zhu et al., equation 1)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pairweave.models.translation.suggestion_texts import (
    SYMBOLS,
    Example,
    has_symbol,
    model_input,
    model_output,
    source_of,
    words_of,
)
from pairweave.pipelines.ablation.ablation_config import Ablation, DataItem, EvaluationFiles
from pairweave.pipelines.ablation.task_kind import EvaluationSet, Pair, Task, plain
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.metrics.measured import Measured
from pairweave.transforms.metrics.suggestion_sums import measure_suggestions
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.suggestions.masked_lines import read_masked


def _examples_of_run(directory: str) -> Iterator[Example]:
    """Yield the rows of a finished run of ``suggest``.

    Raises:
        ConfigError: The run is of another job.
    """
    run = FinishedRun.open(directory)
    if run.job != "suggest":
        raise ConfigError(
            f"{directory}: a run of {run.job} has no suggestions to train on; give one of suggest"
        )
    for table in run.tables():
        sides = (table.column(name).to_pylist() for name in ("source", "masked", "suggestion"))
        yield from zip(*sides, strict=True)


def _read_pairs(item: DataItem, directory: str | None, left_out: Counter[str]) -> list[list[Pair]]:
    """Return the pairs of a run or of files; examples that have a symbol are left out."""
    if directory is not None:
        examples: Iterable[Example] = _examples_of_run(directory)
    else:
        assert item.source is not None
        assert item.masked is not None
        assert item.target is not None
        lines = read_masked(item.source, item.masked, [item.target])
        examples = ((source, masked, target) for source, masked, (target,) in lines)
    pairs = []
    reason = f"whose text has one of {' '.join(SYMBOLS)}"
    for source, masked, suggestion in examples:
        if has_symbol((source, masked, suggestion)):
            left_out[reason] += 1
        else:
            text = model_input(source, masked)
            pairs.append((text, model_output(suggestion)))
    return [pairs]


def _read_test(name: str, given: EvaluationFiles, field: str) -> EvaluationSet:
    """Read a test set, which may have several suggestions for a mask."""
    assert given.masked is not None
    inputs, golds = [], []
    lines = read_masked(given.source, given.masked, given.target)
    for number, (source, masked, suggestions) in enumerate(lines, 1):
        if any(has_symbol((source, masked, text)) for text in suggestions):
            raise ConfigError(
                f"{field}: {given.source} line {number}: one of {' '.join(SYMBOLS)} is in its "
                "text, where it means nothing; leave the line out of all files"
            )
        inputs.append(model_input(source, masked))
        # As in `evaluate suggestions`: if another file has a suggestion, a blank line means none.
        filled = [text for text in suggestions if text.strip()]
        golds.append([text if text.strip() or not filled else None for text in suggestions])
        if not suggestions[0].strip() and filled:
            raise ConfigError(
                f"{field}: {given.target[0]} line {number}: is empty, but another file has a "
                "suggestion; put the file that has one for each line first"
            )
    first, *others = zip(*golds, strict=True) if golds else [()]
    written = tuple(model_output(text) for text in first)
    more = tuple(
        tuple(None if text is None else model_output(text) for text in texts) for texts in others
    )
    return EvaluationSet(name, tuple(inputs), written, more)


def _measure(
    ablation: Ablation, test: EvaluationSet, outputs: Sequence[str]
) -> dict[str, Measured]:
    """Measure suggestions against all suggestions made by people."""
    golds = [test.references, *test.others]
    return measure_suggestions(outputs, golds, ablation.used_metrics, ablation.target_lang)


SUGGESTION = Task(
    symbols=SYMBOLS,
    sentence=lambda text: plain(source_of(text)),
    words=words_of,
    read_pairs=_read_pairs,
    read_test=_read_test,
    measure=_measure,
)
