"""Test sets, and the refusal of training text that contains segments of a test set."""

from collections.abc import Iterable, Mapping

from pairweave.pipelines.ablation.ablation_config import EvaluationFiles
from pairweave.pipelines.ablation.task_kind import EvaluationSet, Task
from pairweave.transforms.errors import ConfigError


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
