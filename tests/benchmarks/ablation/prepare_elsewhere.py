"""Test sets of other kinds of text for models of help pages: texts with tags, and news.

usage: python -m tests.benchmarks.ablation.prepare_elsewhere DATA/ OUTPUT/ [TARGET]

`DATA/` is the folder that has ``tagged/``, ``parallel/`` and ``xml/``; `TARGET` is ``de`` (the
default) or ``fr``. Pairs of at most `MOST` characters on each side, in order: a model of short
segments ends long ones too early. Without pairs whose tags open or close in another segment
(``<bx/>``, ``<ex/>``). For French also the online help of ``xml/``.
"""

import json
import re
import sys
from pathlib import Path

from tests.benchmarks.ablation.line_files import read_lines, write_lines

MOST = 160
COUNT = 400
SETS = {
    "eurlex": "tagged/eurlex-dev.{1}",
    "glossary": "tagged/glossary-dev.{1}",
    "news": "parallel/newstest.en-{0}.{1}.gz",
}
ONLINE_HELP = {"fr": "xml/enfr.{}.json"}


def read_texts(path):
    """Return the texts of a JSON file by the order of their ids, on one line each."""
    texts = json.loads(path.read_text(encoding="utf-8"))["text"]
    return [" ".join(texts[name].split()) for name in sorted(texts)]


def is_wanted(pair):
    """Return whether a pair is short enough and has its tags' other ends, too."""
    return 0 < max(map(len, pair)) <= MOST and not re.search("<(bx|ex|it)", " ".join(pair))


def main(data, output, target="de"):
    """Write the sets; return the exit status."""
    data, languages = Path(data), ("en", target)
    texts = {
        name: [read_lines(data / pattern.format(target, side)) for side in languages]
        for name, pattern in SETS.items()
    }
    if target in ONLINE_HELP:
        files = [data / ONLINE_HELP[target].format(side) for side in languages]
        texts["online_help"] = [read_texts(file) for file in files]
    for name, sides in texts.items():
        pairs = [pair for pair in zip(*sides, strict=True) if is_wanted(pair)]
        write_lines(Path(output), name, languages, pairs[:COUNT])
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
