"""News and help pages, English to French, as training and test sets of an ablation of attention.

usage: python -m tests.benchmarks.ablation.prepare_news DATA/ OUTPUT/

`DATA/` has `parallel/newstest.en-fr.*.gz`, `help/office.en-fr.jsonl.gz` and `align/enfr.*`. Writes
`train`, `test` and `dev` (news alone), and the sides of the Hansards with gold links as `words`.
"""

import gzip
import hashlib
import sys
from pathlib import Path

import orjson

from pairweave.transforms.markup.markup import find_syntax, strip_markup
from tests.benchmarks.ablation.line_files import write_lines
from tests.makers.hmm_corpora import SHUFFLED

SIDES = ("en", "fr")

CHARACTERS = range(15, 131)
"""Characters of each side."""

HELD_OUT = {"test": 400, "dev": 100}
"""Segments of these sets, chosen by a hash of their source."""


def news(folder):
    """Yield the pairs of the news, without those that are no translations."""
    sides = [
        gzip.decompress((folder / f"parallel/newstest.en-fr.{side}.gz").read_bytes())
        for side in SIDES
    ]
    lines = (side.decode().splitlines() for side in sides)
    for number, pair in enumerate(zip(*lines, strict=True)):
        if number not in SHUFFLED:
            yield pair


def pages(folder):
    """Yield the segments of the help pages, without tags."""
    syntax = find_syntax("xml")
    with gzip.open(folder / "help/office.en-fr.jsonl.gz", "rb") as file:
        for row in map(orjson.loads, file):
            yield tuple(strip_markup(row[side], syntax) for side in ("source", "target"))


def short(pairs):
    """Return the pairs whose sides have the right size, by their source, blanks made single."""
    texts = ([" ".join(side.split()) for side in pair] for pair in pairs)
    return {pair[0]: pair for pair in texts if all(len(side) in CHARACTERS for side in pair)}


def main(data, output):
    """Write the sets."""
    folder, output = Path(data), Path(output)
    output.mkdir(parents=True, exist_ok=True)
    of_news, of_pages = short(news(folder)), short(pages(folder))
    chosen = sorted(of_news, key=lambda text: hashlib.sha256(text.encode()).digest())
    for name, count in HELD_OUT.items():
        write_lines(output, name, SIDES, [of_news.pop(text) for text in chosen[:count]])
        of_pages = {text: pair for text, pair in of_pages.items() if text not in chosen[:count]}
        chosen = chosen[count:]
    write_lines(output, "train", SIDES, list({**of_pages, **of_news}.values()))
    gold = (folder / "align/enfr.src-tgt").read_text(encoding="utf-8").splitlines()
    write_lines(output, "words", SIDES, [line.split(" ||| ") for line in gold])


if __name__ == "__main__":
    main(*sys.argv[1:3])
