"""What each kind of evidence for the places of tags is worth, with weights learnt anew without it.

Help pages that are not for tests, EUR-Lex and glossary texts are learnt from, a sample of each;
test pages, and the segments of EUR-Lex and glossaries that are not in the samples, are measured.
Links are found once, by an aligner that is fitted on the texts of the set (EUR-Lex and glossaries
with 16,000 other pairs, if there are any). Learning looks at the best candidates of each element by
the shipped weights, gathered once, and after a first round also at the best by the weights learnt
until then; measuring looks at all candidates. With ``PAIRWEAVE_LINKED=DIRECTORY`` the links of a
set are kept there for the next run.
"""

import hashlib
import os
import pickle
import re
import sys
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from pairweave.transforms.kernels.links import projection_spans
from pairweave.transforms.kernels.links.projection_points import POINT_EVIDENCE, point_evidence
from pairweave.transforms.links.soft_links import SoftLinks, soften
from pairweave.transforms.markup.markup import Marked
from pairweave.transforms.projection.known_places import known_places, place_numbers
from pairweave.transforms.projection.project import Tokens, project_tags
from pairweave.transforms.projection.projection_weights import (
    SPAN_NAMES,
    ProjectionWeights,
    shipped_weights,
)
from tests.benchmarks.bench_help import is_test_page, same_tags, segments_of, whole_segments
from tests.benchmarks.bench_project import (
    SOFT,
    cut_pairs,
    exactly_placed,
    parallel_pairs,
    tagged_pairs,
    words_of,
)
from tests.makers.hmm_corpora import tokens_table

pytestmark = pytest.mark.bench

HELP = ("office.en-de", "office.en-fr", "gnome.en-ko", "gnome.en-fi")
TAGGED = ("tagged.en-de", "tagged.en-fr", "tagged.en-hu")

OTHER_PAIRS = 16_000
"""Other pairs that the aligner of EUR-Lex and glossaries is fitted on. The French ones after line
16,573 are no translations."""

LEARNT, MEASURED = 400, 800
"""Most segments of a set that are learnt from, and measured."""

CANDIDATES, ROUND = 24, 8
"""Candidates of an element: the best by the shipped weights, and those that a round adds."""

PASSES = 6
TEMPERATURE, RATE, FIRST_SQUARE = 5_000.0, 20.0, 100.0
"""As `transforms.kernels.links.projection_learning`."""

KINDS = {
    "characters beside the ends": r".*_same_class|.*space_\w+|.*inside_word|gap|stray_particle",
    "marks": r".*_same_kind|.*_added_\w+|whole_(brackets|quotes|stops|marks)",
    "edges of the text": r".*_edge_(both|added|stop)|whole_everything",
    "capitals": r"(.*_)?capital_(both|added)",
    "equal strings": r".*equal_\w+",
    "length and place": r"(whole_)?(length|shift)",
    "links at the ends": r"(opening|closing)_(inner_links|outer_(links|exchanged|held)|solid|leak)"
    r"|(left|right)_links",
}
"""Names of evidence of each kind, as a pattern. All else is evidence of links."""


class Linked(NamedTuple):
    """A segment with tags on both sides, its tokens and links."""

    group: str
    page: str
    source: Marked
    target: Marked
    tokens: tuple[Tokens, Tokens]
    links: SoftLinks


class Examples(NamedTuple):
    """Evidence of the candidates of elements: the translator's place first, then others.

    ``rows`` are int16 ``[candidate, evidence]``, ``bounds`` int64 ``[element + 1]``.
    """

    rows: np.ndarray
    bounds: np.ndarray


def drawn(segments, most):
    """Return up to so many segments, drawn by a hash of their text."""
    return sorted(segments, key=lambda one: hashlib.sha256(one.source.text.encode()).digest())[
        :most
    ]


def read_set(data, name):
    """Return the segments of a set, which have the same tags on both sides, and pairs to fit on."""
    source, target = name.partition(".")[2].split("-")
    if name.startswith("tagged"):
        other = parallel_pairs(data, source, target)[:OTHER_PAIRS]
        pairs = tagged_pairs(data, source, target)
        segments = [(group, "", *pair) for group, each in pairs.items() for pair in each]
    else:
        other = []
        segments = [("help", *each) for each in segments_of(data / "help" / f"{name}.jsonl.gz")]
    pairs = [(one.text, another.text) for _, _, one, another in segments]
    marked = [
        n for n, (*_, one, other) in enumerate(segments) if one.tags and same_tags(one, other)
    ]
    return segments, marked, pairs + other, (source, target)


def link_set(data, name):
    """Return the segments of a set with tags on both sides, linked."""
    segments, marked, pairs, languages = read_set(data, name)
    sides = [
        words_of([pair[side] for pair in pairs], language)
        for side, language in enumerate(languages)
    ]
    rows = [(one, s, other, t) for (one, other), s, t in zip(pairs, *sides, strict=True)]
    model = fit(tokens_table(rows), HmmConfig(), os.cpu_count() or 1)
    chosen = [(*segments[row], rows[row][1], rows[row][3]) for row in marked]
    cut, table = cut_pairs([each[2:4] for each in chosen], [each[4:] for each in chosen])
    links = soften(model.with_threshold(SOFT).align(table))
    return [
        Linked(*each[:4], tokens, soft)
        for each, tokens, soft in zip(chosen, cut, links, strict=True)
    ]


def kept_set(data, name):
    """Return `link_set`, kept in the folder `PAIRWEAVE_LINKED` if there is one."""
    folder = os.environ.get("PAIRWEAVE_LINKED")
    path = Path(folder or "") / f"{name}.pickle"
    if folder and path.exists():
        return [Linked(*each) for each in pickle.loads(path.read_bytes())]
    linked = link_set(data, name)
    if folder:
        path.write_bytes(pickle.dumps([tuple(each) for each in linked]))
    return linked


def kind_of(name):
    """Return the kind of a piece of evidence; None for evidence of links."""
    return next((kind for kind, names in KINDS.items() if re.fullmatch(names, name)), None)


@numba.njit
def candidate_rows(pair, bounds, setting, gold, weights, most):
    """Return the evidence of a translator's span, then that of the best others by any weights.

    Args:
        pair: The pair.
        bounds: Offsets of the element's tags in the source.
        setting: What surrounds it there.
        gold: Places of its tags in the target.
        weights: int64 ``[choice, evidence]``.
        most: Number of the best spans by each choice, int64 ``[choice]``.
    """
    spans = projection_spans.gather(pair, bounds, setting)
    chosen = [gold]
    for choice in range(len(weights)):
        opening, closing, _ = projection_spans.best_spans(
            pair, spans, weights[choice], most[choice]
        )
        for number in range(len(opening)):
            span = (opening[number], closing[number])
            if span not in chosen:
                chosen.append(span)
    rows = np.empty((len(chosen), projection_spans.SPAN_WEIGHTS), np.int16)
    for number in range(len(chosen)):
        rows[number] = projection_spans.evidence_of_span(pair, spans, *chosen[number])
    return rows


def examples_of(segments, weights, most):
    """Return the examples of elements with words, and of tags without."""
    spans, points = [], []
    for segment in segments:
        pair = projection_spans.prepare(*segment.sides)
        for known in segment.elements:
            gold = place_numbers(pair, known)
            if gold is None:
                continue
            first, last = projection_spans.find_tokens(pair.source, *known.bounds)
            if known.bounds[0] == known.bounds[1]:
                rows = point_evidence(
                    *(pair.source, pair.target, pair.characters.shapes, known.bounds[0]),
                    *(known.setting[2], pair.places, pair.table),
                )
                order = [gold[0], *(place for place in range(len(rows)) if place != gold[0])]
                points.append(rows[order].astype(np.int16))
            elif first < last and pair.places.before[gold[0]] < pair.places.before[gold[1]]:
                spans.append(candidate_rows(pair, known.bounds, known.setting, gold, weights, most))
    return tuple(
        Examples(
            np.concatenate([np.zeros((0, len(names)), np.int16), *each]),
            np.cumsum([0, *map(len, each)]),
        )
        for each, names in ((spans, SPAN_NAMES), (points, POINT_EVIDENCE))
    )


@numba.njit
def learn(examples, kept, orders):
    """Learn weights by softmax regression over candidates, with AdaGrad.

    Args:
        examples: The examples.
        kept: Which evidence counts, bool ``[evidence]``.
        orders: The order of the examples in each pass, int64 ``[pass, example]``.

    Returns:
        The mean of the weights after each step of the last pass, float64 ``[evidence]``.
    """
    rows, bounds = examples
    names = np.flatnonzero(kept)
    weights, totals = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    squares = np.full(rows.shape[1], FIRST_SQUARE)
    for number in range(len(orders)):
        totals[:] = 0
        for example in orders[number]:
            start, end = bounds[example], bounds[example + 1]
            shares = np.zeros(end - start)
            for place in range(end - start):
                for name in names:
                    shares[place] += rows[start + place, name] * weights[name] / TEMPERATURE
            shares = np.exp(shares - shares.max())
            shares /= shares.sum()
            for name in names:
                gradient = np.float64(rows[start, name])
                for place in range(end - start):
                    gradient -= shares[place] * rows[start + place, name]
                squares[name] += gradient * gradient
                weights[name] += RATE * gradient / np.sqrt(squares[name])
                totals[name] += weights[name]
    return totals / orders.shape[1]


def weights_of(examples, kinds):
    """Return weights learnt from evidence of some kinds; None is that of links."""
    result = []
    for each, names in zip(examples, (SPAN_NAMES, POINT_EVIDENCE), strict=True):
        kept = np.array([kind_of(name) in kinds for name in names])
        generator = np.random.default_rng(0)
        orders = np.stack([generator.permutation(len(each.bounds) - 1) for _ in range(PASSES)])
        result.append(tuple(np.rint(learn(each, kept, orders)).astype(int).tolist()))
    return ProjectionWeights(*result, (), (0,))


def measure(parts, weights):
    """Return the share of exact tags and of whole segments of each part, in per cent."""
    cells = []
    for segments in parts.values():
        made = [
            project_tags(one.source, one.target.text, *one.tokens, one.links, weights=weights)
            for one in segments
        ]
        targets = [one.target for one in segments]
        cells.append((exactly_placed(made, targets)[0], whole_segments(made, targets)))
    return cells


def test_every_kind_of_evidence_is_worth_something(shared_data):
    learnt, parts = [], {}
    for name in (*HELP, *TAGGED):
        linked = kept_set(shared_data, name)
        groups = sorted({one.group for one in linked})
        for group in groups:
            own = [one for one in linked if one.group == group]
            tuning = [one for one in own if not (group == "help" and is_test_page(one.page))]
            sample = drawn(tuning, LEARNT // len(groups))
            learnt += sample
            taken = {id(one) for one in (tuning if group == "help" else sample)}
            rest = [one for one in own if id(one) not in taken]
            parts.setdefault(name, []).extend(drawn(rest, MEASURED // len(groups)))
    segments = [known_places(one.source, one.target, *one.tokens, one.links) for one in learnt]
    sys.stdout.write(f"\n{len(learnt):,} segments to learn from; exact and whole, per cent\n")
    sys.stdout.write(f"{'':<36}" + "".join(f"{name:>14}" for name in parts) + "\n")
    shipped = shipped_weights().arrays().spans
    first = examples_of(segments, shipped[None], np.array([CANDIDATES]))
    every = {None, *KINDS}
    choices = {"links alone": {None}}
    choices |= {f"links and {kind}": {None, kind} for kind in KINDS}
    choices |= {"all": every}
    choices |= {f"all but {kind}": every - {kind} for kind in KINDS}
    means = {}
    for name, kinds in choices.items():
        weights = weights_of(first, kinds)
        both = np.stack([shipped, weights.arrays().spans])
        examples = examples_of(segments, both, np.array([CANDIDATES, ROUND]))
        cells = measure(parts, weights_of(examples, kinds))
        means[name] = np.mean(cells)
        text = "".join(f"{exact:8.1f} {whole:5.1f}" for exact, whole in cells)
        sys.stdout.write(f"{name:<36}{text}\n")
        sys.stdout.flush()
    assert means["all"] > max(means[name] for name in means if name.startswith("links"))
