"""The task that models learn, for the rest of `ablate`: its texts, pairs, test sets and metrics."""

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from pairweave.pipelines.ablation.ablation_config import Ablation, DataItem, EvaluationFiles
from pairweave.transforms.errors import ConfigError
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


def read_test(name: str, given: EvaluationFiles, field: str, task: Task) -> EvaluationSet:
    """Read a test set, with tags or suggestions in the form that models write.

    Args:
        name: The name of the set.
        given: The files of the set.
        field: The field of the set in the configuration, for messages.
        task: The task that models learn.

    Raises:
        ConfigError: The set is empty, or a text has forbidden symbols (`Task.read_test`).
        InputError: A file cannot be read.
    """
    test = task.read_test(name, given, field)
    if not test.sources:
        raise ConfigError(f"{field}: {given.source}: has no segment")
    return test


def known_sources(tests: Iterable[EvaluationSet], task: Task) -> dict[str, str]:
    """Return the test set that each source belongs to, by its sentence (`Task.sentence`)."""
    return {task.sentence(text): test.name for test in tests for text in test.sources}


def refuse_seen(
    sentences: Iterable[str], known: Mapping[str, str], where: str, remedy: str
) -> None:
    """Refuse text that contains segments of a test set.

    Args:
        sentences: The source sentences (`Task.sentence`).
        known: The test set of each source (`known_sources`).
        where: The purpose of the text, for the message.
        remedy: Advice for the user, for the message.

    Raises:
        ConfigError: There are such segments; names the test set and their number.
    """
    seen: dict[str, set[str]] = {}
    for text in sentences:
        if text in known:
            seen.setdefault(known[text], set()).add(text)
    if seen:
        name, texts = max(seen.items(), key=lambda item: (len(item[1]), item[0]))
        raise ConfigError(
            f"tests.{name}: {len(texts)} of its segments are in {where}, the first "
            f"{min(texts)[:60]!r}; {remedy}"
        )
