"""The task that models learn, for the rest of `ablate`: its texts, its pairs and its metrics."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence

from pairweave.pipelines.ablation.ablation_config import Ablation, DataItem, EvaluationFiles
from pairweave.transforms.markup.markup import INDEXED, strip_markup
from pairweave.transforms.metrics.measured import Measured

Pair = tuple[str, str]
"""The input of a model, and the expected output."""


@dataclasses.dataclass(frozen=True)
class EvaluationSet:
    """A test set.

    Attributes:
        name: Its name.
        sources: The inputs of a model: sources with indexed tags, or inputs without a hint
            (`suggestion_task`) ``[segment]``.
        references: Translations by people, with the same tags; or suggestions by people.
        others: Further suggestions by people ``[reference][segment]``; None where one is missing.
    """

    name: str
    sources: tuple[str, ...]
    references: tuple[str, ...]
    others: tuple[tuple[str | None, ...], ...] = ()


@dataclasses.dataclass(frozen=True)
class Task:
    """A task: translating, or suggesting.

    Attributes:
        symbols: Symbols of the vocabulary.
        sentence: Returns the source sentence of a model's input, to compare texts.
        words: Returns one side of a pair without symbols.
        read_pairs: Returns the pairs of each pass over a part of an arm's data. It takes the part,
            the finished run that has its rows (None for a part in files), and a counter of the
            pairs that are left out, by reason. A part that it cannot read is a `ConfigError`.
        read_test: Returns a test set, with tags or suggestions in the form that models write. It
            takes the set's name, its files, and its field in the configuration. A text with
            forbidden symbols is a `ConfigError`, a file that cannot be read an `InputError`.
        measure: Measures the outputs of a model for a test set ``[segment]``. It takes the
            configuration, the test set and the outputs.
    """

    symbols: Sequence[str]
    sentence: Callable[[str], str]
    words: Callable[[str], str]
    read_pairs: Callable[[DataItem, str | None, Counter[str]], list[list[Pair]]]
    read_test: Callable[[str, EvaluationFiles, str], EvaluationSet]
    measure: Callable[[Ablation, EvaluationSet, Sequence[str]], dict[str, Measured]]


def plain(text: str) -> str:
    """Return a text without tags and with single blanks, to compare sentences."""
    return " ".join(strip_markup(text, INDEXED).split())
