"""Paragraphs first or as weights, on documents cut into paragraphs of all sizes.

The documents of ``sentences/`` are cut after every so many gold beads of two sides, so paragraphs
correspond, and `candide-fr` also has its own, some of whose breaks the translators moved. Models
are fitted on ``parallel/``: all of it, or one pair in twenty. Strict precision, recall and F1, in
per cent.
"""

import dataclasses
import itertools

import numpy as np
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.models.sentences.paragraph_order import align_in_order
from pairweave.models.sentences.sentence_aligner import align_by_length, align_by_words
from pairweave.transforms.metrics.sentence_metrics import SentenceScores, score_beads
from pairweave.transforms.sentences.bead_lines import Bead
from tests.benchmarks.bench_bitext import NOVELS, beads_of, parallel, read_documents, tokens_of

pytestmark = pytest.mark.bench

SHUFFLED = slice(16_573, 19_576)
"""Lines of ``newstest.en-fr`` that are no translations."""

ONE_BEAD = 0.3
"""Strict F1 of one gold bead of `bleualign-dev` or `travailleurs`, in per cent."""

CUTS = {str(size): [size] for size in (1, 2, 5, 10, 25, 60, 120)} | {
    "uneven": [1, 60, 2, 25, 1, 120, 5, 1, 10]
}


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
    return itertools.accumulate(itertools.cycle(sizes))


def scores(path, gold):
    found = SentenceScores(1, *score_beads([Bead(*bead) for bead in beads_of(path)], gold))
    return [100 * found.as_dict()[f"strict_{name}"] for name in ("precision", "recall", "f1")]


@pytest.mark.parametrize("share", [1, 20])
@pytest.mark.parametrize(
    ("names", "languages", "stems"),
    [
        (("bleualign-dev",), ("de", "fr"), ("multi30k",)),
        (NOVELS, ("en", "fr"), ("newstest.en-fr", "multi30k")),
    ],
)
def test_paragraphs_first_lose_at_most_one_bead_to_weights(
    shared_data, names, languages, stems, share
):
    documents, golds = read_documents(shared_data / "sentences", names, languages)
    pairs = []
    for stem in stems:
        of_stem = parallel(shared_data, stem, languages)
        if stem == "newstest.en-fr":
            del of_stem[SHUFFLED]
        pairs += of_stem
    model = fit(tokens_of(pairs[::share], languages), HmmConfig(), 2)
    lost = []
    for name, size in itertools.product(names, ("own", *CUTS)):
        words = documents[name][1]
        if size != "own":
            words = cut(words, golds[name], CUTS[size])
        if not words.comparable_paragraphs:
            continue
        found = {
            order: scores(
                align_in_order(
                    words, order, lambda part: align_by_words(part, align_by_length(part), model)
                ),
                golds[name],
            )
            for order in ("weigh", "first")
        }
        shown = {order: [round(value, 1) for value in row] for order, row in found.items()}
        print(f"\n{name}, one pair in {share}, paragraphs {size}: {shown}")
        if found["first"][2] < found["weigh"][2] - ONE_BEAD:
            lost.append((name, size))
    assert not lost
