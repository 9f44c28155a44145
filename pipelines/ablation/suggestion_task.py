"""The task of suggesting a translation for a masked part (Zhu et al., equation 1).

The input is the source, a separator, and the masked translation; a hint follows after another
separator. The mask has a blank on each side, as in WeTS, so examples from a run and from a golden
set have the same form. The output is the suggestion, or a symbol for an empty suggestion.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pairweave.pipelines.ablation.ablation_config import Ablation, DataItem, EvaluationFiles
from pairweave.pipelines.ablation.task_kind import EvaluationSet, Pair, Task, plain
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.formats.mt5 import SEPARATOR
from pairweave.transforms.metrics.measured import Measured
from pairweave.transforms.metrics.suggestion_sums import measure_suggestions
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.suggestions.hints import first_letters
from pairweave.transforms.suggestions.masked_lines import read_masked
from pairweave.transforms.symbols.mask import MASK, NOTHING

_SYMBOLS = (SEPARATOR.strip(), MASK, NOTHING)
"""Symbols of the vocabulary."""

_SYMBOL = re.compile("|".join(map(re.escape, _SYMBOLS)))

_Example = tuple[str, str, str]
"""A source, a masked translation, and a suggestion."""


def _model_input(source: str, masked: str) -> str:
    """Return a model's input, without a hint.

    >>> _model_input("white cats", "<MASK_REP>Katzen")
    'white cats <sep> <MASK_REP> Katzen'
    """
    return f"{source}{SEPARATOR}{' '.join(masked.replace(MASK, f' {MASK} ').split())}"


def _model_output(suggestion: str) -> str:
    """Return the output that a model learns to write for a suggestion."""
    return suggestion.strip() or NOTHING


def with_hint(text: str, output: str, letters: int | None) -> str:
    """Return a model's input with the first letters of its output as ``suggest --hint letters``.

    Args:
        text: The input without a hint.
        output: The output; an empty suggestion has no letters.
        letters: Number of letters; None for no hint.

    >>> with_hint("white cats <sep> <MASK_REP> Katzen", "weiße", 2)
    'white cats <sep> <MASK_REP> Katzen <sep> we'
    """
    hint = first_letters(output, letters) if letters and output != NOTHING else None
    return text if hint is None else f"{text}{SEPARATOR}{hint}"


def _source_of(text: str) -> str:
    """Return the source of a model's input.

    >>> _source_of("white cats <sep> <MASK_REP> Katzen <sep> we")
    'white cats'
    """
    return text.partition(SEPARATOR)[0]


def _words_of(text: str) -> str:
    """Return a text without symbols.

    >>> _words_of("white cats <sep> <MASK_REP> Katzen")
    'white cats Katzen'
    """
    return " ".join(_SYMBOL.sub(" ", text).split())


def _has_symbol(example: _Example) -> bool:
    """Tell whether a text has a symbol, apart from the mask and the empty suggestion."""
    source, masked, suggestion = example
    written = "" if suggestion.strip() == NOTHING else suggestion
    return any(map(_SYMBOL.search, (source, masked.replace(MASK, "", 1), written)))


def _examples_of_run(directory: str) -> Iterator[_Example]:
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
        examples: Iterable[_Example] = _examples_of_run(directory)
    else:
        assert item.source is not None
        assert item.masked is not None
        assert item.target is not None
        lines = read_masked(item.source, item.masked, [item.target])
        examples = ((source, masked, target) for source, masked, (target,) in lines)
    pairs = []
    reason = f"whose text has one of {' '.join(_SYMBOLS)}"
    for source, masked, suggestion in examples:
        if _has_symbol((source, masked, suggestion)):
            left_out[reason] += 1
        else:
            text = _model_input(source, masked)
            pairs.append((text, _model_output(suggestion)))
    return [pairs]


def _read_test(name: str, given: EvaluationFiles, field: str) -> EvaluationSet:
    """Read a test set, which may have several suggestions for a mask."""
    assert given.masked is not None
    inputs, golds = [], []
    lines = read_masked(given.source, given.masked, given.target)
    for number, (source, masked, suggestions) in enumerate(lines, 1):
        if any(_has_symbol((source, masked, text)) for text in suggestions):
            raise ConfigError(
                f"{field}: {given.source} line {number}: one of {' '.join(_SYMBOLS)} is in its "
                "text, where it means nothing; leave the line out of all files"
            )
        inputs.append(_model_input(source, masked))
        # As in `evaluate suggestions`: if another file has a suggestion, a blank line means none.
        filled = [text for text in suggestions if text.strip()]
        golds.append([text if text.strip() or not filled else None for text in suggestions])
        if not suggestions[0].strip() and filled:
            raise ConfigError(
                f"{field}: {given.target[0]} line {number}: is empty, but another file has a "
                "suggestion; put the file that has one for each line first"
            )
    first, *others = zip(*golds, strict=True) if golds else [()]
    written = tuple(_model_output(text) for text in first)
    more = tuple(
        tuple(None if text is None else _model_output(text) for text in texts) for texts in others
    )
    return EvaluationSet(name, tuple(inputs), written, more)


def _measure(
    ablation: Ablation, test: EvaluationSet, outputs: Sequence[str]
) -> dict[str, Measured]:
    """Measure suggestions against all suggestions made by people."""
    golds = [test.references, *test.others]
    return measure_suggestions(outputs, golds, ablation.used_metrics, ablation.target_lang)


SUGGESTION = Task(
    symbols=_SYMBOLS,
    sentence=lambda text: plain(_source_of(text)),
    words=_words_of,
    read_pairs=_read_pairs,
    read_test=_read_test,
    measure=_measure,
)
