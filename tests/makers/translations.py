"""Real and made translations beside their references."""

import gzip

import pyarrow as pa

from pairweave.transforms import schemas
from tests.makers import rows
from tests.makers.corpora import ADVERBS, sentence

SYSTEMS = ("google", "microsoft", "bergamot-tiny")
YEARS = ("wmt16", "wmt17", "wmt18")


def read_lines(path):
    """Return the lines of a compressed file."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return lines.read().split("\n")[:-1]


def real_triples(data, years=YEARS, systems=SYSTEMS):
    """Return (source, reference, translation) of real systems."""
    folder = data / "triples" / "en-de"
    return [
        triple
        for year in years
        for system in systems
        for triple in zip(
            *(read_lines(folder / f"{year}.{name}.gz") for name in ("src", "ref", f"mt.{system}")),
            strict=True,
        )
    ]


def made_triple(number):
    """Return one source, its reference, and a translation with two faults."""
    source, reference = sentence(number)
    adverb = next(word for word in reference.split() if word in ADVERBS.values())
    others = [word for word in ADVERBS.values() if word != adverb]
    return source, reference, reference.replace(adverb, others[number % 3]).replace(" das ", " ")


def pairs_table(triples):
    """Return a PAIRS table; a translation may be None."""
    return pa.Table.from_pylist(
        [
            rows.pair(row, source, reference, translation=translation)
            for row, (source, reference, translation) in enumerate(triples)
        ],
        schema=schemas.PAIRS,
    )
