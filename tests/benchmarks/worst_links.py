"""Prints the sentences of the development sets whose links agree least with the gold links.

``PAIRWEAVE_DATA=DIR python -m tests.benchmarks.worst_links [--sets enfr roen …] [--sentences 10]``.
Each set is fitted as in ``bench_hmm.py`` and symmetrized by grow-diag. A sentence is judged by the
F-measure of its links: precision counts possible links, recall sure ones (Och and Ney 2003).
"""

import argparse
import os
from pathlib import Path

import pyarrow as pa

from pairweave.models.hmm.hmm import HmmConfig, fit
from tests.makers.hmm_corpora import (
    english_french,
    gold_pairs,
    link_rows,
    plain_table,
    tokens_table,
)
from tests.makers.links import symmetrize_slowly

SETS = ("enfr", "roen", "xlwa-es", "xlwa-it", "xlwa-nl", "sv")
MIN_WORDS = 8
"""Shorter sentences are left out: one wrong link of three says little."""


def f_measure(links, sure, possible):
    """Return the F-measure of the links of a sentence that has sure links."""
    precision = len(links & possible) / len(links) if links else 0.0
    recall = len(links & sure) / len(sure)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def judged(data, name):
    """Yield the F-measure, set, row, words of both sides, links and gold links of sentences."""
    pairs, gold = gold_pairs(data, name)
    test = plain_table(pairs)
    more = [tokens_table(english_french(data))] if name == "enfr" else []
    linked = fit(pa.concat_tables([test, *more]), HmmConfig()).align(test.slice(0, len(gold)))
    both = zip(link_rows(linked, "forward"), link_rows(linked, "reverse"), strict=True)
    for row, ((forward, reverse), (sure, possible)) in enumerate(zip(both, gold, strict=True)):
        words = tuple(text.split() for text in pairs[row])
        if sure and min(map(len, words)) >= MIN_WORDS:
            links = set(symmetrize_slowly(forward, reverse, "grow-diag"))
            yield f_measure(links, sure, possible), name, row, *words, links, sure, possible


def shown(links, source, target):
    """Return links as text, by their words and numbers."""
    return ", ".join(f"{source[i]}({i})-{target[j]}({j})" for i, j in sorted(links)) or "none"


def main(arguments=None):
    """Print the worst sentences, the worst first."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--sentences", type=int, default=10)
    chosen = parser.parse_args(arguments)
    data = Path(os.environ["PAIRWEAVE_DATA"])
    sentences = [sentence for name in chosen.sets for sentence in judged(data, name)]
    sentences.sort(key=lambda sentence: sentence[:3])
    for score, name, row, source, target, links, sure, possible in sentences[: chosen.sentences]:
        print(f"\n{name} line {row + 1}: F-measure {100 * score:.1f}")
        print(" ", " ".join(source))
        print(" ", " ".join(target))
        print("  wrong:  ", shown(links - possible, source, target))
        print("  missing:", shown(sure - links, source, target))
        print("  right:  ", shown(links & possible, source, target))


if __name__ == "__main__":
    main()
