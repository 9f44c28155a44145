"""Distances of tags from their correct positions in the same text (Zenkel et al. 2021)."""

import bisect
import dataclasses
from collections import Counter
from collections.abc import Sequence

from pairweave.transforms.markup.markup import Marked


@dataclasses.dataclass(frozen=True, slots=True)
class PositionLine:
    """The tags of one line; a line that cannot be compared has none.

    Attributes:
        tags: Tags of the reference.
        correct: Tags at the reference's positions.
        distance: Sum of all distances, in code points.
        comparable: Whether texts without tags are equal, and the tags except for their positions.
    """

    tags: int
    correct: int
    distance: int
    comparable: bool


@dataclasses.dataclass(frozen=True, slots=True)
class PositionScores:
    """The lines that can be compared, and their sums.

    Attributes:
        lines: Every line.
    """

    lines: tuple[PositionLine, ...]

    @property
    def tags(self) -> int:
        """Return the tags of all lines compared."""
        return sum(line.tags for line in self.lines)

    @property
    def correct(self) -> int:
        """Return the number of correctly placed tags."""
        return sum(line.correct for line in self.lines)

    @property
    def distance(self) -> int:
        """Return the sum of distances, in code points."""
        return sum(line.distance for line in self.lines)

    @property
    def incomparable(self) -> int:
        """Return the number of lines left out."""
        return sum(not line.comparable for line in self.lines)

    @property
    def accuracy(self) -> float | None:
        """Return the share of correctly placed tags, in [0, 1]; None without a tag."""
        return self.correct / self.tags if self.tags else None

    @property
    def mean_distance(self) -> float | None:
        """Return the mean distance of a tag, in code points; None without a tag."""
        return self.distance / self.tags if self.tags else None


def score_positions(hypotheses: Sequence[Marked], references: Sequence[Marked]) -> PositionScores:
    """Compare the positions of tags ``[line]`` in equal texts."""
    return PositionScores(
        tuple(
            compare_positions(hypothesis, reference)
            for hypothesis, reference in zip(hypotheses, references, strict=True)
        )
    )


def compare_positions(hypothesis: Marked, reference: Marked) -> PositionLine:
    """Compare the positions of one line's tags.

    Tags are the same if all their characters are. A tag of the reference is correct if the output
    has the same tag at the same position, and each output tag counts once; its distance is that to
    the nearest identical tag of the output.

    >>> from pairweave.transforms.markup.markup import parse_markup
    >>> compare_positions(parse_markup("a <b>cd</b>"), parse_markup("a <b>c</b>d"))
    PositionLine(tags=2, correct=1, distance=1, comparable=True)
    """
    places_by_tag: dict[str, list[int]] = {}
    for tag in hypothesis.tags:
        places_by_tag.setdefault(tag.raw, []).append(tag.offset)
    times = Counter(tag.raw for tag in reference.tags)
    same = times == {raw: len(places) for raw, places in places_by_tag.items()}
    if not same or hypothesis.text != reference.text:
        return PositionLine(0, 0, 0, comparable=False)
    correct = Counter((tag.raw, tag.offset) for tag in hypothesis.tags)
    correct &= Counter((tag.raw, tag.offset) for tag in reference.tags)
    distance = sum(_nearest(places_by_tag[tag.raw], tag.offset) for tag in reference.tags)
    return PositionLine(len(reference.tags), correct.total(), distance, comparable=True)


def _nearest(places: Sequence[int], place: int) -> int:
    """Return the distance to the nearest of several ascending positions."""
    after = bisect.bisect_left(places, place)
    return min(abs(place - near) for near in places[max(0, after - 1) : after + 1])
