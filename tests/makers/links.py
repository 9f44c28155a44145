"""Links and phrase pairs as sets, their flat arrays, and the plain-Python twins of the kernels."""

import itertools
import math

import numpy as np
from hypothesis import strategies as st

from pairweave.transforms.kernels.links.links import Links
from tests.makers.read_only import read_only

DIRECT = [(-1, 0), (0, -1), (0, 1), (1, 0)]
DIAGONAL = [(-1, -1), (-1, 1), (1, -1), (1, 1)]
NO_CUTS = np.zeros(0, np.bool_)

# Wide enough to cross the 64-bit words that the kernel works in, narrow enough to collide.
link_sets = st.one_of(
    st.frozensets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=20),
    st.frozensets(st.tuples(st.integers(0, 4), st.integers(60, 67)), max_size=20),
    st.frozensets(st.tuples(st.integers(125, 131), st.integers(62, 66)), max_size=12),
)


def flat(pairs):
    """Return sequences of links with read-only words, as views of Arrow columns are."""
    links = [link for pair in pairs for link in pair]
    offsets = np.cumsum([0, *(len(pair) for pair in pairs)], dtype=np.int64)
    source, target = (read_only([link[side] for link in links], np.int16) for side in (0, 1))
    return Links(offsets, source, target)


def unflat(offsets, *columns):
    """Return flat arrays as a list of tuples for each pair."""
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    return [rows[start:end] for start, end in itertools.pairwise(offsets.tolist())]


def read_pharaoh(path):
    """Return the links of each line of a file, in file order."""
    return [
        [tuple(map(int, link.split("-"))) for link in line.split()]
        for line in path.read_text().splitlines()
    ]


def symmetrize_slowly(forward, reverse, heuristic):
    """Join two sets of links link by link, as fast_align's atools is described to."""
    forward, reverse = set(forward), set(reverse)
    if heuristic == "union":
        return forward | reverse
    accepted = forward & reverse
    if heuristic == "intersection":
        return accepted

    def source_free(link):
        return all(source != link[0] for source, _ in accepted)

    def target_free(link):
        return all(target != link[1] for _, target in accepted)

    moves = DIRECT if heuristic == "grow" else DIRECT + DIAGONAL
    before = None
    while before != len(accepted):
        before = len(accepted)
        for link in sorted((forward | reverse) - accepted):
            near = any((link[0] + down, link[1] + right) in accepted for down, right in moves)
            if near and (source_free(link) or target_free(link)):
                accepted.add(link)
    need = {"grow-diag-final": any, "grow-diag-final-and": all}.get(heuristic)
    if need:
        for link in [*sorted(forward), *sorted(reverse)]:
            if need((source_free(link), target_free(link))):
                accepted.add(link)
    return accepted


def phrases_slowly(links, source_words, target_words, max_words=64):
    """Try every two spans: consistent with the links, all words linked, neither too long."""
    sources, targets = {link[0] for link in links}, {link[1] for link in links}

    def spans(words, linked):
        for start, end in itertools.combinations(range(words + 1), 2):
            if end - start <= max_words and linked.issuperset(range(start, end)):
                yield start, end

    return [
        (*source, *target)
        for source in spans(source_words, sources)
        for target in spans(target_words, targets)
        if all(
            (source[0] <= link[0] < source[1]) == (target[0] <= link[1] < target[1])
            for link in links
        )
    ]


def pool_slowly(a, b):
    """Return the pooled posterior of a link that has these two; each is at most ``1 - 1e-6``."""
    a, b = min(a, 1 - 1e-6), min(b, 1 - 1e-6)
    yes, no = math.sqrt(a * b), math.sqrt((1 - a) * (1 - b))
    return yes / (yes + no)


def multiply_slowly(one, other, threshold):
    """Return the pooled posteriors of the links that two aligners have, from maps of theirs.

    As float32, like those of tables.
    """
    pooled = {link: pool_slowly(one[link], other[link]) for link in one.keys() & other.keys()}
    return {link: float(np.float32(p)) for link, p in sorted(pooled.items()) if p >= threshold}


def confirm_slowly(one, other, least):
    """Return the links of an aligner as another confirms them, from maps to both directions."""
    links = {}
    for link in sorted(one):
        sides = zip(one[link], other.get(link, (0, 0)), strict=True)
        means = [((a if a >= least else 0) + pool_slowly(a, b)) / 2 for a, b in sides]
        if max(means) >= least / 2:
            links[link] = tuple(means)
    return links
