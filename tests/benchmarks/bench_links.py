"""Symmetrization and phrase extraction beside their peers, one core, CPU time, best of three.

The links are those of 10,000 news sentences in English and German, each word linked with the word
that it occurs with most (Dice) near the diagonal, in both directions.
"""

import gzip
import io
import math
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from pairweave.transforms.kernels.links.phrase_extraction import extract_phrases
from pairweave.transforms.kernels.links.symmetrize import HEURISTICS, symmetrize
from pairweave.transforms.links.pharaoh import phrase_files, symmetrize_files
from tests.makers.links import NO_CUTS, flat, unflat

pytestmark = pytest.mark.bench

PAIRS = 10_000
NLTK_PAIRS = 300
WORDS = re.compile(r"\w+|[^\w\s]")


def words_of(path):
    """Return the lower-cased words of the first lines of a gzipped text."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [WORDS.findall(line.lower()) for line, _ in zip(file, range(PAIRS), strict=False)]


def link(pair, together, source_counts, target_counts):
    """Link each target word with its best source word, and the other way round."""
    source, target = pair
    if not source or not target:
        return [], []
    scores = [
        [
            together[one, other]
            / (source_counts[one] + target_counts[other])
            * math.exp(-4 * abs(i / len(source) - j / len(target)))
            for j, other in enumerate(target)
        ]
        for i, one in enumerate(source)
    ]
    columns = list(zip(*scores, strict=True))
    forward = sorted((column.index(max(column)), j) for j, column in enumerate(columns))
    return forward, [(i, row.index(max(row))) for i, row in enumerate(scores)]


@pytest.fixture(scope="module")
def pairs(shared_data):
    """Return (source words, target words, forward links, reverse links) for each pair."""
    folder = shared_data / "parallel"
    sources = words_of(folder / "newstest.en-de.en.gz")
    targets = words_of(folder / "newstest.en-de.de.gz")
    together = Counter()
    for source, target in zip(sources, targets, strict=True):
        together.update((one, other) for one in set(source) for other in set(target))
    counts = [Counter(word for side in sides for word in set(side)) for sides in (sources, targets)]
    return [(*pair, *link(pair, together, *counts)) for pair in zip(sources, targets, strict=True)]


@pytest.fixture(scope="module")
def files(pairs, tmp_path_factory):
    """Return the forward and the reverse links as Pharaoh files."""
    folder = tmp_path_factory.mktemp("links")
    for name, side in (("forward", 2), ("reverse", 3)):
        (folder / name).write_text("".join(f"{pharaoh(pair[side])}\n" for pair in pairs))
    return folder / "forward", folder / "reverse"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Return the C++ program, compiled."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++ to compile the C++ peer with")
    binary = tmp_path_factory.mktemp("bin") / "grow_diag"
    source = Path(__file__).with_name("grow_diag.cpp")
    subprocess.run([compiler, "-O3", "-march=native", source, "-o", binary], check=True)
    return binary


def pharaoh(links):
    """Write links as one Pharaoh line."""
    return " ".join(f"{i}-{j}" for i, j in links)


def seconds(function, *arguments):
    """Return the least CPU seconds of three calls, and the last result."""
    taken = []
    for _ in range(3):
        start = time.process_time()
        result = function(*arguments)
        taken.append(time.process_time() - start)
    return min(taken), result


def child_seconds(*command):
    """Return the least CPU seconds of three runs of a program, and its output."""
    taken = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        output = subprocess.run(command, check=True, capture_output=True).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken), output


def show(title, rows):
    """Write rows of (what, pairs per second), and how many times as fast the last one is."""
    best = rows[-1][1]
    lines = [f"  {what:<50} {speed:>11,.0f} pairs/s {best / speed:>8,.1f}x" for what, speed in rows]
    sys.stdout.write("\n".join(["", title, *lines, ""]))


def to_text(function, *arguments):
    """Return what a function writes to its last argument."""
    out = io.BytesIO()
    function(*arguments, out)
    return out.getvalue()


def test_symmetrization_beside_nltk_and_a_program_in_cpp(pairs, files, program):
    # Not at the top: the unit suite collects this file, and it loads SciPy's statistics.
    from nltk.translate.gdfa import grow_diag_final_and

    forward, reverse = flat([pair[2] for pair in pairs]), flat([pair[3] for pair in pairs])
    text = [(len(s), len(t), pharaoh(f), pharaoh(r)) for s, t, f, r in pairs[:NLTK_PAIRS]]
    nltk, _ = seconds(lambda: [grow_diag_final_and(*pair) for pair in text])
    for heuristic, extra in (("grow-diag", ()), ("grow-diag-final-and", ("and",))):
        peer, expected = child_seconds(program, *files, *extra)
        symmetrize(flat([[(0, 0)]]), flat([[(0, 0)]]), 0)  # compiled before it is timed
        kernel, _ = seconds(symmetrize, forward, reverse, HEURISTICS[heuristic])
        whole, output = seconds(to_text, symmetrize_files, *files, heuristic)
        assert output == expected
        words = np.mean([(len(pair[0]), len(pair[1])) for pair in pairs], axis=0)
        show(
            f"{heuristic}, {len(pairs)} pairs of {words[0]:.1f} and {words[1]:.1f} words",
            [
                ("NLTK grow_diag_final_and, text in, links out", NLTK_PAIRS / nltk),
                ("C++ as atools, text in, text out, with its start", len(pairs) / peer),
                ("symmetrize, text in, text out", len(pairs) / whole),
                ("symmetrize, arrays in, arrays out", len(pairs) / kernel),
            ],
        )


def test_phrases_beside_nltk(pairs, tmp_path):
    from nltk.translate.phrase_based import phrase_extraction

    forward, reverse = flat([pair[2] for pair in pairs]), flat([pair[3] for pair in pairs])
    joined = symmetrize(forward, reverse, HEURISTICS["grow-diag"])
    links = unflat(*joined)
    lengths = [np.array([len(pair[side]) for pair in pairs], np.int64) for side in (0, 1)]
    text = [
        (" ".join(pair[0]), " ".join(pair[1]), pair_links, 64)
        for pair, pair_links in zip(pairs[:NLTK_PAIRS], links, strict=False)
    ]
    start = time.process_time()
    expected = [sorted((*p[0], *p[1]) for p in phrase_extraction(*pair)) for pair in text]
    nltk = time.process_time() - start
    for column in joined[1:]:
        column.setflags(write=False)
    both = (joined, *lengths, NO_CUTS, NO_CUTS, 64)
    extract_phrases(flat([[(0, 0)]]), *[np.ones(1, np.int64)] * 2, NO_CUTS, NO_CUTS, 64, None)
    allowed, actual = seconds(extract_phrases, *both, 1)
    assert unflat(*actual)[:NLTK_PAIRS] == expected
    strict, actual = seconds(extract_phrases, *both, None)
    every = [np.ones(int(side.sum()) + len(pairs), np.bool_) for side in lengths]
    cut, _ = seconds(extract_phrases, joined, *lengths, *every, 64, None)
    path = tmp_path / "links"
    path.write_text("".join(f"{pharaoh(pair)}\n" for pair in links))
    whole, _ = seconds(to_text, phrase_files, path, 64, "forbid")
    show(
        f"phrases up to 64 words, {len(pairs)} pairs, {len(actual[1]) / len(pairs):.1f} each",
        [
            ("NLTK phrase_extraction, unaligned words allowed", NLTK_PAIRS / nltk),
            ("extract_phrases, arrays, unaligned words allowed", len(pairs) / allowed),
            ("extract_phrases, text in, text out", len(pairs) / whole),
            ("extract_phrases, arrays, with cuts", len(pairs) / cut),
            ("extract_phrases, arrays", len(pairs) / strict),
        ],
    )
