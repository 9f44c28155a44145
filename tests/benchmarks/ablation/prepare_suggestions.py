"""Golden suggestions, triples and parallel text as the data of an ablation of suggestions.

usage: python -m tests.benchmarks.ablation.prepare_suggestions DATA/ OUTPUT/

``DATA`` has the folders ``wets``, ``triples`` and ``parallel``. The test set is most of the dev set
of WeTS; the rest is for the learning curve. Lines with a long side are left out, and so are those
of the training data whose source is in the test set or the dev set.
"""

import hashlib
import sys
from pathlib import Path

from tests.benchmarks.ablation.line_files import read_lines, write_lines

LONGEST = 180
"""Characters of a side: small models learn little from longer segments in little time."""

SYSTEM = "mt.bergamot-tiny"
YEARS = (16, 17, 18)

CURVE_SOURCES = 100
"""Sources of the dev set of WeTS for the learning curve; the others are those of the test set."""


def read(path):
    """Return the lines of a file, with single blanks."""
    return [" ".join(line.split()) for line in read_lines(path)]


def short(rows, sides):
    """Return the rows whose first sides are not too long, without repetitions."""
    return list(dict.fromkeys(row for row in rows if max(map(len, row[:sides])) <= LONGEST))


def main(data, output):
    """Write ``test``, ``dev`` and ``golden`` (WeTS), ``triples``, and ``news`` (parallel)."""
    data, folder = Path(data), Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    wets = ("src", "mask", "tgt")
    dev, golden = (
        short(zip(*(read(data / f"wets/en2de.{one}{end}") for one in names), strict=True), 2)
        for names, end in (
            ([f"dev.{side}" for side in wets], ""),
            ([f"train.{side}" for side in wets], ".gz"),
        )
    )
    sources = sorted(
        {row[0] for row in dev}, key=lambda text: hashlib.sha256(text.encode()).digest()
    )
    of_curve = set(sources[:CURVE_SOURCES])
    held_out = set(sources)
    write_lines(folder, "test", wets, [row for row in dev if row[0] not in of_curve])
    write_lines(folder, "dev", wets, [row for row in dev if row[0] in of_curve])
    write_lines(folder, "golden", wets, [row for row in golden if row[0] not in held_out])
    triples = data / "triples" / "en-de"
    rows = [
        row
        for year in YEARS
        for row in zip(
            *(read(triples / f"wmt{year}.{side}.gz") for side in ("src", "ref", SYSTEM)),
            strict=True,
        )
    ]
    write_lines(
        folder,
        "triples",
        ("en", "de", "mt.de"),
        [row for row in short(rows, 3) if row[0] not in held_out],
    )
    news = data / "parallel"
    rows = zip(*(read(news / f"newstest.en-de.{side}.gz") for side in ("en", "de")), strict=True)
    write_lines(
        folder, "news", ("en", "de"), [row for row in short(rows, 2) if row[0] not in held_out]
    )


if __name__ == "__main__":
    main(*sys.argv[1:3])
