"""Tables of tokens for the aligner's tests, and the error rate of its links."""

import gzip
import re

import pyarrow as pa

from pairweave.transforms import schemas
from tests.makers import rows

# As `words` cuts English and French, near enough: numbers whole, elided words on their own.
_ENGLISH = re.compile(r"\d+(?:[.,:]\d+)*|['\u2019](?:s|re|ve|ll|d|m)\b|[^\W_]+|\S", re.IGNORECASE)
_FRENCH = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+['\u2019](?=[^\W\d_]{2})|[^\W_]+|\S")


def spans(text, pattern=re.compile(r"\S+")):
    return [found.span() for found in pattern.finditer(text)]


def tokens_table(pairs):
    """Return a TOKENS table of (source, source spans, target, target spans)."""
    names = ("start", "end")
    return pa.Table.from_pylist(
        [
            rows.pair(
                row,
                source,
                target,
                source_tokens=[dict(zip(names, span, strict=True)) for span in source_spans],
                target_tokens=[dict(zip(names, span, strict=True)) for span in target_spans],
            )
            for row, (source, source_spans, target, target_spans) in enumerate(pairs)
        ],
        schema=schemas.TOKENS,
    )


def plain_table(pairs):
    """Return a TOKENS table of pairs that are split at blanks."""
    return tokens_table(
        [(source, spans(source), target, spans(target)) for source, target in pairs]
    )


def gold_pairs(shared_data, name):
    """Return the tokenised pairs of a gold set, and its sure and possible links (zero-based)."""
    text = (shared_data / "align" / f"{name}.src-tgt").read_text(encoding="utf-8")
    pairs = [tuple(map(str.strip, line.split("|||"))) for line in text.splitlines()]
    gold = []
    for line in (shared_data / "align" / f"{name}.gold").read_text(encoding="utf-8").splitlines():
        links = {
            (int(a) - 1, int(b) - 1): kind for a, kind, b in re.findall(r"(\d+)([-p])(\d+)", line)
        }
        gold.append(({link for link in links if links[link] == "-"}, set(links)))
    return pairs, gold


def english_french(shared_data):
    """Return the untokenised English-French training text as pairs with spans."""
    folder = shared_data / "parallel"
    pairs = []
    for english, french in (
        ("newstest.en-fr.en.gz", "newstest.en-fr.fr.gz"),
        ("multi30k.en.gz", "multi30k.fr.gz"),
    ):
        sides = []
        for name in (english, french):
            with gzip.open(folder / name, "rt", encoding="utf-8", newline="\n") as lines:
                sides.append(lines.read().split("\n")[:-1])
        pairs += [
            (one, spans(one, _ENGLISH), other, spans(other, _FRENCH))
            for one, other in zip(*sides, strict=True)
        ]
    return pairs


def error_rate(found, gold):
    """Return the alignment error rate in percent (Och and Ney 2003)."""
    links = sum(len(row) for row in found)
    sure = sum(len(row) for row, _ in gold)
    right = sum(
        len(row & possible) + len(row & certain)
        for row, (certain, possible) in zip(found, gold, strict=True)
    )
    return 100 * (1 - right / (links + sure))


def link_rows(table, column):
    return [[(link["source"], link["target"]) for link in row] for row in table[column].to_pylist()]
