"""Suggestion examples compared with a golden set: lengths, positions, numbers, operations."""

import dataclasses
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from pairweave.transforms.errors import ConfigError, InputError
from pairweave.transforms.installed_packages import version_of
from pairweave.transforms.kernels.masks.masks import POSITIONS
from pairweave.transforms.output.finished_run import FinishedRun
from pairweave.transforms.output.signature_line import signature
from pairweave.transforms.storage import files
from pairweave.transforms.storage.byte_streams import COMPRESSIONS
from pairweave.transforms.storage.text_lines import read_in_step
from pairweave.transforms.suggestions.span_lengths import jensen_shannon, position_bin
from pairweave.transforms.symbols.mask import MASK, NOTHING
from pairweave.transforms.text.tokens import TokenConfig, token_counts

FACETS = ("words", "position", "masks", "operation")
"""The compared distributions; see `Profile`."""

SIDES = ("src", "mask", "tgt")
DELETE = "delete"
BATCH_LINES = 8_192


@dataclasses.dataclass(frozen=True)
class Profile:
    """Distributions over a set of examples.

    A golden set has no text under its masks, so lengths are those of suggestions, and deletion (an
    empty suggestion) is the only operation that can be distinguished.

    Attributes:
        examples: Number of examples.
        words: Examples with a suggestion, by its length in words.
        position: Examples by the bin (of `POSITIONS`) of the share of words before the mask.
        masks: Sentences by their number of examples.
        operation: Examples by operation.
    """

    examples: int
    words: Mapping[int, int]
    position: Mapping[int, int]
    masks: Mapping[int, int]
    operation: Mapping[str, int]

    def facet(self, name: str) -> dict[int, int]:
        """Return the compared histogram; operations are 1 for deletion, 0 for all others."""
        if name != "operation":
            return dict(getattr(self, name))
        deleted = self.operation.get(DELETE, 0)
        return {0: self.examples - deleted, 1: deleted}

    def as_dict(self) -> dict[str, Any]:
        """Return the counts, sorted."""
        return {
            "examples": self.examples,
            **{
                name: {str(key): count for key, count in sorted(getattr(self, name).items())}
                for name in FACETS
            },
        }


class Counted:
    """Counts examples, batch by batch."""

    def __init__(self) -> None:
        self._examples = 0
        self._words: Counter[int] = Counter()
        self._position: Counter[int] = Counter()
        self._sentences: Counter[str] = Counter()
        self._operation: Counter[str] = Counter()

    def add(
        self,
        sentences: Iterable[str],
        masked: pa.Array,
        suggestions: pa.Array,
        operations: Iterable[str],
        languages: pa.Array,
    ) -> None:
        """Count examples.

        Args:
            sentences: Identifier of the sentence of each example.
            masked: Translations with one mask each.
            suggestions: The text of each mask; empty for a deletion.
            operations: Operation of each.
            languages: BCP 47 tag of each translation.
        """
        parts = [text.partition(MASK) for text in masked.to_pylist()]
        before, after, words = (
            token_counts(texts, TokenConfig(), languages)[0]
            for texts in (
                pa.array([part[0] for part in parts], pa.string()),
                pa.array([part[2] for part in parts], pa.string()),
                suggestions,
            )
        )
        self._examples += len(parts)
        self._words.update(words[words > 0].tolist())
        self._position.update(position_bin(before, after).tolist())
        self._sentences.update(sentences)
        self._operation.update(operations)

    def profile(self) -> Profile:
        """Return the counts as a profile."""
        masks = Counter(self._sentences.values())
        return Profile(self._examples, self._words, self._position, masks, self._operation)


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A set of examples compared with a golden one.

    Attributes:
        made: Profiles of the examples, by method; ``all`` for all together.
        golden: Profile of the golden set.
    """

    made: Mapping[str, Profile]
    golden: Profile

    def distances(self, method: str) -> dict[str, float | None]:
        """Return the Jensen-Shannon distance of each facet, 0 (equal) to 1; None without data."""
        profile = self.made[method]
        return {
            name: jensen_shannon(profile.facet(name), self.golden.facet(name)) for name in FACETS
        }

    @property
    def signature(self) -> str:
        """Return the line that names everything that determines the figures."""
        settings = {
            "distance": "jensen-shannon",
            "log": 2,
            "facets": FACETS,
            "operations": "delete-or-not",
            "positions": POSITIONS,
            "tokens": TokenConfig().kind,
        }
        return signature(settings, version_of())

    def render(self) -> str:
        """Return a table, the signature, and on the last line all as JSON."""
        lines = ["examples " + "".join(f"{name:>10}" for name in FACETS) + "  method"]
        for method, profile in self.made.items():
            distances = self.distances(method)
            shown = "".join(
                f"{'-' if value is None else format(value, '.4f'):>10}"
                for value in distances.values()
            )
            lines.append(f"{profile.examples:>8} {shown}  {method}")
        lines.append(f"{self.golden.examples:>8} {'':>{10 * len(FACETS)}}  golden")
        figures = {
            "distances": {method: self.distances(method) for method in self.made},
            "made": {method: profile.as_dict() for method, profile in self.made.items()},
            "golden": self.golden.as_dict(),
            "signature": self.signature,
        }
        return "\n".join([*lines, self.signature, json.dumps(figures)])


_COLUMNS = ("id", "method", "masked", "suggestion", "operation", "target_lang")


def profile_run(run: FinishedRun) -> dict[str, Profile]:
    """Return the profiles of a finished run's examples, by method and all together.

    Raises:
        ConfigError: The run has no suggestions, or no example.
        WorkerError: A shard is missing or differs from the manifest.
    """
    if run.job != "suggest":
        raise ConfigError(f"{run.directory}: a run of {run.job} has no suggestions")
    counted: dict[str, Counted] = {}
    for batch in run.batches(_COLUMNS):
        for method in sorted(set(batch.column("method").to_pylist())):
            _add(counted, method, batch.filter(pa.compute.equal(batch.column("method"), method)))
        _add(counted, "all", batch)
    if not counted:
        raise ConfigError(f"{run.directory}: the run has no example")
    return {
        name: counted[name].profile() for name in sorted(counted, key=lambda n: (n == "all", n))
    }


def _add(counted: dict[str, Counted], name: str, rows: pa.RecordBatch) -> None:
    counted.setdefault(name, Counted()).add(
        rows.column("id").to_pylist(),
        rows.column("masked"),
        rows.column("suggestion"),
        rows.column("operation").to_pylist(),
        rows.column("target_lang"),
    )


def profile_files(prefix: str, target_lang: str | None) -> Profile:
    """Return the profile of examples in the format of WeTS.

    Args:
        prefix: The common start of the names of ``.src``, ``.mask`` and ``.tgt``; each may end in
            ``.gz`` or ``.zst``. Examples of one source are masks of one sentence.
        target_lang: BCP 47 tag of the translations.

    Raises:
        InputError: A file is missing, cannot be read, has another number of lines
            (``line_count_mismatch``), is empty (``empty``), or a line does not have
            exactly one mask (``mask_count``).
    """
    counted = Counted()
    number = 0
    for lines in _golden_batches(prefix):
        for place, (_, masked, _) in enumerate(lines, number + 1):
            if masked.count(MASK) != 1:
                raise InputError(
                    "mask_count",
                    f"{prefix}.mask",
                    f"expected one {MASK}, found {masked.count(MASK)}",
                    place,
                )
        number += len(lines)
        sources, masked_texts, suggestions = zip(*lines, strict=True)
        empty = [text.strip() in ("", NOTHING) for text in suggestions]
        counted.add(
            sources,
            pa.array(masked_texts, pa.string()),
            pa.array(
                ["" if gone else text for gone, text in zip(empty, suggestions, strict=True)],
                pa.string(),
            ),
            [DELETE if gone else "other" for gone in empty],
            pa.array([target_lang or "und"] * len(lines)),
        )
    if not number:
        raise InputError("empty", prefix, "has no example")
    return counted.profile()


def has_files(prefix: str) -> bool:
    """Tell whether there are examples in the format of WeTS under a prefix."""
    return _path(prefix, SIDES[1]) is not None


def _path(prefix: str, side: str) -> str | None:
    names = (f"{prefix}.{side}{ending}" for ending in ("", *COMPRESSIONS))
    return next((name for name in names if files.exists(name)), None)


def _golden_batches(prefix: str) -> Iterator[list[tuple[str, str, str]]]:
    paths = []
    for side in SIDES:
        path = _path(prefix, side)
        if path is None:
            raise InputError("no_match", f"{prefix}.{side}", "no such file, plain or compressed")
        paths.append(path)
    batch: list[tuple[str, str, str]] = []
    for source, masked, suggestion in read_in_step(*paths):
        batch.append((source.text, masked.text, suggestion.text))
        if len(batch) == BATCH_LINES:
            yield batch
            batch = []
    if batch:
        yield batch
