"""Compares sentence alignments with gold ones: strict and lax precision, recall and F1.

The definitions are those of vecalign's scorer (Thompson and Koehn 2019, after Sennrich and Volk
2011).
"""

import dataclasses
import json
from collections import defaultdict
from collections.abc import Iterable

from pairweave.transforms.counted import counted
from pairweave.transforms.errors import InputError
from pairweave.transforms.installed_packages import version_of
from pairweave.transforms.output.signature_line import signature
from pairweave.transforms.sentences.bead_lines import Bead, read_beads


@dataclasses.dataclass(frozen=True, slots=True)
class SentenceScores:
    """Scores of beads against gold beads, summed over all documents.

    A bead is a strict hit if the gold contains the same bead. It is a lax hit if one of its source
    sentences and one of its target sentences are in one gold bead, or if it is a strict hit.
    Precision is over all beads; recall is over the gold beads with two sides, compared with the
    beads that also have two. So a correctly unaligned sentence counts for strict precision but
    never for recall. A repeated bead of a document counts once; an empty one is ignored.

    Attributes:
        documents: Document pairs.
        beads: Beads of the hypothesis.
        gold: Gold beads with both sides.
        strict_hits: Beads that hit strictly.
        lax_hits: Beads that hit laxly.
        strict_found: Gold beads that are found strictly.
        lax_found: Gold beads that are found laxly.
    """

    documents: int
    beads: int
    gold: int
    strict_hits: int
    lax_hits: int
    strict_found: int
    lax_found: int

    @property
    def signature(self) -> str:
        """Return the line that names everything that determines the figures."""
        settings = {
            "metrics": ("strict", "lax"),
            "average": "micro",
            "precision": "all-beads",
            "recall": "beads-with-both-sides",
        }
        return signature(settings, version_of())

    def as_dict(self) -> dict[str, float | int | str]:
        """Return the figures, unrounded and in [0, 1], the counts and the signature."""
        figures: dict[str, float | int | str] = {}
        counted = {
            "strict": (self.strict_hits, self.strict_found),
            "lax": (self.lax_hits, self.lax_found),
        }
        for name, (hits, gold_hits) in counted.items():
            precision = hits / self.beads if self.beads else 0.0
            recall = gold_hits / self.gold if self.gold else 0.0
            both = precision + recall
            figures[f"{name}_precision"] = precision
            figures[f"{name}_recall"] = recall
            figures[f"{name}_f1"] = 2 * precision * recall / both if both else 0.0
        return {**figures, **dataclasses.asdict(self), "signature": self.signature}

    def render(self) -> str:
        """Return the figures as text, the signature, and on the last line everything as JSON."""
        figures = self.as_dict()
        shown = [
            f"{name:<6}  precision {figures[f'{name}_precision']:.3f}  "
            f"recall {figures[f'{name}_recall']:.3f}  F1 {figures[f'{name}_f1']:.3f}"
            for name in ("strict", "lax")
        ]
        documents, beads = counted(self.documents, "document"), counted(self.beads, "bead")
        counts = f"{documents}, {beads}, {self.gold} to be found"
        return "\n".join([*shown, counts, self.signature, json.dumps(figures)])


def evaluate_sentences(hypothesis: str, gold: str) -> SentenceScores:
    """Compare a file of beads with a file of gold beads, document by document.

    Args:
        hypothesis: Beads; blank lines separate documents.
        gold: Gold beads, for the same number of documents.

    Raises:
        InputError: A file cannot be read or a line is not a bead
            (`transforms.sentences.bead_lines.read_beads`); the files have different numbers of
            documents (``document_count_mismatch``); the gold has no bead with both sides
            (``no_gold_bead``).
    """
    documents, wanted = read_beads(hypothesis), read_beads(gold)
    # A file without beads is one document in which nothing was aligned.
    documents = documents or [[]]
    if len(documents) != len(wanted):
        raise InputError(
            "document_count_mismatch",
            hypothesis,
            f"holds the beads of {len(documents)} documents, but {gold} those of {len(wanted)}; "
            "blank lines separate documents",
        )
    counts = [score_beads(*pair) for pair in zip(documents, wanted, strict=True)]
    scores = SentenceScores(len(wanted), *(sum(column) for column in zip(*counts, strict=True)))
    if not scores.gold:
        raise InputError("no_gold_bead", gold, "has no bead with sentences on both sides")
    return scores


def score_beads(hypothesis: Iterable[Bead], gold: Iterable[Bead]) -> tuple[int, ...]:
    """Return the counts of one document: the fields of `SentenceScores` from ``beads`` on."""
    beads = {bead for bead in hypothesis if bead.source or bead.target}
    wanted = {bead for bead in gold if bead.source or bead.target}
    both = {bead for bead in wanted if bead.source and bead.target}
    strict_hits, lax_hits = _hits(beads, wanted)
    strict_found, lax_found = _hits(both, {bead for bead in beads if bead.source and bead.target})
    return len(beads), len(both), strict_hits, lax_hits, strict_found, lax_found


def _hits(beads: set[Bead], wanted: set[Bead]) -> tuple[int, int]:
    """Return how many beads hit others strictly, and how many hit them laxly."""
    partners: defaultdict[int, set[int]] = defaultdict(set)
    for bead in wanted:
        for sentence in bead.source:
            partners[sentence].update(bead.target)
    strict = beads & wanted
    lax = sum(
        any(not partners[sentence].isdisjoint(bead.target) for sentence in bead.source)
        for bead in beads - strict
    )
    return len(strict), len(strict) + lax
