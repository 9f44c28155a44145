"""Test sets, and the refusal of those that a model would have seen."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from pairweave.pipelines.ablation.ablation_config import EvaluationFiles
from pairweave.pipelines.ablation.arm_data import Pair, beyond_symbols, plain
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
        sources: Sources with indexed tags ``[segment]``.
        references: Translations by people, with the same tags.
    """

    name: str
    sources: tuple[str, ...]
    references: tuple[str, ...]


def read_test(name: str, given: EvaluationFiles, field: str) -> EvaluationSet:
    """Read a test set and write its tags as symbols.

    Args:
        name: Its name.
        given: Its files.
        field: What the configuration calls it, for messages.

    Raises:
        ConfigError: It is empty, or a segment has more tags than there are symbols.
        InputError: A file cannot be read.
    """
    coding = Coding(syntax=find_syntax(given.syntax or "xml"))
    sources, references = [], []
    for number, lines in enumerate(read_in_step(given.source, given.target), 1):
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
    if not sources:
        raise ConfigError(f"{field}: {given.source}: has no segment")
    return EvaluationSet(name, tuple(sources), tuple(references))


def known_sources(tests: Iterable[EvaluationSet]) -> dict[str, str]:
    """Return the test set that each source belongs to, by its text without tags."""
    return {plain(source): test.name for test in tests for source in test.sources}


def without_tests(pairs: Sequence[Pair], known: Mapping[str, str]) -> list[Pair]:
    """Return the pairs whose source is not one of a test set."""
    return [pair for pair in pairs if plain(pair[0]) not in known]


def refuse_seen(sources: Iterable[str], known: Mapping[str, str], where: str, remedy: str) -> None:
    """Refuse text that has segments of a test set.

    Args:
        sources: The sources.
        known: The test set of each source (`known_sources`).
        where: What the text is for, for the message.
        remedy: What to do about it.

    Raises:
        ConfigError: There are such segments; names the test set and their number.
    """
    seen: dict[str, set[str]] = {}
    for source in sources:
        text = plain(source)
        if text in known:
            seen.setdefault(known[text], set()).add(text)
    if seen:
        name, texts = max(seen.items(), key=lambda item: (len(item[1]), item[0]))
        raise ConfigError(
            f"tests.{name}: {len(texts)} of its segments are in {where}, the first "
            f"{min(texts)[:60]!r}; {remedy}"
        )
