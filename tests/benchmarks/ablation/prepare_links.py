"""Links of eflomal for a corpus, numbered by the tokens of `words`, for `--aligner given`.

usage: python -m tests.benchmarks.ablation.prepare_links SOURCE TARGET FORWARD REVERSE
"""

import sys
import tempfile
from pathlib import Path

import pyarrow as pa

from pairweave.transforms.text.tokens import TokenConfig, tokenize
from tests.benchmarks.aligner_peers import eflomal, lowercased, write_sides


def words(texts):
    """Return the lowercased words of each text."""
    return lowercased(texts, tokenize(pa.array(texts), TokenConfig()).to_pylist())


def main(source, target, *outputs):
    """Write both directions' links of each line; return the exit status."""
    sides = [Path(name).read_text(encoding="utf-8").splitlines() for name in (source, target)]
    with tempfile.TemporaryDirectory() as directory:
        write_sides(Path(directory), *map(words, sides))
        result = eflomal(Path(directory))
    if result is None:
        return 1
    for output, pairs in zip(outputs, result[:2], strict=True):
        lines = (" ".join(f"{i}-{j}" for i, j in links) for links in pairs)
        Path(output).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
