"""Word aligners of other projects, on the same words and one core, for comparison with ours.

fast_align is measured by systran-align, its library form. Both run in the peers' environment
(`tests.benchmarks.peers`).
"""

import json

from tests.benchmarks.peers import run_peer


def words(table, side):
    """Return the lowercased words of each pair."""
    return lowercased(table[side].to_pylist(), table[f"{side}_tokens"].to_pylist())


def lowercased(texts, tokens):
    """Return the lowercased words of each text, of which the tokens are spans."""
    return [
        [text[span["start"] : span["end"]].lower() for span in spans]
        for text, spans in zip(texts, tokens, strict=True)
    ]


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
    result = run_peer("eflomal", EFLOMAL, directory)
    if result is None:
        return None
    links = [
        [[tuple(map(int, link.split("-"))) for link in line.split()] for line in lines]
        for lines in ((directory / name).read_text().splitlines() for name in "fr")
    ]
    return *links, result[1]


def fast_align(directory, gold, some):
    """Return systran-align's links of the first pairs and its CPU seconds, or None.

    Args:
        directory: Where `write_sides` wrote.
        gold: Pairs whose links are wanted.
        some: The range of pairs whose alignment is timed.
    """
    result = run_peer("fast_align", FAST_ALIGN, directory, gold, some.start, some.stop)
    return None if result is None else json.loads(result[0])
