"""Test sets, and the refusal of those that a model would have seen."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from pairweave.pipelines.ablation import suggestion_data
from pairweave.pipelines.ablation.ablation_config import EvaluationFiles
from pairweave.pipelines.ablation.arm_data import Pair, beyond_symbols, sentence
from pairweave.pipelines.ablation.tasks import TaskName
from pairweave.transforms.errors import ConfigError
from pairweave.transforms.indexed_tag import INDICES
from pairweave.transforms.markup.markup import find_syntax
from pairweave.transforms.storage.text_lines import read_in_step
from pairweave.transforms.symbols.tag_coding import Coding


@dataclasses.dataclass(frozen=True)
class EvaluationSet:
    """A test set.

    Attributes:
        name: Its name.
        sources: What a model reads: sources with indexed tags, or inputs without a hint
            (`suggestion_data`) ``[segment]``.
        references: Translations by people, with the same tags; or suggestions by people.
        others: Further suggestions by people ``[reference][segment]``; None where there is none.
    """

    name: str
    sources: tuple[str, ...]
    references: tuple[str, ...]
    others: tuple[tuple[str | None, ...], ...] = ()


def read_test(name: str, given: EvaluationFiles, field: str, task: TaskName) -> EvaluationSet:
    """Read a test set, and write tags or suggestions as models have them.

    Args:
        name: Its name.
        given: Its files.
        field: What the configuration calls it, for messages.
        task: What models learn.

    Raises:
        ConfigError: It is empty, a segment has more tags than there are symbols, or a text has
            symbols of suggestions.
        InputError: A file cannot be read, or a translation does not have one mask.
    """
    made = _suggestions if task == "suggestion" else _translations
    found = made(name, given, field)
    if not found.sources:
        raise ConfigError(f"{field}: {given.source}: has no segment")
    return found


def _translations(name: str, given: EvaluationFiles, field: str) -> EvaluationSet:
    coding = Coding(syntax=find_syntax(given.syntax or "xml"))
    sources, references = [], []
    for number, lines in enumerate(read_in_step(given.source, given.target[0]), 1):
        one, other = (line.text for line in lines)
        if given.syntax is not None:
            one, other, *_ = coding.encode_pair(one, other)
        if beyond_symbols(one) or beyond_symbols(other):
            raise ConfigError(
                f"{field}: {given.source} line {number}: has more than {INDICES} tags, for which "
                "there are no symbols; leave the segment out"
            )
        sources.append(one)
        references.append(other)
    return EvaluationSet(name, tuple(sources), tuple(references))


def _suggestions(name: str, given: EvaluationFiles, field: str) -> EvaluationSet:
    assert given.masked is not None
    inputs, golds = [], []
    lines = suggestion_data.read_examples(given.source, given.masked, given.target)
    for number, (source, masked, suggestions) in enumerate(lines, 1):
        if any(suggestion_data.has_symbol((source, masked, text)) for text in suggestions):
            raise ConfigError(
                f"{field}: {given.source} line {number}: one of "
                f"{' '.join(suggestion_data.SYMBOLS)} is in its text, where it means nothing; "
                "leave the line out of all files"
            )
        inputs.append(suggestion_data.model_input(source, masked))
        # As in `evaluate suggestions`: blank beside a filled one means that there is none.
        filled = [text for text in suggestions if text.strip()]
        golds.append([text if text.strip() or not filled else None for text in suggestions])
        if not suggestions[0].strip() and filled:
            raise ConfigError(
                f"{field}: {given.target[0]} line {number}: is empty, but another file has a "
                "suggestion; put the file that has one for each line first"
            )
    first, *others = zip(*golds, strict=True) if golds else [()]
    written = tuple(suggestion_data.model_output(text) for text in first)
    more = tuple(
        tuple(None if text is None else suggestion_data.model_output(text) for text in texts)
        for texts in others
    )
    return EvaluationSet(name, tuple(inputs), written, more)


def known_sources(tests: Iterable[EvaluationSet], task: TaskName) -> dict[str, str]:
    """Return the test set that each source belongs to, by its sentence (`arm_data.sentence`)."""
    return {sentence(text, task): test.name for test in tests for text in test.sources}


def without_tests(pairs: Sequence[Pair], known: Mapping[str, str], task: TaskName) -> list[Pair]:
    """Return the pairs whose source is not one of a test set."""
    return [pair for pair in pairs if sentence(pair[0], task) not in known]


def refuse_seen(
    sentences: Iterable[str], known: Mapping[str, str], where: str, remedy: str
) -> None:
    """Refuse text that has segments of a test set.

    Args:
        sentences: The source sentences (`arm_data.sentence`).
        known: The test set of each source (`known_sources`).
        where: What the text is for, for the message.
        remedy: What to do about it.

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
