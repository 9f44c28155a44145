"""Paragraphs first or as weights, on documents cut into paragraphs of all sizes.

The documents of ``sentences/`` are cut after every so many gold beads of two sides, so paragraphs
correspond, and `candide-fr` also has its own, some of whose breaks the translators moved. Models
are fitted on the document alone, on all three novels, or on ``parallel/``: all of it, or one pair
in twenty. Strict F1, in per cent.
"""

import dataclasses
import hashlib
import itertools

import numpy as np
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.sentences.paragraph_order import align_in_order
from pairweave.models.sentences.sentence_aligner import align_by_length, align_by_words
from pairweave.transforms.metrics.sentence_metrics import SentenceScores, score_beads
from pairweave.transforms.sentences.bead_lines import Bead
from tests.benchmarks.bench_bitext import (
    NOVELS,
    align_as_the_job_does,
    beads_of,
    parallel,
    read_documents,
    tokens_of,
)
from tests.makers.hmm_corpora import SHUFFLED

pytestmark = pytest.mark.bench


HASHED = range(20_000)
"""Beads after which a paragraph may end by a hash."""


def hashed(seed, mean):
    """Return sizes of paragraphs of a mean, as uneven as they are if each bead may be the last."""
    digests = (hashlib.sha256(f"{seed}:{bead}".encode()).digest() for bead in HASHED)
    ends = [at for at, one in enumerate(digests) if int.from_bytes(one[:4], "big") % mean == 0]
    return np.diff([-1, *ends]).tolist()


CUTS = {str(size): [size] for size in (1, 2, 5, 10, 25, 60, 120)} | {
    "uneven": [1, 60, 2, 25, 1, 120, 5, 1, 10],
    "uneven, more single": [1, 1, 40, 1, 1, 1, 80, 3],
    **{f"by a hash, {mean} on average": hashed(1, mean) for mean in (3, 12, 40, 90)},
}

NOISE = 0.003
"""The strict F1 that a document may lose: half a bead of `emma`, the shortest."""

PARALLEL = {("de", "fr"): ("multi30k",), ("en", "fr"): ("newstest.en-fr", "multi30k")}


def cut(words, gold, sizes):
    """Return a document whose paragraphs end after so many gold beads of two sides, by turns."""
    beads = sorted(bead for bead in gold if all(bead))
    after = list(itertools.takewhile(lambda at: at < len(beads), ends_of(sizes)))
    cuts = np.array([[side[-1] + 1 for side in beads[at - 1]] for at in after], np.int64)
    cuts = cuts.reshape(-1, 2)
    return dataclasses.replace(
        words,
        source_paragraphs=np.searchsorted(cuts[:, 0], np.arange(len(words.source)), "right"),
        target_paragraphs=np.searchsorted(cuts[:, 1], np.arange(len(words.target)), "right"),
    )


def ends_of(sizes):
    """Yield, without end, where paragraphs of these sizes end; the sizes repeat."""
    return itertools.accumulate(itertools.cycle(sizes))


def strict_f1(path, gold):
    """Return strict F1 in [0, 1], not rounded."""
    result = score_beads([Bead(*bead) for bead in beads_of(path)], gold)
    return SentenceScores(1, *result).as_dict()["strict_f1"]


def fitted(folder, fitted_on, name, languages):
    """Return an aligner fitted on the documents themselves or on parallel text."""
    if fitted_on in ("document", "novels"):
        names = (name,) if fitted_on == "document" else NOVELS
        documents, _ = read_documents(folder / "sentences", names, languages)
        return align_as_the_job_does(documents, [], languages)[2]
    pairs = []
    for stem in PARALLEL[languages]:
        of_stem = parallel(folder, stem, languages)
        if stem == "newstest.en-fr":
            del of_stem[SHUFFLED.start : SHUFFLED.stop]
        pairs += of_stem
    share = 20 if fitted_on == "twentieth" else 1
    return fit(tokens_of(pairs[::share], languages), HmmConfig(), 2)


@pytest.mark.parametrize(
    ("name", "languages", "fitted_on"),
    [
        *itertools.product(
            ["bleualign-dev"], [("de", "fr")], ["document", "parallel", "twentieth"]
        ),
        *itertools.product(NOVELS, [("en", "fr")], ["document", "novels", "parallel", "twentieth"]),
    ],
)
def test_paragraphs_first_lose_to_weights_at_no_size(shared_data, name, languages, fitted_on):
    documents, golds = read_documents(shared_data / "sentences", (name,), languages)
    model = fitted(shared_data, fitted_on, name, languages)
    lost, shown = [], []
    for size in ("own", *CUTS):
        words = documents[name][1]
        if size != "own":
            words = cut(words, golds[name], CUTS[size])
        if not words.comparable_paragraphs:
            continue
        first = align_by_length(words)
        weighed, kept = (
            strict_f1(
                align_in_order(
                    words, order, lambda part, first=first: align_by_words(part, first, model)
                ),
                golds[name],
            )
            for order in ("weigh", "first")
        )
        shown.append(f"{size} {100 * weighed:.1f} / {100 * kept:.1f}")
        if kept < weighed - NOISE:
            lost.append(size)
    print(f"\n{name}, fitted on {fitted_on}: {', '.join(shown)}")
    assert shown
    assert not lost
