"""Test sets of other kinds of text for models of help pages: legal text with tags, and news.

usage: python -m tests.benchmarks.ablation.prepare_elsewhere DATA/ OUTPUT/

Pairs of at most `MOST` characters on each side, in order: a model of short segments ends long ones
too early. Without pairs whose tags open or close in another segment (``<bx/>``, ``<ex/>``).
`DATA/` is the folder that has ``tagged/`` and ``parallel/``.
"""

import gzip
import re
import sys
from pathlib import Path

MOST = 160
COUNT = 400
SETS = {
    "eurlex": "tagged/eurlex-dev.{}",
    "glossary": "tagged/glossary-dev.{}",
    "news": "parallel/newstest.en-de.{}.gz",
}


def main(data, output):
    """Write the sets; return the exit status."""
    for name, pattern in SETS.items():
        sides = []
        for language in ("en", "de"):
            path = Path(data) / pattern.format(language)
            opened = gzip.open if path.suffix == ".gz" else open
            with opened(path, "rt", encoding="utf-8", newline="\n") as lines:
                sides.append(lines.read().split("\n")[:-1])
        pairs = [
            pair
            for pair in zip(*sides, strict=True)
            if 0 < max(map(len, pair)) <= MOST and not re.search("<(bx|ex|it)", " ".join(pair))
        ]
        for side, language in enumerate(("en", "de")):
            text = "".join(f"{pair[side]}\n" for pair in pairs[:COUNT])
            (Path(output) / f"{name}.{language}").write_text(text, encoding="utf-8")
        print(f"{name}: {len(pairs[:COUNT])} pairs")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
