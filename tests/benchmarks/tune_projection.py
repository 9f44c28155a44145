"""Tune the weights of projected tags by what counts: the share of elements that are placed right.

python -m tests.benchmarks.tune_projection MANUALS LINKED WEIGHTS.json

MANUALS is the folder that `manuals` writes, LINKED a folder in which links are kept; the variable
PAIRWEAVE_DATA names the folder of the tests' data. Learning by `tags fit_projection` maximizes
probabilities. This goes on from the weights in `LEARNT`, one weight at a time: it takes the step
after which the mean share of elements at the translator's place is highest, over all sets, if no
set of help pages, EUR-Lex or glossaries loses an element, and no manual more than one. It does so
in several random orders of the weights, and writes the mean of the results. Help pages for tests
and the manuals in `HELD_OUT` are not used. Its result was the weights that ship; tokens of Chinese
and of mixed scripts have changed since.
"""

import dataclasses
import os
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pairweave.transforms.projection.known_places import confidence_of, known_places
from pairweave.transforms.projection.projection_weights import read_weights
from tests.benchmarks.bench_evidence import HELP, TAGGED, Linked, drawn, examples_of, kept_set
from tests.benchmarks.bench_help import is_test_page, segments_of
from tests.benchmarks.bench_manuals import as_xliff, linked_tags, most_tagged

LEARNT = Path(__file__).with_name("learnt_projection_weights.json")
"""The weights that shipped before they were tuned: learnt, and nine of them set by hand."""

HELD_OUT = (
    *(f"guide.en-{language}" for language in ("it", "ko", "nl", "pt", "ro", "ru", "sv", "vi")),
    *(f"gimp.en-{language}" for language in ("fi", "fr", "ko")),
    *(f"reference.en-{language}" for language in ("ja", "zh")),
)
"""Manuals that no weight is tuned on."""

AS_XLIFF = ("ja", "zh")
"""Languages whose manuals are used as XLIFF, too, which has ids."""

CANDIDATES = 16
"""Number of an element's best spans by the learnt weights, besides the translator's."""

STEPS = (-50, -25, -12, 12, 25, 50)
"""Changes of a weight that are tried."""

PASSES = 6
"""Number of passes over all weights."""

ORDERS = 4
"""Number of random orders of the weights."""

PRICE = 2e-7
"""Share of right elements that each unit of distance from the learnt weights must gain."""

LARGEST = 6_000
"""Segments of a set of help pages that are used at most."""

CALIBRATED = 300
"""Segments of each set by which margins become confidences."""


class Candidates(NamedTuple):
    """Evidence of all candidates; those of an element follow each other, the right one first.

    ``rows`` are int32 ``[candidate, evidence]``, ``starts`` int64 ``[element]``, and ``sets`` the
    number of each element's set ``[element]``.
    """

    rows: np.ndarray
    starts: np.ndarray
    sets: np.ndarray

    def right(self, scores):
        """Return how many elements of each set are right; a tie counts as half an element."""
        gold = scores[self.starts]
        others = scores.copy()
        others[self.starts] = -(1 << 60)
        best = np.maximum.reduceat(others, self.starts)
        return np.bincount(self.sets, (gold > best) + 0.5 * (gold == best))


def tuning_sets(data, folder, linked):
    """Return the linked segments of each set, by its name."""
    os.environ["PAIRWEAVE_LINKED"] = str(linked)
    sets = {}
    for name in HELP:
        own = [one for one in kept_set(data, name) if not is_test_page(one.page)]
        sets[name] = drawn(own, LARGEST)
    sets |= {name: kept_set(data, name) for name in TAGGED}
    for path in sorted(folder.glob("*.jsonl.gz")):
        name = path.name.removesuffix(".jsonl.gz")
        if name in HELD_OUT:
            continue
        languages = tuple(name.partition(".")[2].split("-"))
        segments = segments_of(path)
        sets[name] = kept(linked / f"{name}.pickle", segments, languages)
        if languages[1] in AS_XLIFF:
            written = most_tagged([(page, *as_xliff(texts)) for page, *texts in segments])
            sets[f"xliff {name}"] = kept(linked / f"x{name}.pickle", written, languages)
    return sets


def kept(path, segments, languages):
    """Return the linked segments of a manual, kept in a file."""
    if not path.exists():
        chosen, given = linked_tags(segments, languages)
        rows = [
            ("manual", *one, links[:2], links[2]) for one, links in zip(chosen, given, strict=True)
        ]
        path.write_bytes(pickle.dumps(rows))
    return [Linked(*each) for each in pickle.loads(path.read_bytes())]


def gather(sets, weights):
    """Return the candidates of the elements with words of all sets."""
    rows, bounds, numbers = [], [np.zeros(1, np.int64)], []
    for number, segments in enumerate(sets.values()):
        known = [known_places(one.source, one.target, *one.tokens, one.links) for one in segments]
        spans, _ = examples_of(known, weights[None], np.array([CANDIDATES]))
        rows.append(spans.rows)
        bounds.append(spans.bounds[1:] + bounds[-1][-1])
        numbers.append(np.full(len(spans.bounds) - 1, number))
    ends = np.concatenate(bounds)
    return Candidates(np.concatenate(rows).astype(np.int32), ends[:-1], np.concatenate(numbers))


def tune(candidates, names, learnt, seed):
    """Return better weights, int64 ``[evidence]``.

    Args:
        candidates: The candidates.
        names: Names of the sets.
        learnt: The weights to begin with, int64 ``[evidence]``.
        seed: Seed of the order in which weights are changed.
    """
    generator = np.random.default_rng(seed)
    shares = np.array([0.5 if name.startswith("xliff") else 1.0 for name in names])
    shares /= shares.sum() * np.bincount(candidates.sets)
    may_lose = np.array([0.0 if name in (*HELP, *TAGGED) else 1.0 for name in names])
    least = candidates.right(candidates.rows @ learnt) - may_lose
    weights, scores = learnt.copy(), candidates.rows @ learnt
    best = candidates.right(scores) @ shares
    for _ in range(PASSES):
        for name in generator.permutation(len(weights)):
            tried = []
            away = abs(weights[name] - learnt[name])
            for step in STEPS:
                right = candidates.right(scores + step * candidates.rows[:, name])
                if (right >= least).all():
                    price = PRICE * (abs(weights[name] + step - learnt[name]) - away)
                    tried.append((right @ shares - best - price, step))
            if tried and max(tried)[0] > 1e-6:
                step = max(tried)[1]
                weights[name] += step
                scores += step * candidates.rows[:, name]
                best = candidates.right(scores) @ shares
        sys.stdout.write(f"{100 * best:.3f} % of the elements are right, mean of the sets\n")
        sys.stdout.flush()
    return weights


def main(manuals, linked, output):
    """Tune in several orders, and write the weights in the form of `tags fit_projection`."""
    data = Path(os.environ["PAIRWEAVE_DATA"])
    sets = tuning_sets(data, Path(manuals), Path(linked))
    learnt = read_weights(LEARNT.read_bytes(), LEARNT.name)
    spans = learnt.arrays().spans
    candidates = gather(sets, spans)
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        tuned = threads.map(partial(tune, candidates, list(sets), spans), range(ORDERS))
        mean = np.rint(np.mean(list(tuned), axis=0)).astype(int)
    weights = dataclasses.replace(learnt, spans=tuple(mean.tolist()))
    sample = [one for segments in sets.values() for one in drawn(segments, CALIBRATED)]
    known = [known_places(one.source, one.target, *one.tokens, one.links) for one in sample]
    margins, shares = confidence_of(known, weights)
    weights = dataclasses.replace(weights, margins=margins, shares=shares)
    Path(output).write_bytes(weights.to_json())


if __name__ == "__main__":
    main(*sys.argv[1:])
