"""Sentence pairs of the data for tests."""

import gzip


def real_pairs(data, corpus="newstest.en-de", languages=("en", "de"), count=200, skip=0):
    """Return some real sentence pairs."""
    sides = []
    for language in languages:
        with gzip.open(
            data / "parallel" / f"{corpus}.{language}.gz", "rt", encoding="utf-8"
        ) as file:
            lines = [line.rstrip("\n") for _, line in zip(range(skip + count), file, strict=False)]
            sides.append(lines[skip:])
    return list(zip(*sides, strict=True))
