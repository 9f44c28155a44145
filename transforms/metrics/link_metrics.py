"""Word links against gold links: error rate, precision, recall (Och and Ney 2003)."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pairweave.transforms.counted import counted
from pairweave.transforms.errors import InputError
from pairweave.transforms.installed_packages import version_of
from pairweave.transforms.links.pharaoh import PharaohLinks, in_step, read_links
from pairweave.transforms.output.signature_line import signature


@dataclasses.dataclass(frozen=True, slots=True)
class LinkScores:
    """Scores of links against gold links, summed over all pairs.

    A gold link is sure or possible; sure ones are also possible, and one written in both forms is
    sure. A repeated link of a pair counts once.

    Attributes:
        pairs: Lines.
        links: Links of the hypothesis.
        sure: Sure gold links.
        possible: Gold links, including sure ones.
        sure_hits: Links that are sure.
        possible_hits: Links that are possible.
        one_based: Whether the gold counts words from 1; the hypothesis counts from 0.
        gold_has_zero: Whether the gold links a word 0, as nearly every zero-based file does.
    """

    pairs: int
    links: int
    sure: int
    possible: int
    sure_hits: int
    possible_hits: int
    one_based: bool
    gold_has_zero: bool

    @property
    def precision(self) -> float:
        """Return the share of the links that are possible, in [0, 1]; 0 without links."""
        return self.possible_hits / self.links if self.links else 0.0

    @property
    def recall(self) -> float:
        """Return the share of the sure gold links that are in the hypothesis, in [0, 1]."""
        return self.sure_hits / self.sure

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall, in [0, 1]; 0 when both are 0."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def aer(self) -> float:
        """Return the alignment error rate, in [0, 1]."""
        return 1.0 - (self.sure_hits + self.possible_hits) / (self.links + self.sure)

    @property
    def warning(self) -> str | None:
        """Return a warning if a gold file that was read as zero-based seems to be one-based."""
        if self.one_based or self.gold_has_zero:
            return None
        return (
            "the gold has no word 0 on either side, so it seems to count words from 1; if it does, "
            "give --one_based, or every link is compared with its neighbour"
        )

    @property
    def signature(self) -> str:
        """Return the line that names everything that determines the figures."""
        settings = {
            "metrics": ("aer", "precision", "recall", "f1"),
            "average": "micro",
            "precision": "possible",
            "recall": "sure",
            "gold": "one-based" if self.one_based else "zero-based",
        }
        return signature(settings, version_of())

    def as_dict(self) -> dict[str, float | int | str]:
        """Return the figures, unrounded and in [0, 1], the counts and the signature."""
        return {
            "aer": self.aer,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "pairs": self.pairs,
            "links": self.links,
            "sure": self.sure,
            "possible": self.possible,
            "sure_hits": self.sure_hits,
            "possible_hits": self.possible_hits,
            "signature": self.signature,
        }

    def render(self) -> str:
        """Return the figures as text, the signature, and on the last line everything as JSON."""
        return "\n".join(
            [
                f"AER {100 * self.aer:.2f} %  precision {100 * self.precision:.2f} %  "
                f"recall {100 * self.recall:.2f} %  F1 {100 * self.f1:.2f} %",
                f"{counted(self.pairs, 'pair')}, {counted(self.links, 'link')}: "
                f"{self.possible_hits} of {self.possible} possible gold links, "
                f"{self.sure_hits} of {self.sure} sure ones",
                self.signature,
                json.dumps(self.as_dict()),
            ]
        )


def evaluate_links(hypothesis: Path, gold: Path, one_based: bool) -> LinkScores:  # noqa: FBT001
    """Compare a file of links with a file of gold links, line by line.

    Args:
        hypothesis: Links ``i-j``, zero-based.
        gold: Sure links ``i-j`` and possible ones ``ipj``.
        one_based: Whether the gold counts words from 1.

    Raises:
        InputError: A file cannot be read or contains an invalid link; the files have different
            numbers of lines (``line_count_mismatch``); a one-based file has a word 0
            (``zero_in_one_based``); the gold has no sure link (``no_sure_link``).
    """
    pairs = links = sure = possible = sure_hits = possible_hits = 0
    has_zero = False
    streams = [read_links(hypothesis), read_links(gold, possible=True)]
    for links_read, wanted in in_step([hypothesis, gold], streams):
        if one_based:
            _require_one_based(wanted, gold, pairs + 1)
        has_zero = has_zero or bool(_zeros(wanted).any())
        base = int(one_based)
        link_keys = np.unique(_keys(links_read, 0))
        keys = _keys(wanted, base)
        sure_keys = np.unique(keys[~_own(wanted, wanted.possible)])
        possible_keys = np.unique(keys)
        pairs += len(links_read)
        links += len(link_keys)
        sure += len(sure_keys)
        possible += len(possible_keys)
        sure_hits += len(np.intersect1d(link_keys, sure_keys, assume_unique=True))
        possible_hits += len(np.intersect1d(link_keys, possible_keys, assume_unique=True))
    if not sure:
        raise InputError("no_sure_link", str(gold), "has no sure link i-j to measure against")
    return LinkScores(pairs, links, sure, possible, sure_hits, possible_hits, one_based, has_zero)


def _own(links: PharaohLinks, values: np.ndarray) -> np.ndarray:
    """Return the part of an array ``[link]`` that belongs to these lines."""
    return values[links.offsets[0] : links.offsets[-1]]


def _keys(links: PharaohLinks, base: int) -> np.ndarray:
    """Return one number for each link, int64 ``[link]``: its line, source and target word."""
    lines = np.repeat(np.arange(len(links)), np.diff(links.offsets))
    source = _own(links, links.sources).astype(np.int64) - base
    target = _own(links, links.targets).astype(np.int64) - base
    return (lines << 32) | (source << 16) | target


def _zeros(links: PharaohLinks) -> np.ndarray:
    """Flag links with a word 0, bool ``[link]``."""
    return (_own(links, links.sources) == 0) | (_own(links, links.targets) == 0)


def _require_one_based(links: PharaohLinks, path: Path, first_line: int) -> None:
    zeros = np.flatnonzero(_zeros(links))
    if len(zeros):
        link = int(links.offsets[0] + zeros[0])
        line = int(np.searchsorted(links.offsets, link, side="right")) - 1
        raise InputError(
            "zero_in_one_based",
            str(path),
            f"links {links.sources[link]} and {links.targets[link]}, but one-based words start at "
            "1; drop --one_based if the file counts from 0",
            first_line + line,
        )


def check_words(gold: Path, texts: pa.Table, *, one_based: bool) -> None:
    """Refuse a link to a word that its pair does not have; no aligner could find it.

    Raises:
        InputError: There is one (``link_out_of_range``).
    """
    counts = [pc.list_value_length(texts[f"{side}_tokens"]) for side in ("source", "target")]
    sizes = np.stack([count.to_numpy().astype(np.int64) for count in counts], axis=1)
    first = 0
    for links in read_links(gold, possible=True):
        own = slice(links.offsets[0], links.offsets[-1])
        words = np.stack([links.sources[own], links.targets[own]], axis=1)
        lines = first + np.repeat(np.arange(len(links)), np.diff(links.offsets))
        outside = np.flatnonzero((words - int(one_based) >= sizes[lines]).any(axis=1))
        if len(outside):
            line, (source, target) = lines[outside[0]], words[outside[0]]
            advice = "" if one_based else "; if the gold counts words from 1, give --one_based"
            raise InputError(
                "link_out_of_range",
                str(gold),
                f"{source}-{target} is out of range for {sizes[line, 0]} source and "
                f"{sizes[line, 1]} target words{advice}",
                int(line) + 1,
            )
        first += len(links)
