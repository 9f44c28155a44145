"""The statistical aligner: error, fit and alignment speed, beside eflomal and fast_align.

fast_align is measured by systran-align, its library form. CPU seconds, one core each. Both run in
the peers' environment (`tests.benchmarks.peers`).
"""

import json
import time

import pyarrow as pa
import pytest

from pairweave.models.hmm.hmm import HmmConfig, fit
from tests.benchmarks.peers import run_peer
from tests.makers.hmm_corpora import (
    english_french,
    error_rate,
    gold_pairs,
    in_georgian_letters,
    link_rows,
    plain_table,
    tokens_table,
)
from tests.makers.links import symmetrize_slowly

HEURISTICS = ("intersection", "grow-diag", "grow-diag-final-and", "union")

pytestmark = pytest.mark.bench


def errors(forward, reverse, gold):
    """Return the error rate in percent by heuristic."""
    return {
        heuristic: error_rate(
            [
                set(symmetrize_slowly(one, other, heuristic))
                for one, other in zip(forward, reverse, strict=True)
            ],
            gold,
        )
        for heuristic in HEURISTICS
    }


def show(name, rates):
    """Print one line of error rates in percent, one for each heuristic."""
    print(f"{name:34}", *(f"{heuristic} {rate:6.2f} %" for heuristic, rate in rates.items()))


def words(table, side):
    """Return the lowercased words of each pair."""
    texts, tokens = table[side].to_pylist(), table[f"{side}_tokens"].to_pylist()
    return [
        [text[span["start"] : span["end"]].lower() for span in spans]
        for text, spans in zip(texts, tokens, strict=True)
    ]


def ours(table):
    """Return links of our own, and CPU seconds of the fit."""
    start = time.process_time()
    model = fit(table, HmmConfig())
    return model, time.process_time() - start


EFLOMAL = """
import sys
from eflomal import Aligner
folder = sys.argv[1]
with open(folder + "/s", encoding="utf-8") as source, open(
    folder + "/t", encoding="utf-8"
) as target:
    Aligner().align(source, target, folder + "/f", folder + "/r")
"""

FAST_ALIGN = """
import json, sys, time
import systran_align
folder, gold, first, last = sys.argv[1], *map(int, sys.argv[2:])
def read(name):
    with open(f"{folder}/{name}", encoding="utf-8", newline="\\n") as lines:
        return [line.rstrip("\\n").split(" ") for line in lines]
sides = [read("s"), read("t")]
with open(folder + "/joined", "w", encoding="utf-8", newline="\\n") as joined:
    joined.writelines(" ||| ".join(map(" ".join, pair)) + "\\n" for pair in zip(*sides))
paths = folder + "/forward", folder + "/reverse"
start = time.process_time()
systran_align.generate_alignment_probabilities(
    folder + "/joined", *paths, favor_diagonal=True, optimize_tension=True, variational_bayes=True
)
training = time.process_time() - start
aligner = systran_align.Aligner(*paths)
links = [aligner.align(*pair)["alignments"] for pair in zip(*(side[:gold] for side in sides))]
some = [side[first:last] for side in sides]
start = time.process_time()
aligner.align_batch(*some)
aligning = time.process_time() - start
print(json.dumps({"links": links, "training": training, "aligning": aligning}))
"""


def write_sides(directory, source, target):
    """Write the words of each pair where the peers read them."""
    for name, lines in (("s", source), ("t", target)):
        text = "".join(" ".join(line) + "\n" for line in lines)
        (directory / name).write_text(text, encoding="utf-8", newline="\n")


def eflomal(directory):
    """Return eflomal's links in both directions and its CPU seconds, or None where it is not."""
    found = run_peer("eflomal", EFLOMAL, directory)
    if found is None:
        return None
    links = [
        [[tuple(map(int, link.split("-"))) for link in line.split()] for line in lines]
        for lines in ((directory / name).read_text().splitlines() for name in "fr")
    ]
    return *links, found[1]


def fast_align(directory, gold, some):
    """Return systran-align's links of the first pairs and its CPU seconds, or None.

    Args:
        directory: Where `write_sides` wrote.
        gold: Pairs whose links are wanted.
        some: The range of pairs whose alignment is timed.
    """
    found = run_peer("fast_align", FAST_ALIGN, directory, gold, some.start, some.stop)
    return None if found is None else json.loads(found[0])


LIMITS = {
    "enfr": 6.3,
    "roen": 30.0,
    "xlwa-es": 16.5,
    "xlwa-it": 21.0,
    "xlwa-nl": 10.5,
    "sv": 23.0,
    "xlwa-es in another script": 18.0,
    "sv in another script": 23.5,
}
"""Highest error rate of each gold set, in percent, by the best symmetrization.

In another script no word resembles its translation, as with Chinese and Japanese.
"""


@pytest.mark.parametrize("name", LIMITS)
def test_error_and_speed(shared_data, tmp_path, name):
    stem, _, script = name.partition(" ")
    pairs, gold = gold_pairs(shared_data, stem)
    if script:
        pairs = [(source, in_georgian_letters(target)) for source, target in pairs]
    test = plain_table(pairs)
    train = tokens_table(english_french(shared_data)) if name == "enfr" else None
    table = pa.concat_tables([test, train]) if train is not None else test
    fit(test.slice(0, 9), HmmConfig()).align(test.slice(0, 9))  # compile
    size = table.num_rows
    print(f"\n{name}: {size:,} pairs, {len(gold)} with gold links")
    model, seconds = ours(table)
    made = model.align(test.slice(0, len(gold)))
    show(
        "hmm, test text in the fit",
        errors(*(link_rows(made, c) for c in ("forward", "reverse")), gold),
    )
    print(f"hmm fit: {seconds:.1f} s cpu, {size / seconds:,.0f} pairs/s")
    if train is not None:
        after = ours(train)[0].align(test.slice(0, len(gold)))
        show(
            "hmm, test text aligned afterwards",
            errors(*(link_rows(after, c) for c in ("forward", "reverse")), gold),
        )
        new = train.slice(0, 20_000)
        start = time.process_time()
        model.align(new)
        seconds = time.process_time() - start
        count = sum(map(len, words(new, "source"))) / new.num_rows
        print(f"hmm align: {new.num_rows / seconds:,.0f} pairs/s of {count:.1f} source words")
    source, target = words(table, "source"), words(table, "target")
    write_sides(tmp_path, source, target)
    found = eflomal(tmp_path)
    if found is not None:
        show("eflomal", errors(found[0][: len(gold)], found[1][: len(gold)], gold))
        print(f"eflomal: {found[2]:.1f} s cpu, {size / found[2]:,.0f} pairs/s")
    some = range(len(gold), min(size, len(gold) + 20_000)) if train is not None else range(size)
    peer = fast_align(tmp_path, len(gold), some)
    if peer is not None:
        links = [set(map(tuple, pair)) for pair in peer["links"]]
        print(f"fast_align: {error_rate(links, gold):.2f} %, own joint links")
        seconds = peer["training"]
        print(f"fast_align training: {seconds:.1f} s cpu, {size / seconds:,.0f} pairs/s")
        print(f"fast_align align: {len(some) / peer['aligning']:,.0f} pairs/s")
    best = min(errors(*(link_rows(made, c) for c in ("forward", "reverse")), gold).values())
    assert best < LIMITS[name]
