"""Help pages of which a known half is damaged, as training sets of an ablation of selection.

usage: python -m tests.benchmarks.ablation.prepare_damaged HELP/ SOURCE TARGET

`HELP/` is what `prepare_help` wrote. A third of the training segments stays as it is (`known`): the
model that all units start from has learned from it. Of the others a half is damaged, each segment
in one of nine ways (`corpus`). `good` is the undamaged half, and `random` as many words of all.
"""

import hashlib
import sys
from pathlib import Path

from tests.benchmarks.ablation.line_files import write_lines
from tests.makers.damage import KINDS, damage

OTHER = ("machine", "wrong_language")
"""Ways that need a text in a third language or a machine translation, which help pages lack."""


def words(rows):
    """Return the number of words of the targets."""
    return sum(len(row[1].split()) for row in rows)


def by_hash(row):
    """Return the hash of a pair's source, by which pairs are chosen."""
    return hashlib.sha256(row[0].encode()).digest()


def main(folder, source, target):
    """Write the sets."""
    folder, languages = Path(folder), (source, target)
    sides = [
        (folder / f"train.txt.{language}").read_text(encoding="utf-8").splitlines()
        for language in languages
    ]
    rows = [(*pair, None, None) for pair in zip(*sides, strict=True)]
    known = [row for row in rows if by_hash(row)[0] % 3 == 0]
    others = [row for row in rows if by_hash(row)[0] % 3 != 0]
    corpus = damage(others, kinds=tuple(kind for kind in KINDS if kind not in OTHER))
    good = [row for row in corpus if row[2] == "good"]
    drawn, wanted = [], words(good)
    for row in sorted(corpus, key=by_hash):
        if words(drawn) >= wanted:
            break
        drawn.append(row)
    for name, made in (("known", known), ("corpus", corpus), ("good", good), ("random", drawn)):
        write_lines(folder, name, [f"txt.{language}" for language in languages], made)
        print(f"{name}: {words(made)} target words")


if __name__ == "__main__":
    main(*sys.argv[1:4])
